#include "krohn/automata/language.h"
#include "krohn/automata/words/accepted_words.h"
#include "krohn/automata/words/count.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

/// The letters of every alphabet here stand for 1, 2 and 3 of these characters, one of which cannot be printed.
Alphabet classes() {
  return Alphabet::from_symbols(
      {{"a", {{U'a', U'a'}}}, {"[bc]", {{U'b', U'c'}}}, {"[\\nxy]", {{U'\n', U'\n'}, {U'x', U'y'}}}});
}

/// All texts of up to `max_length` of the six characters, by length; each is accepted or not through `find`.
std::vector<std::string> accepted_texts(const Dfa& dfa, std::size_t max_length) {
  const std::string characters = "abcxy\n";
  std::vector<std::string> all{""}, accepted;
  for (std::size_t from = 0, length = 0; length < max_length; ++length)
    for (const std::size_t end = all.size(); from < end; ++from)
      for (const char c : characters) all.push_back(all[from] + c);
  for (const std::string& text : all) {
    State state = dfa.initial();
    for (const char c : text) state = dfa.next(state, *dfa.alphabet().find(static_cast<char32_t>(c)));
    if (dfa.accepts(state)) accepted.push_back(text);
  }
  return accepted;
}

}  // namespace

TEST_CASE("classes are listed and counted as all texts that they stand for") {
  Dice dice(1);
  for (int round = 0; round < 100; ++round) {
    const State states = static_cast<State>(1 + dice.below(4));
    std::vector<State> table;
    std::vector<bool> accepting;
    for (State i = 0; i < states; ++i) {
      for (int letter = 0; letter < 3; ++letter) table.push_back(static_cast<State>(dice.below(states)));
      accepting.push_back(dice.below(2) == 0);
    }
    const Dfa dfa = Dfa::acceptor(classes(), table, 0, accepting);
    std::vector<std::string> expected = accepted_texts(dfa, 4);
    std::vector<Count> counts(5);
    for (const std::string& text : expected) ++counts[text.size()];
    CAPTURE(round);
    REQUIRE(count_words_by_length(dfa, 4) == counts);
    std::vector<std::string> listed = first_accepted_texts(dfa, expected.size());
    REQUIRE(std::ranges::is_sorted(listed, {}, &std::string::size));
    std::ranges::sort(listed);
    std::ranges::sort(expected);
    REQUIRE(listed == expected);
  }
}

TEST_CASE("printable characters come first, and a word without classes has one text") {
  Spellings texts(classes(), {0, 2, 1});
  std::vector<std::string> all;
  while (const auto text = texts.next()) all.push_back(*text);
  CHECK(all == std::vector<std::string>{"axb", "axc", "ayb", "ayc", "a\nb", "a\nc"});
  Spellings empty(classes(), {});
  CHECK(empty.next() == "");
  CHECK_FALSE(empty.next());
  CHECK(first_accepted_texts(load_language("search:a"), 3) == std::vector<std::string>{"a", " a", "!a"});
}

TEST_CASE("tokens stay what they are, and what would be split is quoted") {
  const Alphabet mixed = Alphabet::from_symbols({{"SYN", {}}, {"[ ,]", {{U' ', U' '}, {U',', U','}}}});
  Spellings texts(mixed, {0, 1});
  for (const char* expected : {"SYN \" \"", "SYN \",\""}) {
    const auto text = texts.next();
    REQUIRE(text == expected);
    CHECK(mixed.parse_word(*text) == Word{0, 1});
  }
  CHECK_FALSE(texts.next());
}

TEST_CASE("random texts are uniform, by exact and by scaled counts") {
  // One of "abc", then "a" or one of "xy" and a line feed: 12 texts of 2 characters, of 4 words.
  const Dfa dfa = Dfa::acceptor(classes(), {1, 1, 2, 3, 2, 3, 2, 2, 2, 2, 2, 2}, 0, {false, false, false, true});
  const std::vector<std::string> texts = accepted_texts(dfa, 2);
  const auto check = [&](const auto& words) {
    constexpr int kDraws = 20'000;
    std::mt19937_64 random(7);
    std::map<std::string, int> seen;
    for (int i = 0; i < kDraws; ++i) ++seen[random_spelling(dfa.alphabet(), words.draw(random), random)];
    REQUIRE(seen.size() == texts.size());
    const double expected = static_cast<double>(kDraws) / static_cast<double>(texts.size());
    double statistic = 0;
    for (const auto& [text, times] : seen) statistic += (times - expected) * (times - expected) / expected;
    CHECK(statistic < 40);  // 11 degrees of freedom: once in 30,000
  };
  REQUIRE(texts.size() == 12);
  const ExactUniformWords exact(dfa, 2);
  CHECK(exact.words() == 12);
  check(exact);
  check(ScaledUniformWords(dfa, 2));
}
