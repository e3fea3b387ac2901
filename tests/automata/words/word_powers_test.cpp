#include "krohn/automata/words/word_powers.h"

#include <doctest/doctest.h>

#include <array>
#include <string_view>

using namespace krohn;

namespace {

constexpr std::array<std::array<std::string_view, 2>, 4> kBrackets = {{{"(", ")"}, {"[", "]"}, {"{", "}"}, {"⟨", "⟩"}}};

/// Brackets protect white space inside names where every name has balanced ones.
bool brackets_protect(const Alphabet& alphabet) {
  for (Letter letter = 0; letter < alphabet.size(); ++letter) {
    int depth = 0;
    for (const char c : alphabet.name(letter)) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth < 0) return false;
    }
    if (depth != 0) return false;
  }
  return !alphabet.is_characterwise();
}

/// Where a name or a run of characters that starts at `begin` ends: at white space or "^" outside of the quotes that it
/// begins with and of its brackets.
std::size_t end_of_letters(const Alphabet& alphabet, std::string_view text, std::size_t begin) {
  const bool protects = brackets_protect(alphabet);
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\')
      ++at;
    else if (c == '"' && !alphabet.is_characterwise() && (quoted || at == begin))
      quoted = !quoted;
    else if (!quoted && protects)
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (!quoted && depth == 0 && (c == ' ' || c == '^')) return at;
  }
  return text.size();
}

/// Reads what `word_in_powers` prints, by the rules that its header states.
Word read_powers(const Alphabet& alphabet, std::string_view text) {
  std::string names;
  for (Letter letter = 0; letter < alphabet.size(); ++letter) names += alphabet.format_word(std::array{letter});
  const auto* pair = kBrackets.begin();
  while (pair != kBrackets.end() &&
         (names.find((*pair)[0]) != std::string::npos || names.find((*pair)[1]) != std::string::npos))
    ++pair;
  if (pair == kBrackets.end()) return alphabet.parse_word(text);
  Word word;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    Word block;
    if (text.substr(at).starts_with((*pair)[0])) {
      const std::size_t close = text.find((*pair)[1], at);
      REQUIRE(close != std::string_view::npos);
      block = alphabet.parse_word(text.substr(at + (*pair)[0].size(), close - at - (*pair)[0].size()));
      at = close + (*pair)[1].size();
    } else {
      const std::size_t end = end_of_letters(alphabet, text, at);
      REQUIRE(end > at);
      block = alphabet.parse_word(text.substr(at, end - at));
      at = end;
    }
    std::size_t count = 1;
    if (at < text.size() && text[at] == '^') {
      for (count = 0, ++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        count = 10 * count + static_cast<std::size_t>(text[at] - '0');
      CHECK(count > 1);
    }
    for (std::size_t i = 0; i < count; ++i) word.insert(word.end(), block.begin(), block.end());
  }
  return word;
}

/// Every word of up to `longest` letters.
template <class Body>
void for_each_word(Letter letters, std::size_t longest, Body&& body) {
  Word word;
  body(word);
  for (;;) {
    std::size_t i = 0;
    while (i < word.size() && word[i] + 1 == letters) word[i++] = 0;
    if (i < word.size())
      ++word[i];
    else if (word.size() == longest)
      return;
    else
      word.assign(word.size() + 1, 0);
    body(word);
  }
}

Word power(const Word& block, std::size_t count) {
  Word word;
  for (std::size_t i = 0; i < count; ++i) word.insert(word.end(), block.begin(), block.end());
  return word;
}

}  // namespace

TEST_CASE("what is printed in powers reads back as the word: every short word of every kind of alphabet") {
  struct Fact {
    Alphabet alphabet;
    std::size_t longest;
  };
  const std::vector<Fact> facts = {{Alphabet::of_characters("ab"), 13},
                                   {Alphabet::of_characters("123"), 8},
                                   {Alphabet::of_characters("()"), 10},
                                   {Alphabet::of_characters("([)"), 7},
                                   {Alphabet::of_characters("([{⟨"), 5},
                                   {Alphabet::of_characters("a^"), 10},
                                   {Alphabet::of_characters("a "), 10},
                                   {Alphabet::of_characters("0^ ("), 6},
                                   {Alphabet::from_names(std::array<std::string, 2>{"(1 2)", "(2 3)"}), 9},
                                   {Alphabet::from_names(std::array<std::string, 2>{"a", "a^2"}), 9},
                                   {Alphabet::from_names(std::array<std::string, 3>{"SYN ACK", "FIN", "^2"}), 7},
                                   {Alphabet::from_names(std::array<std::string, 3>{"x\"y", "(", "z,"}), 6}};
  for (const Fact& fact : facts) {
    CAPTURE(to_string(fact.alphabet));
    for_each_word(fact.alphabet.size(), fact.longest, [&](const Word& word) {
      const std::string text = word_in_powers(fact.alphabet, word);
      if (read_powers(fact.alphabet, text) != word) {
        CAPTURE(text);
        FAIL("reads back as another word");
      }
    });
  }
}

TEST_CASE("long repetitions become powers") {
  const Alphabet ab = Alphabet::of_characters("ab");
  const Alphabet s3 = Alphabet::from_names(std::array<std::string, 3>{"(1 2)", "(2 3)", "(1 3)"});
  const Alphabet dyck = Alphabet::of_characters("()");
  CHECK(word_in_powers(ab, Word{}) == "");
  CHECK(word_in_powers(ab, ab.parse_word("abba")) == "abba");
  CHECK(word_in_powers(ab, power({1}, 382)) == "b^382");
  CHECK(word_in_powers(s3, power({0}, 20)) == "(1 2)^20");
  CHECK(word_in_powers(s3, power({0, 2}, 40)) == "[(1 2) (1 3)]^40");
  CHECK(word_in_powers(dyck, power({0, 1}, 40)) == "[()]^40");
  Word mixed = s3.parse_word("(1 3) (1 2) (2 3)");
  for (const Letter letter : power({0}, 20)) mixed.push_back(letter);
  mixed.push_back(2);
  CHECK(word_in_powers(s3, mixed) == "(1 3) (1 2) (2 3) (1 2)^20 (1 3)");
  // The longest period that is looked for, and one past it.
  Word block;
  std::uint32_t bits = 1;
  for (int i = 0; i < 257; ++i) block.push_back((bits = bits * 1664525u + 1013904223u) >> 31);
  const Word within(block.begin(), block.end() - 1);
  CHECK(word_in_powers(ab, power(within, 3)) == "(" + ab.format_word(within) + ")^3");
  CHECK(word_in_powers(ab, power(block, 3)).find(")^3") == std::string::npos);
  CHECK(read_powers(ab, word_in_powers(ab, power(block, 3))) == power(block, 3));
}

TEST_CASE("a word that does not fit is cut after whole letters and powers") {
  const Alphabet ab = Alphabet::of_characters("ab");
  Word word = ab.parse_word("abba");
  for (const Letter letter : power({0, 1, 1}, 30)) word.push_back(letter);
  for (const Letter letter : ab.parse_word("bba")) word.push_back(letter);
  const std::string whole = "abba (abb)^30 bba";
  CHECK(word_in_powers(ab, word) == whole);
  struct Fact {
    std::size_t most;
    const char* text;
  };
  for (const auto& [most, text] :
       {Fact{17, "abba (abb)^30 bba"}, Fact{16, "abba (abb)^30 bb …"}, Fact{15, "abba (abb)^30 b …"},
        Fact{14, "abba (abb)^30 …"}, Fact{13, "abba (abb)^30 …"}, Fact{12, "abba …"}, Fact{4, "abba …"},
        Fact{3, "abb …"}, Fact{0, "…"}}) {
    CAPTURE(most);
    CHECK(word_in_powers(ab, word, most) == text);
  }
}
