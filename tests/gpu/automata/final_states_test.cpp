#include "krohn/gpu/automata/final_states.h"

#include <doctest/doctest.h>

#include "krohn/gpu/automata/symbol_table.h"
#include "krohn/gpu/device/device.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/run/run_dfa.h"
#include "krohn/simulate/words/word.h"
#include "tests/gpu/automata.h"

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
