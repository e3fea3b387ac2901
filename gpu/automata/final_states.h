// gpu/automata/final_states.h — where an automaton ends on very many random words: one word per CUDA thread.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// Word w of the sample is RandomWord(letters, seed, w), cut to `length` letters.
struct RandomSample {
  std::uint64_t words = 1;
  std::uint64_t length = 100;
  std::uint64_t seed = 1;
};

/// How many words of the sample end in each state, one count per state. Every word is made on the device from its
/// counter and run through the table there; only the counts come back. Equal to `reference_final_state_counts` exactly.
/// Throws as SymbolTable does, and SystemError when there is no device or it fails.
std::vector<std::uint64_t> cuda_final_state_counts(const Dfa& dfa, const RandomSample& sample);

/// The same on the processor, word by word through the function that the kernel calls. For speed take
/// `Runner::run_random_words` (simulate/run/run_dfa.h).
std::vector<std::uint64_t> reference_final_state_counts(const Dfa& dfa, const RandomSample& sample);

}  // namespace krohn
