#include "krohn/automata/dfa/visible_text.h"

#include <doctest/doctest.h>

#include <string>

#include "krohn/automata/dfa/utf8.h"

using namespace krohn;

TEST_CASE("what acts on a terminal is written out, what is seen stays") {
  struct Fact {
    const char *text, *shown;
  };
  for (const auto& [text, shown] : {
           Fact{"", ""},
           {"plain \"text\" \\ é ∀ 漢 🙂", "plain \"text\" \\ é ∀ 漢 🙂"},
           {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
           {"\x1b[2K\rproved\x1b[8m", "\\x{1B}[2K\\rproved\\x{1B}[8m"},
           {"\x7f", "\\x{7F}"},
           {"\xc2\x9b"
            "2K",
            "\\x{9B}2K"},                                         // CSI in one character
           {"\xe2\x80\xaegpj", "\\x{202E}gpj"},                   // right-to-left override
           {"\xe2\x81\xa6x\xe2\x81\xa9", "\\x{2066}x\\x{2069}"},  // isolates
           {"\xe2\x80\xa8\xe2\x80\xa9", "\\x{2028}\\x{2029}"},    // line and paragraph separators
           {"\xef\xbb\xbfx\xe2\x80\x8d", "\\x{FEFF}x\\x{200D}"},
           {"\xff\xfe", "\\xFF\\xFE"},
           {"\xc3", "\\xC3"},                    // cut in the middle
           {"\xe2\x82x", "\\xE2\\x82x"},         // cut, and then a character
           {"\xc0\xaf", "\\xC0\\xAF"},           // overlong
           {"\xed\xa0\x80", "\\xED\\xA0\\x80"},  // a surrogate
       }) {
    CAPTURE(shown);
    CHECK(visible(text) == shown);
    CHECK(visible(shown) == shown);
  }
  CHECK(visible(std::string("a\0b", 3)) == "a\\x{00}b");
  CHECK(visible_lines("a\n\x1b\rb\n") == "a\n\\x{1B}\\rb\n");
}

TEST_CASE("whatever the bytes, nothing unseen is left") {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string text{static_cast<char>(first), static_cast<char>(second), 'x'};
      const std::string shown = visible(text);
      for (const char32_t c : decode_utf8(shown)) REQUIRE_FALSE(is_unseen(c));  // and it is UTF-8
      REQUIRE(shown.ends_with("x"));
    }
}

TEST_CASE("names in messages are short, and cut between characters") {
  CHECK(in_quotes("a\nb") == "\"a\\nb\"");
  CHECK(in_quotes(std::string(60, 'x')) == '"' + std::string(60, 'x') + '"');
  CHECK(in_quotes(std::string(61, 'x')) == '"' + std::string(60, 'x') + "…\"");
  CHECK(in_quotes(std::string(6'400'000, 'x')).size() < 80);
  for (std::size_t most = 0; most < 9; ++most) {
    CAPTURE(most);
    const std::string cut = cut_short("é∀🙂z", most);  // 2, 3, 4 and 1 bytes
    const std::size_t whole = most < 2 ? 0 : most < 5 ? 2 : most < 9 ? 5 : 9;
    CHECK(cut == std::string("é∀🙂z").substr(0, whole) + "…");
  }
  CHECK(cut_short("é", 2) == "é");
  CHECK(cut_short(std::string(9, '\x80'), 6).size() <= 6 + 3);  // not UTF-8: cut somewhere
}
