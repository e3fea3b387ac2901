// tools/krohn/checkpoint_verdict.h — `krohn verify FOLDER`: proves or refutes a checkpoint.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/automata/language.h"

namespace krohn {

struct CheckpointQuestion {
  std::string folder;
  std::string against;  ///< the language that it has to track; empty: that of the folder's automaton.json
  LanguageOptions reading;
  std::string precision = "fp32";
  std::uint64_t max_pairs = 1'000'000;
  bool in_chunks = false;    ///< as the library's chunked kernels; only tested, never proved
  std::uint64_t length = 0;  ///< of random words to test beside the proof; 0: none
  std::uint64_t words = 1;
  std::string device = "auto";  ///< where they are read
  std::uint64_t seed = 1;
  bool json = false;
};

/// Prints the verdict; returns the exit status.
int verify_checkpoint(const CheckpointQuestion& question);

}  // namespace krohn
