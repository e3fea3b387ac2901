// gpu/automata/stored_tables.h — the tables by which stored words (simulate/words/word.h) are read, byte by
// byte.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/gpu/automata/run_elements.cuh"

namespace krohn {

/// ByteCuts: byte i of entry b is symbol i of packed byte b, in symbols of `stride` letters.
std::vector<std::uint64_t> byte_cuts(Letter letters, std::uint32_t stride);

/// The greatest stride that divides the letters of a byte and whose table of `states` rows keeps within `most` bytes,
/// or 1.
std::uint32_t best_stride(Letter letters, std::uint64_t states, std::uint32_t entry, std::uint64_t most);

/// ByteStates of an automaton of at most 256 states.
std::vector<std::uint64_t> byte_states(const Dfa& dfa);

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
