#include "gpu/final_states.h"

#include "gpu/run_random_word.cuh"
#include "groups/error.h"

namespace krohn {

std::vector<std::uint64_t> reference_final_state_counts(const Dfa& dfa, const RandomSample& sample) {
  if (dfa.letters() == 0) throw InputError("a random word needs an alphabet of at least one letter");
  std::vector<std::uint64_t> counts(dfa.states(), 0);
  for (std::uint64_t word = 0; word < sample.words; ++word)
    ++counts[run_random_word(dfa.table().data(), dfa.letters(), dfa.initial(), random_key(sample.seed, word),
                             sample.length)];
  return counts;
}

}  // namespace krohn
