#include "gpu/final_states.h"

#include <omp.h>

#include "gpu/run_random_word.cuh"
#include "groups/error.h"
#include "simulate/word.h"

namespace krohn {

std::vector<std::uint64_t> final_state_counts(const Dfa& dfa, const RandomSample& sample, unsigned threads) {
  if (dfa.letters() == 0) throw InputError("a random word needs an alphabet of at least one letter");
  std::vector<std::uint64_t> counts(dfa.states(), 0);
  const int team = threads == 0 ? omp_get_max_threads() : static_cast<int>(threads);
#pragma omp parallel num_threads(team)
  {
    std::vector<std::uint64_t> mine(dfa.states(), 0);
#pragma omp for schedule(static)
    for (std::uint64_t word = 0; word < sample.words; ++word)
      ++mine[run_random_word(dfa.table().data(), dfa.letters(), dfa.initial(), random_key(sample.seed, word),
                             sample.length)];
#pragma omp critical
    for (State state = 0; state < dfa.states(); ++state) counts[state] += mine[state];
  }
  return counts;
}

std::vector<std::uint64_t> reference_final_state_counts(const Dfa& dfa, const RandomSample& sample) {
  std::vector<std::uint64_t> counts(dfa.states(), 0);
  for (std::uint64_t word = 0; word < sample.words; ++word)
    ++counts[dfa.run(RandomWord(dfa.letters(), sample.seed, word).slice(0, sample.length))];
  return counts;
}

}  // namespace krohn
