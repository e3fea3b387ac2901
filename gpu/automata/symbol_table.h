// gpu/automata/symbol_table.h — an automaton as a table that reads several letters of a random word a step, for CUDA
// devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/gpu/automata/word_symbols.cuh"

namespace krohn {

/// entry[state · base + symbol], in one, two or four bytes as the states need. The stride is the greatest one that
/// keeps the table within a block's shared memory; or else the greatest one within `kGlobalBytes`, which a device's
/// second-level cache holds; or 1.
struct SymbolTable {
  static constexpr std::uint64_t kSharedBytes = 32 * 1024, kGlobalBytes = std::uint64_t{4} << 20;

  SymbolCut cut;
  std::uint32_t states = 0, entry_size = 4;
  std::uint64_t shared_bytes = kSharedBytes;  ///< of a block, that the table may take
  std::vector<std::byte> entries;

  /// Throws InputError for an automaton without letters, or of 2^32 transitions and more.
  explicit SymbolTable(const Dfa& dfa, std::uint64_t shared_bytes = kSharedBytes);

  bool fits_shared() const { return entries.size() <= shared_bytes; }
};

/// Where the letters of one symbol lead.
State read_symbol(const Dfa& dfa, const SymbolCut& cut, State state, std::uint32_t symbol);

/// Calls `body` with a pointer to the first entry of a table, of its type.
template <class Body>
decltype(auto) with_entries(std::uint32_t entry_size, const void* entries, Body&& body) {
  switch (entry_size) {
    case 1:
      return body(static_cast<const std::uint8_t*>(entries));
    case 2:
      return body(static_cast<const std::uint16_t*>(entries));
    default:
      return body(static_cast<const std::uint32_t*>(entries));
  }
}

}  // namespace krohn
