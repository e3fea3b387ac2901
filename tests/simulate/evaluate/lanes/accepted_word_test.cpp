#include "krohn/simulate/evaluate/lanes/accepted_word.h"

#include <doctest/doctest.h>

#include <map>

#include "krohn/groups/error.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

/// Words over {0, 1} without 11: states 0 and 1 accept, 2 is dead. F(n + 2) words of n letters.
Dfa no_two_ones() { return Dfa::acceptor(numbered_letters(2), {0, 1, 0, 2, 2, 2}, 0, {true, true, false}); }

Word next(AcceptedWordStream& stream) {
  Word word;
  std::vector<Letter> piece(5);
  while (const std::size_t count = stream.read(piece))
    word.insert(word.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
  return word;
}

}  // namespace

TEST_CASE("every accepted word of a length is drawn equally often, no other ever") {
  const Dfa dfa = no_two_ones();
  AcceptedWordStream stream(dfa, 6, 21'000, 4);
  std::map<Word, int> drawn;
  while (stream.next_word()) ++drawn[next(stream)];
  CHECK(drawn.size() == 21);
  for (const auto& [word, times] : drawn) {
    CHECK(word.size() == 6);
    CHECK(dfa.accepts(dfa.run(word)));
    CHECK(times > 1000 - 6 * 32);
    CHECK(times < 1000 + 6 * 32);
  }
}

TEST_CASE("a word depends on the seed and its number alone, and may be left half read") {
  const Dfa dfa = no_two_ones();
  AcceptedWordStream all(dfa, 40, 3, 9), skipping(dfa, 40, 3, 9), other(dfa, 40, 3, 10);
  std::vector<Word> words;
  while (all.next_word()) words.push_back(next(all));
  REQUIRE(words.size() == 3);
  skipping.next_word();
  skipping.next_word();
  Letter letter = 0;
  skipping.read({&letter, 1});
  skipping.next_word();
  CHECK(next(skipping) == words[2]);
  other.next_word();
  CHECK(next(other) != words[0]);
}

TEST_CASE("long accepted words keep a network where its language lives") {
  const Dfa dfa = no_two_ones();
  AcceptedWordStream stream(dfa, 100'000, 2, 1);
  const Network network = one_hot(dfa);
  const SampleReport report = sample_stream(network, Precision::kBf16, stream);
  CHECK(report.lengths[0] == LengthReport{100'000, 2, 2, 2, 200'000, 200'000});
  AcceptedWordStream again(dfa, 100'000, 1, 1);
  again.next_word();
  CHECK(dfa.accepts(dfa.run(next(again))));
}

TEST_CASE("lengths without accepted words are refused") {
  const Dfa even = Dfa::acceptor(numbered_letters(1), {1, 0}, 0, {true, false});
  CHECK_THROWS_AS(AcceptedWordStream(even, 3, 1, 1), InputError);
  AcceptedWordStream stream(even, 0, 1, 1);
  CHECK(stream.next_word());
  CHECK(next(stream).empty());
  CHECK_FALSE(stream.next_word());
}
