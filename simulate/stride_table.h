// simulate/stride_table.h — a transition table that reads several letters at once, and the loops over it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "automata/dfa.h"

namespace krohn {

/// Words that are read side by side. One word waits for memory at every letter; eight keep the processor busy.
inline constexpr std::size_t kStreams = 8;

/// The target of every state on every word of `stride` letters. A word is its number in base k, the first letter the
/// most significant digit, as in packed words. Entries are rows, that is state · width, so that a step is one addition
/// and one load.
class StrideTable {
 public:
  using Row = std::uint32_t;

  /// n · k^stride, the entries that the table would have.
  static std::uint64_t entries(State states, Letter letters, std::uint32_t stride);

  /// Precondition: stride ≥ 1 and fewer than 2^32 entries. O(entries).
  StrideTable(const Dfa& dfa, std::uint32_t stride);

  std::uint32_t stride() const { return stride_; }
  Row row(State state) const { return state * width_; }
  State state(Row row) const { return row / width_; }

  /// Reads `symbols`, numbers below k^stride, from `row`.
  template <class Symbol>
  Row run(std::span<const Symbol> symbols, Row row) const {
    for (const Symbol symbol : symbols) row = table_[row + symbol];
    return row;
  }

  /// Reads `count` symbols of every stream from its row.
  template <class Symbol>
  void run(const std::array<const Symbol*, kStreams>& streams, std::size_t count,
           std::array<Row, kStreams>& rows) const {
    const Row* const table = table_.data();
    std::array<Row, kStreams> current = rows;  // a copy that no store can alias, so that it stays in registers
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t stream = 0; stream < kStreams; ++stream)
        current[stream] = table[current[stream] + streams[stream][i]];
    rows = current;
  }

 private:
  std::uint32_t stride_, width_;
  std::vector<Row> table_;
};

}  // namespace krohn
