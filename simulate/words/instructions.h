// simulate/words/instructions.h — which vector instructions the fast loops may use: chosen when the program runs.
#pragma once

#include <cstdint>

namespace krohn {

/// Each level includes those before it. Every loop exists on the portable level too, and tests compare the levels.
enum class Instructions : std::uint8_t {
  kPortable,
  kSsse3,   ///< byte shuffles of 16 entries (x86-64)
  kAvx512,  ///< F, BW, DQ, VBMI: byte shuffles of 64 and 128 entries, eight 64-bit products at once (x86-64)
};

/// The highest level of this processor.
Instructions best_instructions();

/// "portable", "SSSE3", "AVX-512 VBMI".
const char* to_string(Instructions instructions);

}  // namespace krohn
