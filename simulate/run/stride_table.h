// simulate/run/stride_table.h — a transition table that reads several letters at once, and the loops over it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/words/huge_page_allocator.h"

namespace krohn {

/// Words that are read side by side. One word waits for memory at every letter; eight keep the processor busy.
inline constexpr std::size_t kStreams = 8;

/// The target of every state on every word of `stride` letters. A word is its number in base k, the first letter the
/// most significant digit, as in packed words. The table is as small as it can be, because the cache that it fits into
/// decides the time of a step (docs/results/running.md): entries of one, two or four bytes, as the states need. Rows are
/// padded to powers of two, and an entry is its state shifted left as far as it has room, at most so that eight times
/// the entry is where the row begins: an address that the processor adds up in the load itself.
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

}  // namespace krohn
