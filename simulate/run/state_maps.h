// simulate/run/state_maps.h — what a packed word does to every state at once, one byte shuffle for a byte of letters:
// Mytkowicz, Musuvathi, Schulte, "Data-parallel finite-state machines" (2014).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/words/huge_page_allocator.h"
#include "krohn/simulate/words/instructions.h"

namespace krohn {

/// A map of at most 128 states: state ↦ state. Entries past the last state mean nothing.
using StateMap = std::array<std::uint8_t, 128>;

/// The maps of all bytes of packed letters (simulate/words/packed_word.h).
class StateMapTable {
 public:
  /// Parts of a word that are composed side by side: a shuffle waits for the one before it in its own part only.
  static constexpr std::size_t kParts = 4;
  using Parts = std::array<const std::uint8_t*, kParts>;
  using Maps = std::array<StateMap, kParts>;

  /// True when the table exists for that many states and letters: at most 128 and at most 256.
  static bool fits(State states, Letter letters) { return states <= 128 && letters != 0 && letters <= 256; }
  /// True when one or two instructions compose maps of that many states: SSSE3 up to 16 states, AVX-512 VBMI up to 128.
  static bool is_accelerated(State states, Instructions instructions) {
    return instructions >= (states <= 16 ? Instructions::kSsse3 : Instructions::kAvx512) && states <= 128;
  }

  /// Precondition: fits(dfa.states(), dfa.letters()), and the processor has the instructions. O(n k^s) for s letters to
  /// a byte.
  explicit StateMapTable(const Dfa& dfa, Instructions instructions = best_instructions());

  StateMap identity() const;
  /// For every part: first its map, then the letters of its next `count` bytes. By the fastest kernel of the
  /// instructions.
  void compose(const Parts& parts, std::size_t count, Maps& maps) const { (this->*kernel_)(parts, count, maps); }
  /// The same, one state after another: the reference.
  void compose_portably(const Parts& parts, std::size_t count, Maps& maps) const;

 private:
  using Kernel = void (StateMapTable::*)(const Parts&, std::size_t, Maps&) const;
  Kernel kernel_for(Instructions instructions) const;
  void compose_by_16(const Parts& parts, std::size_t count, Maps& maps) const;
  void compose_by_64(const Parts& parts, std::size_t count, Maps& maps) const;
  void compose_by_128(const Parts& parts, std::size_t count, Maps& maps) const;

  State states_;
  std::size_t width_;                                                ///< bytes to a map in the table: 16, 64 or 128
  std::vector<std::uint8_t, HugePageAllocator<std::uint8_t>> maps_;  ///< byte ↦ map
  Kernel kernel_;
};

}  // namespace krohn
