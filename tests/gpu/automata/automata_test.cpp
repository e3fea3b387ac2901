#include "krohn/gpu/automata/long_word.h"
#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/automata/word_tables.h"
#include "krohn/gpu/device/device.h"
#include "krohn/simulate/run/run_dfa.h"
#include "krohn/simulate/words/word.h"
#include "tests/gpu/samples.h"
#include "tests/testing.h"

using namespace krohn;

TEST_CASE("the device function reads the letters of RandomWord") {
  struct Case {
    State states;
    Letter letters;
    std::uint64_t length;
  };
  for (const Case& one : {Case{1, 1, 0}, Case{5, 1, 65}, Case{7, 2, 1}, Case{7, 2, 31}, Case{7, 2, 32}, Case{7, 2, 33},
                          Case{9, 2, 127'323}, Case{11, 3, 1000}, Case{60, 60, 4321}, Case{5, 256, 99},
                          Case{5, 300, 77}, Case{300, 2, 1009}, Case{70'000, 2, 333}}) {
    CAPTURE(one.states);
    CAPTURE(one.letters);
    CAPTURE(one.length);
    const Dfa dfa = circle(one.states, one.letters);
    const SymbolTable table(dfa);
    const Word word = RandomWord(one.letters, /*seed=*/3, /*stream=*/9).slice(0, one.length);
    const State state = with_entries(table.entry_size, table.entries.data(), [&](const auto* entries) {
      return read_word(entries, dfa.table().data(), table.cut, random_key(3, 9), one.length, dfa.initial());
    });
    CHECK(state == dfa.run(word));
  }
}

TEST_CASE("tables take as many letters a step as shared memory allows") {
  struct Case {
    State states;
    Letter letters;
    std::uint32_t stride, entry_size;
    bool shared;
  };
  for (const Case& one : {Case{16, 2, 8, 1, true}, Case{120, 2, 8, 1, true}, Case{120, 120, 1, 1, true},
                          Case{300, 2, 4, 2, true}, Case{10'000, 2, 4, 2, false}, Case{70'000, 3, 1, 4, false}}) {
    CAPTURE(one.states);
    const SymbolTable table(circle(one.states, one.letters));
    CHECK(table.cut.stride == one.stride);
    CHECK(table.entry_size == one.entry_size);
    CHECK(table.fits_shared() == one.shared);
  }
}

TEST_CASE("counts of final states are those of the runner") {
  const Dfa dfa = circle(7, 3);
  std::vector<std::uint64_t> counts(7, 0);
  for (const State state : Runner(dfa).run_random_words(/*seed=*/5, /*first_stream=*/0, 500, 123)) ++counts[state];
  CHECK(reference_final_state_counts(dfa, {.words = 500, .length = 123, .seed = 5}) == counts);
  CHECK(reference_final_state_counts(dfa, {.words = 0, .length = 9, .seed = 1}) == std::vector<std::uint64_t>(7, 0));
}

TEST_CASE("without a device the request is refused, not answered") {
  if (cuda_available()) return;
  CHECK_FALSE(cuda_status().empty());
  CHECK_THROWS_AS(cuda_final_state_counts(circle(3, 2), {}), SystemError);
  CHECK_THROWS_AS(wants_cuda("cuda"), SystemError);
  CHECK_FALSE(wants_cuda("auto"));
  CHECK(device_name(false) == "the processor");
}

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
  // Where both are there, a monoid whose table is small goes before maps.
  const Case cases[] = {{circle(1, 1), Kind::kElements},
                        {random_automaton(5, 2, 1), Kind::kElements},
                        {random_automaton(8, 3, 2), Kind::kMaps},
                        {random_automaton(9, 16, 3), Kind::kMaps},
                        {random_automaton(16, 2, 4), Kind::kMaps},
                        {random_automaton(17, 100, 5), Kind::kMaps},
                        {circle(32, 256), Kind::kElements},
                        {circle(60, 60), Kind::kElements},
                        {circle(300, 2), Kind::kElements},
                        {circle(31, 300), Kind::kElements},
                        {random_automaton(40, 2, 6), Kind::kLed},
                        {random_automaton(300, 5, 7), Kind::kLed},
                        {random_permutations(40, 2, 8), Kind::kEnds}};
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
  for (const Dfa& dfa : {random_automaton(13, 2, 8), random_automaton(100, 2, 8)}) {
    CAPTURE(dfa.states());
    const SlicedRunner runner(dfa, [](const SliceTables& tables) { return reference_slice_reader(tables, 1000); });
    const RandomWord word(dfa.letters(), 1);
    for (const State from : {0U, 5U})
      CHECK(runner.run(word, 3, 127'323, from) == dfa.run(word.slice(3, 127'323), from));
  }
}

namespace {

/// Leads every third slice to a wrong start, from which nothing it says counts.
class Astray final : public SliceReader {
 public:
  explicit Astray(const SliceTables& tables) : reader_(reference_slice_reader(tables, 1000)) {}
  std::uint64_t slices() const override { return reader_->slices(); }
  std::vector<std::uint32_t> read(const WordSlices& word) override {
    std::vector<std::uint32_t> numbers = reader_->read(word);
    CHECK(word.slices > 9);
    for (std::size_t i = 2; i + 1 < numbers.size(); i += 6) numbers[i] ^= 1, numbers[i + 1] ^= 1;
    return numbers;
  }

 private:
  std::unique_ptr<SliceReader> reader_;
};

}  // namespace

TEST_CASE("slices that were led to wrong starts are read again") {
  const Dfa dfa = random_automaton(100, 2, 8);
  const SlicedRunner runner(
      dfa, [](const SliceTables& tables) -> std::unique_ptr<SliceReader> { return std::make_unique<Astray>(tables); });
  CHECK(runner.tables().kind() == Kind::kLed);
  const RandomWord word(2, 1);
  CHECK(runner.run(word, 3, 600'000, 5) == dfa.run(word.slice(3, 600'000), 5));
}

TEST_CASE("what a device cannot read is refused") {
  const Dfa none = Dfa::acceptor(Alphabet::from_names({}), {}, 0, {true});
  CHECK_THROWS_AS(SliceTables{none}, InputError);
  CHECK_THROWS_AS(SliceTables{random_permutations(5000, 2, 1)}, InputError);
  const Dfa dfa = circle(3, 2);
  const SlicedRunner runner(dfa, seven_slices);
  CHECK_THROWS_AS(runner.run(RandomWord(3, 1), 0, 10, 0), InputError);
  if (!cuda_available()) CHECK_THROWS_AS(SlicedRunner(dfa, cuda_slice_reader), SystemError);
}
