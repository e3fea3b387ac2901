// tools/krohn/trained_verdict.h — `krohn verify RUN`: proves or refutes a trained model that is no network.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/automata/language.h"

namespace krohn {

struct TrainedQuestion {
  std::string file;     ///< parameters.safetensors
  std::string against;  ///< the language that it has to compute; empty: the automaton of its task
  LanguageOptions reading;
  std::string precision = "fp32";
  std::uint64_t least_length = 0;  ///< shorter words are not asked about
  std::uint64_t max_pairs = 100'000;
  double seconds = 0;                   ///< of each search; 0: no limit
  std::uint64_t length = 0, words = 1;  ///< random words to test beside the proof; 0: none
  std::uint64_t seed = 1;
  bool json = false;
};

/// Prints the verdict; returns the exit status.
int verify_trained(const TrainedQuestion& question);

}  // namespace krohn
