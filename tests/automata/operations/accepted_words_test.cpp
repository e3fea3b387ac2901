#include "krohn/automata/language.h"
#include "krohn/automata/operations/accepted_words.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

std::vector<Word> accepted_short_words(const Dfa& dfa, std::size_t max_length) {
  std::vector<Word> result;
  for (const Word& word : short_words(dfa.letters(), max_length))
    if (dfa.accepts(dfa.run(word))) result.push_back(word);
  return result;
}

/// No two b's in a row: Fibonacci numbers count them.
Dfa no_bb() { return Dfa::acceptor(first_letters(2), {0, 1, 0, 2, 2, 2}, 0, {true, true, false}); }

/// a* b* c* … over `letters` letters: C(n + letters − 1, letters − 1) words of length n.
Dfa sorted_words(Letter letters) {
  std::vector<State> table;
  for (State state = 0; state <= letters; ++state)
    for (Letter letter = 0; letter < letters; ++letter)
      table.push_back(state == letters || letter < state ? letters : letter);
  std::vector<bool> accepting(letters + 1, true);
  accepting[letters] = false;
  return Dfa::acceptor(first_letters(letters), std::move(table), 0, accepting);
}

/// Exactly the words of `length` letters.
Dfa all_of_length(Letter letters, State length) {
  std::vector<State> table;
  for (State state = 0; state <= length + 1; ++state)
    table.insert(table.end(), letters, std::min(state + 1, length + 1));
  std::vector<bool> accepting(length + 2, false);
  accepting[length] = true;
  return Dfa::acceptor(first_letters(letters), std::move(table), 0, accepting);
}

/// Pearson's statistic for `draws` draws over equally likely words.
template <class Draw>
double chi_square(const std::vector<Word>& words, int draws, Draw draw) {
  std::map<Word, int> seen;
  for (const Word& word : words) seen[word] = 0;
  for (int i = 0; i < draws; ++i) {
    const Word word = draw();
    REQUIRE(seen.count(word) == 1);
    ++seen[word];
  }
  const double expected = static_cast<double>(draws) / static_cast<double>(words.size());
  double statistic = 0;
  for (const auto& [word, times] : seen) statistic += (times - expected) * (times - expected) / expected;
  return statistic;
}

}  // namespace

TEST_CASE("counts agree with the words") {
  Dice dice(1);
  for (int round = 0; round < 200; ++round) {
    const Dfa dfa = random_acceptor(dice, 1 + dice.below(8), 1 + dice.below(3), 1 + dice.below(3));
    std::vector<Count> expected(7);
    for (const Word& word : accepted_short_words(dfa, 6)) ++expected[word.size()];
    CAPTURE(round);
    REQUIRE(count_words_by_length(dfa, 6) == expected);
  }
}

TEST_CASE("counts beyond 64 bits are exact") {
  Count previous = 1, fibonacci = 1;  // words without bb of lengths −1 and 0
  for (int length = 1; length <= 1000; ++length) {
    const Count next = previous + fibonacci;
    previous = fibonacci;
    fibonacci = next;
  }
  CHECK(count_words_by_length(no_bb(), 1000).back() == fibonacci);
  CHECK(count_words_by_length(Dfa::acceptor(first_letters(26), std::vector<State>(26, 0), 0, {true}), 300).back() ==
        pow(Count(26), 300));
}

TEST_CASE("counting degenerate automata") {
  CHECK(count_words_by_length(Dfa::acceptor(Alphabet(), {}, 0, {true}), 3) == std::vector<Count>{1, 0, 0, 0});
  CHECK(count_words_by_length(Dfa::acceptor(Alphabet(), {}, 0, {false}), 0) == std::vector<Count>{0});
  Dice dice(2);
  CHECK_THROWS_AS(count_words_by_length(random_moore(dice, 3, 2, 3), 2), InputError);
}

TEST_CASE("enumeration gives every accepted word once, shortest first") {
  Dice dice(3);
  for (int round = 0; round < 300; ++round) {
    const Dfa dfa = random_acceptor(dice, 1 + dice.below(8), 1 + dice.below(2), 1 + dice.below(4));
    const std::vector<Word> expected = accepted_short_words(dfa, 9);
    const std::vector<Word> words = first_accepted_words(dfa, expected.size());
    CAPTURE(round);
    REQUIRE(words == expected);
    if (is_finite(dfa)) REQUIRE(first_accepted_words(dfa, expected.size() + 1) == expected);
  }
}

TEST_CASE("enumeration of a finite language ends, of a sparse one goes on") {
  CHECK(first_accepted_words(all_of_length(2, 10), 5000).size() == 1024);
  CHECK(first_accepted_words(Dfa::acceptor(Alphabet(), {}, 0, {true}), 10) == std::vector<Word>{{}});
  CHECK(first_accepted_words(Dfa::acceptor(first_letters(2), {0, 0}, 0, {false}), 10).empty());
  std::vector<State> table;
  std::vector<bool> accepting(50, false);
  for (State state = 0; state < 50; ++state) table.push_back((state + 1) % 50);
  accepting[49] = true;
  const auto words = first_accepted_words(Dfa::acceptor(first_letters(1), table, 0, accepting), 4);
  REQUIRE(words.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(words[i].size() == 49 + 50 * i);
}

TEST_CASE("drawn words are accepted, of the length asked for, and equally likely") {
  std::mt19937_64 random(4);
  Dice dice(4);
  int tested = 0;
  for (int round = 0; round < 60; ++round) {
    const Dfa dfa = random_acceptor(dice, 1 + dice.below(6), 2, 1 + dice.below(2));
    std::vector<Word> words;
    for (const Word& word : accepted_short_words(dfa, 6))
      if (word.size() == 6) words.push_back(word);
    CAPTURE(round);
    if (words.empty()) {
      CHECK_THROWS_AS(ExactUniformWords(dfa, 6), InputError);
      CHECK_THROWS_AS(ScaledUniformWords(dfa, 6), InputError);
      continue;
    }
    ++tested;
    const ExactUniformWords exact(dfa, 6);
    const ScaledUniformWords scaled(dfa, 6);
    REQUIRE(exact.words() == words.size());
    // Mean ν, standard deviation √(2ν): six of them are never reached by chance.
    const double freedom = static_cast<double>(words.size()) - 1, bound = freedom + 6 * std::sqrt(2 * freedom) + 1e-9;
    const int draws = static_cast<int>(20 * words.size());
    CHECK(chi_square(words, draws, [&] { return exact.draw(random); }) <= bound);
    CHECK(chi_square(words, draws, [&] { return scaled.draw(random); }) <= bound);
  }
  CHECK(tested > 30);
}

TEST_CASE("long words: both samplers agree on the statistics of words without bb") {
  std::mt19937_64 random(5);
  const std::uint64_t length = 20'000;
  // The fraction of b's tends to 1 / (φ² + 1) = 0.27639…, with a deviation of about 0.3 / √length.
  for (const Word& word :
       {ExactUniformWords(no_bb(), length).draw(random), ScaledUniformWords(no_bb(), length).draw(random),
        ScaledUniformWords(no_bb(), 300'000).draw(random)}) {
    CHECK(no_bb().accepts(no_bb().run(word)));
    const auto bs = static_cast<double>(std::count(word.begin(), word.end(), Letter{1}));
    CHECK(bs / static_cast<double>(word.size()) == doctest::Approx(0.276393).epsilon(0.05));
  }
}

TEST_CASE("scaled weights neither overflow nor vanish") {
  std::mt19937_64 random(6);
  // 3000 forced letters before all of {a, b}*: the weights of the first states are 2^−3000 of the largest.
  const State forced = 3000;
  std::vector<State> table;
  for (State state = 0; state < forced; ++state) {
    table.push_back(state + 1);
    table.push_back(forced + 1);
  }
  table.insert(table.end(), {forced, forced, forced + 1, forced + 1});
  std::vector<bool> accepting(forced + 2, true);
  accepting[forced + 1] = false;
  const Dfa dfa = Dfa::acceptor(first_letters(2), std::move(table), 0, accepting);
  const Word word = ScaledUniformWords(dfa, 3500).draw(random);
  REQUIRE(word.size() == 3500);
  CHECK(dfa.accepts(dfa.run(word)));
  const auto bs = std::count(word.begin(), word.end(), Letter{1});
  CHECK(bs > 150);
  CHECK(bs < 350);
  // a* b* has n + 1 words: the switch from a to b must not be lost among weights that all grow.
  double mean = 0;
  for (int i = 0; i < 200; ++i) {
    const Word sorted = ScaledUniformWords(sorted_words(2), 999).draw(random);
    mean += static_cast<double>(std::count(sorted.begin(), sorted.end(), Letter{0})) / 200;
  }
  CHECK(mean == doctest::Approx(499.5).epsilon(0.15));
}

TEST_CASE("a table of exact counts that is too large is refused, and so is a machine with several outputs") {
  CHECK_THROWS_AS(ExactUniformWords(no_bb(), 10'000, 1'000'000), LimitError);
  Dice dice(7);
  const Dfa machine = random_moore(dice, 3, 2, 3);
  CHECK_THROWS_AS(ExactUniformWords(machine, 3), InputError);
  CHECK_THROWS_AS(AcceptedWords{machine}, InputError);
}

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
