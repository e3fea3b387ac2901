// simulate/state_maps.h — what a packed word does to every state at once, one byte shuffle for a byte of letters:
// Mytkowicz, Musuvathi, Schulte, "Data-parallel finite-state machines" (2014).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "automata/dfa.h"

namespace krohn {

/// A map of at most 64 states: state ↦ state. Entries past the last state mean nothing.
using StateMap = std::array<std::uint8_t, 64>;

/// The maps of all bytes of packed letters (simulate/packed_word.h).
class StateMapTable {
 public:
  /// Parts of a word that are composed side by side: a shuffle waits for the one before it in its own part only.
  static constexpr std::size_t kParts = 4;
  using Parts = std::array<const std::uint8_t*, kParts>;
  using Maps = std::array<StateMap, kParts>;

  /// True when the table exists for that many states and letters: at most 64 and at most 256.
  static bool fits(State states, Letter letters) { return states <= 64 && letters != 0 && letters <= 256; }

  /// Precondition: fits(dfa.states(), dfa.letters()). O(n k^s) for s letters to a byte.
  explicit StateMapTable(const Dfa& dfa);

  /// True when this processor composes maps of this width by one instruction: SSSE3 up to 16 states, AVX-512 VBMI up
  /// to 64.
  bool is_accelerated() const { return kernel_ != &StateMapTable::compose_portably; }

  StateMap identity() const;
  /// For every part: first its map, then the letters of its next `count` bytes. By the fastest kernel of this
  /// processor.
  void compose(const Parts& parts, std::size_t count, Maps& maps) const { (this->*kernel_)(parts, count, maps); }
  /// The same, one state after another: the reference.
  void compose_portably(const Parts& parts, std::size_t count, Maps& maps) const;

 private:
  using Kernel = void (StateMapTable::*)(const Parts&, std::size_t, Maps&) const;
  Kernel best_kernel() const;
  void compose_by_16(const Parts& parts, std::size_t count, Maps& maps) const;
  void compose_by_64(const Parts& parts, std::size_t count, Maps& maps) const;

  State states_;
  std::size_t width_;               ///< bytes to a map in the table: 16 or 64
  std::vector<std::uint8_t> maps_;  ///< byte ↦ map
  Kernel kernel_;
};

}  // namespace krohn
