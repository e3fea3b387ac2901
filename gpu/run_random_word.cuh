// gpu/run_random_word.cuh — one automaton on one random word, for the processor and for CUDA devices.
#pragma once

#include <cstdint>

#include "simulate/random_letters.h"

namespace krohn {

/// The state after `length` letters of the random word with this key (simulate/random_letters.h). `table` is
/// state-major, as Dfa::table(). No memory but the table is touched. O(length).
KROHN_HOST_DEVICE inline std::uint32_t run_random_word(const std::uint32_t* table, std::uint32_t letters,
                                                       std::uint32_t state, std::uint64_t key, std::uint64_t length) {
  const std::uint32_t per_block = letters_per_block(letters);
  for (std::uint64_t first = 0, block = 0; first < length; first += per_block, ++block) {
    std::uint64_t fraction = random_fraction(key, block, letters);
    const std::uint64_t rest = length - first;
    const std::uint32_t count = rest < per_block ? static_cast<std::uint32_t>(rest) : per_block;
    for (std::uint32_t i = 0; i < count; ++i)
      state = table[std::uint64_t{state} * letters + next_letter(fraction, letters)];
  }
  return state;
}

}  // namespace krohn
