// gpu/automata/word_tables.h — an automaton as tables that read several letters of a word a step, for CUDA devices: of
// a random word, or of a stored one, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/gpu/automata/run_elements.cuh"
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

// Tables for stored words (simulate/words/word.h).

/// ByteCuts: byte i of entry b is symbol i of packed byte b, in symbols of `stride` letters.
std::vector<std::uint64_t> byte_cuts(Letter letters, std::uint32_t stride);

/// The greatest stride that divides the letters of a byte and whose table of `states` rows keeps within `most` bytes,
/// or 1.
std::uint32_t best_stride(Letter letters, std::uint64_t states, std::uint32_t entry, std::uint64_t most);

/// The table of ByteStates (gpu/automata/stored_scan.cuh), of an automaton of at most 256 states.
std::vector<std::uint32_t> byte_states(const Dfa& dfa);

/// MapChoices of every packed byte, one after another. kWords is 2, 4 or 8, and the states at most 4 · kWords.
template <std::uint32_t kWords>
std::vector<std::uint32_t> map_table(const Dfa& dfa);

/// The transitions of a Cayley graph by symbols of `stride` letters, entries of one or two bytes in 32-bit words.
template <class Entry>
std::vector<std::uint32_t> packed_entries(const Dfa& graph, std::uint32_t stride);

/// For the right Cayley graph of a monoid, which starts from the identity: first · second at [first · elements +
/// second].
std::vector<std::uint16_t> product_table(const Dfa& graph);

}  // namespace krohn
