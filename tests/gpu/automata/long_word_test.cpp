#include "krohn/gpu/automata/long_word.h"

#include <doctest/doctest.h>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/error.h"
#include "tests/gpu/automata.h"

using namespace krohn;

namespace {

using Kind = SliceTables::Kind;

std::unique_ptr<SliceReader> seven_slices(const SliceTables& tables) { return reference_slice_reader(tables, 7); }

}  // namespace

TEST_CASE("a selection of bytes names every byte") {
  CHECK(select_bytes(0x03020100, 0x07060504, 0x7531) == 0x07050301);
  CHECK(select_bytes(0x44332211, 0x88776655, 0x0000) == 0x11111111);
}

TEST_CASE("a long word in slices ends where the automaton ends") {
  struct Case {
    Dfa dfa;
    Kind kind;
  };
  const Case cases[] = {{circle(1, 1), Kind::kMaps},
                        {random_automaton(5, 2, 1), Kind::kMaps},
                        {random_automaton(8, 3, 2), Kind::kMaps},
                        {random_automaton(9, 16, 3), Kind::kMaps},
                        {random_automaton(16, 2, 4), Kind::kMaps},
                        {random_automaton(17, 100, 5), Kind::kMaps},
                        {circle(32, 256), Kind::kMaps},
                        {circle(60, 60), Kind::kElements},
                        {circle(300, 2), Kind::kElements},
                        {circle(31, 300), Kind::kElements},
                        {random_automaton(40, 2, 6), Kind::kEnds},
                        {random_automaton(300, 5, 7), Kind::kEnds}};
  for (const Case& one : cases) {
    CAPTURE(one.dfa.states());
    CAPTURE(one.dfa.letters());
    const SlicedRunner runner(one.dfa, seven_slices);
    CHECK(runner.tables().kind() == one.kind);
    const RandomWord word(one.dfa.letters(), /*seed=*/11, /*stream=*/2);
    for (const std::uint64_t first : {0, 5, 64})
      for (const std::uint64_t length : {0, 1, 2, 31, 32, 33, 1000}) {
        CAPTURE(first);
        CAPTURE(length);
        const State from = static_cast<State>(length) % one.dfa.states();
        CHECK(runner.run(word, first, length, from) == one.dfa.run(word.slice(first, length), from));
      }
  }
}

TEST_CASE("many slices of a long word") {
  const Dfa dfa = random_automaton(13, 2, 8);
  const SlicedRunner runner(dfa, [](const SliceTables& tables) { return reference_slice_reader(tables, 1000); });
  const RandomWord word(2, 1);
  CHECK(runner.run(word, 3, 127'323, 0) == dfa.run(word.slice(3, 127'323)));
}

TEST_CASE("what a device cannot read is refused") {
  const Dfa none = Dfa::acceptor(Alphabet::from_names({}), {}, 0, {true});
  CHECK_THROWS_AS(SliceTables{none}, InputError);
  CHECK_THROWS_AS(SliceTables{random_automaton(70'000, 2, 1)}, InputError);
  const Dfa dfa = circle(3, 2);
  const SlicedRunner runner(dfa, seven_slices);
  CHECK_THROWS_AS(runner.run(RandomWord(3, 1), 0, 10, 0), InputError);
  if (!cuda_available()) CHECK_THROWS_AS(SlicedRunner(dfa, cuda_slice_reader), SystemError);
}
