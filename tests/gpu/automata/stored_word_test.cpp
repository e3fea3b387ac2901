#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/device/device.h"
#include "tests/gpu/samples.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

using Kind = StoredWordRunner::Kind;

/// The states after every letter, one step after another.
std::vector<std::uint8_t> states_of(const Dfa& dfa, const Word& word, State state) {
  std::vector<std::uint8_t> states;
  for (const Letter letter : word) {
    state = dfa.next(state, letter);
    states.push_back(static_cast<std::uint8_t>(state));
  }
  return states;
}

}  // namespace

TEST_CASE("a selection clears what another pair of words holds") {
  CHECK(select_or_clear(0x03020100, 0x07060504, 0x7531) == 0x07050301);
  CHECK(select_or_clear(0x03020100, 0x07060504, 0x7d39) == 0x07000300);
  CHECK(select_or_clear(0x80, 0, 0x1880) == 0x00ffff80);
}

TEST_CASE("maps are composed as functions are") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    PackedMap<8> first{}, second{};
    std::uint8_t images[2][32];
    for (std::uint32_t state = 0; state < 32; ++state) {
      images[0][state] = static_cast<std::uint8_t>(random() % 32);
      images[1][state] = static_cast<std::uint8_t>(random() % 32);
      first.words[state / 4] |= std::uint32_t{images[0][state]} << 8 * (state % 4);
      second.words[state / 4] |= std::uint32_t{images[1][state]} << 8 * (state % 4);
    }
    const auto both = MapAlgebra<8>::compose(first, second);
    for (std::uint32_t state = 0; state < 32; ++state)
      REQUIRE(MapAlgebra<8>::apply(both, state) == images[1][images[0][state]]);
  }
}

TEST_CASE("copies of a table lie in banks of their own") {
  for (const std::uint32_t log_width : {2U, 3U, 5U, 7U}) {
    CAPTURE(log_width);
    const BankedLayout layout{log_width};
    constexpr std::uint32_t kBytes = 1004;
    for (std::uint32_t at = 0; at < kBytes; at += 4)
      for (std::uint32_t thread = 0; thread < 64; ++thread) {
        const std::uint32_t offset = layout.offset(at, thread);
        REQUIRE(offset < layout.size(kBytes));
        REQUIRE(layout.source(offset / 4) == at / 4);
        const std::uint32_t copies = 128 / layout.width();
        REQUIRE(offset % 128 / layout.width() == thread % copies);
      }
  }
}

TEST_CASE("a stored word ends where the automaton ends, and passes through its states") {
  struct Case {
    Dfa dfa;
    Kind kind;
  };
  const Case cases[] = {{circle(1, 1), Kind::kMaps},
                        {circle(2, 2), Kind::kMaps},
                        {random_automaton(5, 2, 1), Kind::kMaps},
                        {random_automaton(8, 3, 2), Kind::kMaps},
                        {random_automaton(9, 16, 3), Kind::kMaps},
                        {random_automaton(16, 2, 4), Kind::kMaps},
                        {random_automaton(17, 100, 5), Kind::kMaps},
                        {random_automaton(32, 2, 9), Kind::kMaps},
                        {circle(16, 2), Kind::kElements},
                        {circle(32, 256), Kind::kElements},
                        {circle(60, 60), Kind::kElements},
                        {circle(250, 2), Kind::kElements},
                        {circle(255, 5), Kind::kElements},
                        // States after bytes that just fit in a block's memory, and that do not.
                        {circle(128, 128), Kind::kElements},
                        {circle(145, 113), Kind::kElements},
                        {random_automaton(40, 2, 6), Kind::kEnds},
                        {random_automaton(200, 5, 7), Kind::kEnds}};
  for (const Case& one : cases) {
    CAPTURE(one.dfa.states());
    CAPTURE(one.dfa.letters());
    const StoredWordRunner runner(Place::kProcessor, one.dfa);
    CHECK(runner.kind() == one.kind);
    const RandomWord random(one.dfa.letters(), /*seed=*/11, /*stream=*/2);
    for (const std::uint64_t length : {0, 1, 2, 31, 32, 33, 127'323}) {
      CAPTURE(length);
      const Word word = random.slice(0, length);
      const PackedWord packed(one.dfa.letters(), word);
      const State from = static_cast<State>(length) % one.dfa.states();
      CHECK(runner.run(packed, from) == one.dfa.run(word, from));
      const PlacedWord placed(Place::kProcessor, packed);
      PlacedStates states = runner.states(placed, from);
      CHECK(states.values() == states_of(one.dfa, word, from));
      runner.write_states(placed, 0, states);
      CHECK(states.values() == states_of(one.dfa, word, 0));
    }
  }
}

TEST_CASE("many tiles: in order, and all looking back to the first") {
  for (const Dfa& dfa : {random_automaton(7, 2, 1), random_automaton(12, 200, 2), circle(60, 60)}) {
    CAPTURE(dfa.states());
    const Word word = RandomWord(dfa.letters(), 3).slice(0, dfa.letters() == 200 ? 4'300'003 : 1'000'003);
    const PackedWord packed(dfa.letters(), word);
    const StoredWordRunner runner(Place::kProcessor, dfa);
    CHECK(runner.run(packed, 1) == dfa.run(word, 1));
    const PlacedWord placed(Place::kProcessor, packed);
    const std::vector<std::uint8_t> expected = states_of(dfa, word, 1);
    CHECK(runner.states(placed, 1).values() == expected);
    CHECK(runner.states(placed, 1, TileOrder::kBackwards).values() == expected);
  }
}

TEST_CASE("states beyond a byte: only the end of a word") {
  const Dfa dfa = circle(300, 2);
  const StoredWordRunner runner(Place::kProcessor, dfa);
  const Word word = RandomWord(2, 3).slice(0, 100'001);
  CHECK(runner.run(PackedWord(2, word), 7) == dfa.run(word, 7));
  CHECK_THROWS_AS(runner.states(PlacedWord(Place::kProcessor, PackedWord(2, word)), 7), InputError);
}

TEST_CASE("a word read in pieces") {
  const Dfa dfa = random_automaton(11, 3, 1);
  const Word word = RandomWord(3, 1).slice(0, 50'002);
  const PackedWord packed(3, word);
  const StoredWordRunner runner(Place::kProcessor, dfa);
  State state = 2;
  for (std::uint64_t first = 0; first < packed.bytes().size(); first += 999)
    state = runner.run(PlacedWord(Place::kProcessor, packed, first, 999), state);
  CHECK(state == dfa.run(word, 2));
}

TEST_CASE("what a device does not store is refused") {
  CHECK_THROWS_AS(StoredWordRunner(Place::kProcessor, circle(3, 300)), InputError);
  CHECK_THROWS_AS(StoredWordRunner(Place::kProcessor, Dfa::acceptor(Alphabet::from_names({}), {}, 0, {true})),
                  InputError);
  CHECK_THROWS_AS(StoredWordRunner(Place::kProcessor, random_automaton(70'000, 2, 1)), InputError);
  const Dfa dfa = circle(3, 2);
  const StoredWordRunner runner(Place::kProcessor, dfa);
  CHECK_THROWS_AS(runner.run(PackedWord(3, Word{0, 1, 2}), 0), InputError);
  if (!cuda_available()) CHECK_THROWS_AS(StoredWordRunner(Place::kDevice, dfa), SystemError);
}
