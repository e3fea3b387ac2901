// simulate/words/random_bytes.h — the packed form of a random word straight from its counter, eight blocks at a time
// where the processor can.
#pragma once

#include <cstdint>
#include <span>

#include "krohn/simulate/words/instructions.h"

namespace krohn {

/// Bytes [first, first + out.size()) of the packed form (simulate/words/packed_word.h) of the random word with this key
/// over `letters` letters, 1 … 256 of them: a byte is one digit in base k^s of the block's fraction
/// (simulate/words/random_letters.h). The same bytes for every `instructions`, which the processor must have.
/// O(out.size()).
void fill_random_bytes(std::uint64_t key, std::uint32_t letters, std::uint64_t first, std::span<std::uint8_t> out,
                       Instructions instructions = best_instructions());

}  // namespace krohn
