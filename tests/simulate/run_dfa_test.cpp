#include "simulate/run_dfa.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "groups/error.h"

using namespace krohn;

namespace {

Alphabet numbered_letters(Letter letters) {
  std::vector<std::string> names;
  for (Letter letter = 0; letter < letters; ++letter) names.push_back("letter" + std::to_string(letter));
  return Alphabet::from_names(names);
}

Dfa random_dfa(unsigned seed, State states, Letter letters) {
  std::mt19937 random(seed);
  std::vector<State> table(std::size_t{states} * letters);
  for (State& entry : table) entry = static_cast<State>(random() % states);
  return Dfa::acceptor(numbered_letters(letters), std::move(table), static_cast<State>(random() % states),
                       std::vector<bool>(states, true));
}

/// Letters permute the states, so that no two ways ever merge and every letter counts.
Dfa random_permutations(unsigned seed, State states, Letter letters) {
  std::mt19937 random(seed);
  std::vector<State> table(std::size_t{states} * letters), images(states);
  for (Letter letter = 0; letter < letters; ++letter) {
    for (State state = 0; state < states; ++state) images[state] = state;
    std::shuffle(images.begin(), images.end(), random);
    for (State state = 0; state < states; ++state) table[std::size_t{state} * letters + letter] = images[state];
  }
  return Dfa::acceptor(numbered_letters(letters), std::move(table), 0, std::vector<bool>(states, true));
}

struct Shape {
  State states;
  Letter letters;
};
// Every number of letters to a byte, both widths of state maps, letters that do and do not fill the generator's blocks.
const Shape kShapes[] = {{1, 1},  {5, 2},   {16, 2}, {17, 2}, {64, 3},  {65, 3},  {120, 2}, {7, 4},   {9, 5},   {60, 6},
                         {12, 7}, {60, 15}, {6, 16}, {6, 17}, {24, 60}, {3, 256}, {5, 257}, {5, 400}, {3000, 2}};

std::vector<RunnerOptions> all_options() {
  std::vector<RunnerOptions> result;
  for (const unsigned threads : {1u, 3u, 20u})
    for (const std::uint64_t entries : {std::uint64_t{0}, std::uint64_t{2500}, std::uint64_t{1} << 18})
      for (const bool split : {false, true}) result.push_back({threads, entries, UINT64_MAX, split});
  return result;
}

}  // namespace

TEST_CASE("packed words give their letters back, however they were made") {
  for (const Letter letters : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 15u, 16u, 17u, 60u, 255u, 256u})
    for (const std::uint64_t length : {0u, 1u, 7u, 8u, 9u, 63u, 64u, 1000u, 3001u}) {
      const RandomWord random(letters, 7);
      const Word word = random.slice(0, length);
      const PackedWord packed(letters, word), made(random, length);
      CAPTURE(letters);
      CAPTURE(length);
      REQUIRE(packed.size() == length);
      REQUIRE(std::vector<std::uint8_t>(packed.bytes().begin(), packed.bytes().end()) ==
              std::vector<std::uint8_t>(made.bytes().begin(), made.bytes().end()));
      for (std::uint64_t i = 0; i < length; ++i) REQUIRE(packed.at(i) == word[i]);
      for (std::uint64_t first = 0; first <= length; first += 1 + length / 5) {
        Word part(length - first);
        packed.copy(first, part);
        REQUIRE(std::equal(part.begin(), part.end(), word.begin() + static_cast<long>(first)));
      }
    }
}

TEST_CASE("packing refuses what does not fit") {
  CHECK_THROWS_AS(PackedWord(257, Word{0}), InputError);
  CHECK_THROWS_AS(PackedWord(3, Word{0, 3}), InputError);
  CHECK_THROWS_AS(PackedWord(RandomWord(300, 1), 10), InputError);
  CHECK(letters_per_byte(2) == 8);
  CHECK(letters_per_byte(3) == 5);
  CHECK(letters_per_byte(16) == 2);
  CHECK(letters_per_byte(17) == 1);
  CHECK(letters_per_byte(256) == 1);
  CHECK(letters_per_byte(257) == 0);
}

TEST_CASE("stride tables read whole words at once") {
  for (const Shape shape : kShapes) {
    if (shape.letters > 20) continue;
    const Dfa dfa = random_dfa(3, shape.states, shape.letters);
    for (std::uint32_t stride = 1; stride <= 3; ++stride) {
      const StrideTable table(dfa, stride);
      const std::uint64_t words = StrideTable::entries(1, shape.letters, stride);
      for (std::uint64_t number = 0; number < words; ++number) {
        Word word(stride);
        std::uint64_t rest = number;
        for (std::size_t i = stride; i-- > 0; rest /= shape.letters)
          word[i] = static_cast<Letter>(rest % shape.letters);
        const State state = static_cast<State>(number % shape.states);
        const auto symbol = static_cast<std::uint32_t>(number);
        REQUIRE(table.state(table.run(std::span<const std::uint32_t>(&symbol, 1), table.row(state))) ==
                dfa.run(word, state));
      }
    }
  }
}

TEST_CASE("state maps: the processor's shuffle composes as the loop does, and both as the automaton") {
  for (const Shape shape : kShapes) {
    if (!StateMapTable::fits(shape.states, shape.letters)) continue;
    for (const Dfa& dfa :
         {random_dfa(4, shape.states, shape.letters), random_permutations(4, shape.states, shape.letters)}) {
      const StateMapTable table(dfa);
      for (const std::size_t bytes : {0u, 1u, 2u, 3u, 100u}) {
        StateMapTable::Maps fast, slow;
        fast.fill(table.identity());
        slow = fast;
        std::vector<Word> words;
        std::vector<PackedWord> packed;
        StateMapTable::Parts parts;
        for (std::size_t part = 0; part < StateMapTable::kParts; ++part) {
          words.push_back(RandomWord(shape.letters, part).slice(0, bytes * letters_per_byte(shape.letters)));
          packed.emplace_back(shape.letters, words.back());
          parts[part] = packed.back().bytes().data();
        }
        table.compose(parts, bytes, fast);
        table.compose_portably(parts, bytes, slow);
        CAPTURE(shape.states);
        CAPTURE(shape.letters);
        for (std::size_t part = 0; part < StateMapTable::kParts; ++part)
          for (State state = 0; state < shape.states; ++state) {
            REQUIRE(slow[part][state] == dfa.run(words[part], state));
            REQUIRE(fast[part][state] == slow[part][state]);
          }
      }
    }
  }
}

TEST_CASE("many words, stored, packed or random, end where the plain loop ends") {
  const std::uint64_t lengths[] = {0, 1, 7, 8, 9, 100, 1000, 2047, 2048, 2049, 5000, 16383, 16385, 20000};
  for (const Shape shape : kShapes) {
    const Dfa dfa = random_permutations(5, shape.states, shape.letters);
    std::vector<Word> words;
    std::vector<PackedWord> packed;
    std::vector<State> expected;
    for (std::uint64_t i = 0; i < 21; ++i) {
      words.push_back(RandomWord(shape.letters, 9, i).slice(0, lengths[i % std::size(lengths)]));
      expected.push_back(dfa.run(words.back()));
      if (shape.letters <= 256) packed.emplace_back(shape.letters, words.back());
    }
    for (const RunnerOptions& options : all_options()) {
      const Runner runner(dfa, options);
      CAPTURE(shape.states);
      CAPTURE(shape.letters);
      CAPTURE(runner.description());
      REQUIRE(runner.run_words(std::span<const Word>(words)) == expected);
      if (!packed.empty()) REQUIRE(runner.run_words(std::span<const PackedWord>(packed)) == expected);
      const std::vector<State> ends = runner.run_random_words(9, 3, 17, 3000);
      for (std::uint64_t i = 0; i < 17; ++i)
        if (options.threads <= 3) REQUIRE(ends[i] == dfa.run(RandomWord(shape.letters, 9, 3 + i).slice(0, 3000)));
    }
  }
}

TEST_CASE("one long word ends where the plain loop ends, split or not") {
  for (const Shape shape :
       {Shape{5, 2}, Shape{16, 3}, Shape{60, 2}, Shape{60, 5}, Shape{100, 2}, Shape{6, 256}, Shape{6, 300}}) {
    const Dfa dfa = random_permutations(6, shape.states, shape.letters);
    const RandomWord random(shape.letters, 11);
    const Word word = random.slice(0, 1'200'007);
    for (const RunnerOptions& options : all_options()) {
      const Runner runner(dfa, options);
      CAPTURE(shape.states);
      CAPTURE(shape.letters);
      CAPTURE(runner.description());
      const State from = shape.states / 2;
      REQUIRE(runner.run(std::span<const Letter>(word), from) == dfa.run(word, from));
      if (shape.letters <= 256) REQUIRE(runner.run(PackedWord(shape.letters, word), from) == dfa.run(word, from));
      for (const std::uint64_t first : {0u, 13u})
        REQUIRE(runner.run(random, first, word.size() - first, from) ==
                dfa.run(std::span<const Letter>(word).subspan(first), from));
    }
  }
}

TEST_CASE("degenerate runs") {
  const Dfa silent = Dfa::acceptor(Alphabet(), {}, 0, {true});
  const Runner runner(silent);
  CHECK(runner.run_words(std::vector<Word>(3)) == std::vector<State>(3, 0));
  CHECK(runner.run_words(std::vector<Word>{}).empty());
  CHECK(runner.run(Word{}, 0) == 0);
  CHECK(runner.run_random_words(1, 0, 2, 0) == std::vector<State>(2, 0));
  CHECK_THROWS_AS(runner.run_random_words(1, 0, 2, 5), InputError);
}

TEST_CASE("words over other alphabets are refused") {
  const Runner runner(random_dfa(8, 5, 3));
  CHECK_THROWS_AS(runner.run(Word{0, 3}, 0), InputError);
  CHECK_THROWS_AS(runner.run(PackedWord(2, Word{0, 1}), 0), InputError);
  CHECK_THROWS_AS(runner.run(RandomWord(4, 1), 0, 10, 0), InputError);
  CHECK_THROWS_AS(runner.run_words(std::vector<Word>{{0}, {7}}), InputError);
  CHECK_THROWS_AS(runner.run_words(std::vector<PackedWord>{PackedWord(2, Word{0})}), InputError);
}

TEST_CASE("the stride is the largest whose table pays") {
  const auto stride_of = [](State states, Letter letters, std::uint64_t entries, std::uint64_t expected) {
    return Runner(random_dfa(9, states, letters), {1, entries, expected, true}).description().substr(0, 9);
  };
  CHECK(stride_of(100, 2, 1 << 18, UINT64_MAX) == "8 letters");
  CHECK(stride_of(10'000, 2, 1 << 18, UINT64_MAX) == "4 letters");
  CHECK(stride_of(100, 2, 1000, UINT64_MAX) == "2 letters");
  CHECK(stride_of(100, 2, 100, UINT64_MAX) == "1 letters");
  CHECK(stride_of(100, 2, 1 << 18, 2000) == "4 letters");
  CHECK(stride_of(10, 3, 1 << 18, UINT64_MAX) == "5 letters");
  CHECK(stride_of(10, 3, 2429, UINT64_MAX) == "1 letters");
  CHECK(stride_of(10, 300, 1 << 18, UINT64_MAX) == "1 letters");
}
