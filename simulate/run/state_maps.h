// simulate/run/state_maps.h — what a packed word does to every state at once, one byte shuffle for a byte of letters:
// Mytkowicz, Musuvathi, Schulte, "Data-parallel finite-state machines" (2014).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/transformation_monoid.h"
#include "krohn/simulate/words/instructions.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace krohn {

/// An allocator for std::vector. A table of half a megabyte on pages of 4 kB costs a search for the page at most loads;
/// from 256 kB on, memory is therefore aligned to 2 MB and Linux is asked for pages of that size. It may refuse.
template <class T>
struct HugePageAllocator {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{1} << 21, kFrom = std::size_t{1} << 18, kLine = 64;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = rounded(count);
    void* const memory = ::operator new(bytes, alignment(bytes));
#if defined(__linux__)
    if (bytes >= kPage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(rounded(count))); }

  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }

 private:
  /// Whole pages, so that no other data shares the last one.
  static std::size_t rounded(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    return bytes < kFrom ? bytes : (bytes + kPage - 1) / kPage * kPage;
  }
  static std::align_val_t alignment(std::size_t bytes) { return std::align_val_t{bytes < kPage ? kLine : kPage}; }
};

}  // namespace krohn

namespace krohn {

/// A map of at most 128 states: state ↦ state. Entries past the last state mean nothing.
using StateMap = std::array<std::uint8_t, 128>;

/// The maps of all bytes of packed letters (simulate/words/word.h).
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

/// Words that are read side by side. One word waits for memory at every letter; eight keep the processor busy.
inline constexpr std::size_t kStreams = 8;

/// The target of every state on every word of `stride` letters. A word is its number in base k, the first letter the
/// most significant digit, as in packed words. The table is as small as it can be, because the cache that it fits into
/// decides the time of a step (docs/results/running.md): entries of one, two or four bytes, as the states need. Rows
/// are padded to powers of two, and an entry is its state shifted left as far as it has room, at most so that eight
/// times the entry is where the row begins: an address that the processor adds up in the load itself.
class StrideTable {
 public:
  using Streams = std::array<State, kStreams>;

  /// n · k^stride, the transitions that the table would have; UINT64_MAX when that does not fit.
  static std::uint64_t entries(State states, Letter letters, std::uint32_t stride);
  /// The bytes of the table, padding included; UINT64_MAX when that does not fit.
  static std::uint64_t bytes(State states, Letter letters, std::uint32_t stride);

  /// Precondition: stride ≥ 1 and fewer than 2^34 bytes. O(bytes).
  StrideTable(const Dfa& dfa, std::uint32_t stride);

  std::uint32_t stride() const { return stride_; }
  /// Bytes to an entry.
  std::uint32_t entry_size() const { return entry_size_; }

  /// Reads `symbols`, numbers below k^stride, from `state`.
  State run(std::span<const std::uint8_t> symbols, State state) const;
  State run(std::span<const Letter> symbols, State state) const;

  /// Reads `count` symbols of every stream from its state.
  void run(const std::array<const std::uint8_t*, kStreams>& streams, std::size_t count, Streams& states) const;
  void run(const std::array<const Letter*, kStreams>& streams, std::size_t count, Streams& states) const;

 private:
  template <class Entry>
  void fill(const std::vector<State>& targets, std::size_t width);
  template <class Body>
  void with_loop(Body&& body) const;
  template <class Symbol>
  State run_one(std::span<const Symbol> symbols, State state) const;
  template <class Symbol>
  void run_streams(const std::array<const Symbol*, kStreams>& streams, std::size_t count, Streams& states) const;

  std::uint32_t stride_, entry_size_;
  std::uint32_t room_ = 0;   ///< bits that an entry is shifted left
  std::uint32_t scale_ = 0;  ///< bits from an entry to the offset of its row in bytes
  std::vector<std::byte, HugePageAllocator<std::byte>> table_;
};

// The transition monoid of an automaton as an automaton itself: what a piece of a
// word does to all states is one state of it.

/// State e of `graph` is element e of `monoid`; it starts from the identity, and a letter multiplies from the right.
struct MonoidGraph {
  TransformationMonoid monoid;
  Dfa graph;
};

/// Nothing when the monoid has more than `max_elements` elements, or the automaton more states than elements can be
/// stored for. O(elements · (states + letters)).
std::optional<MonoidGraph> monoid_graph(const Dfa& dfa, std::uint64_t max_elements);

}  // namespace krohn
