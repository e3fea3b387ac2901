// constructions/smallest/hankel_rank.h — the rank of a language's Hankel matrix: what a linear state needs at least
// (Carlyle & Paz 1971; Fliess 1974; docs/build.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// What a network has to show after each state, by state: its output, or the state itself.
using Shown = std::vector<std::uint32_t>;
Shown outputs_shown(const Dfa& automaton);
Shown states_shown(const Dfa& automaton);

/// Rows u and columns (v, s) of the matrix whose entry is 1 when s is shown after uv, and 0 otherwise, on which its
/// determinant is not 0 modulo the prime; so it is not 0 over the rationals.
struct HankelMinor {
  struct Column {
    std::vector<Letter> word;
    std::uint32_t shown = 0;
  };
  std::vector<std::vector<Letter>> rows;
  std::vector<Column> columns;
  std::uint64_t prime = 0;
};

struct HankelRank {
  std::uint64_t rank = 0;      ///< over the rationals: at least this, by the minor, and at most, where `is_exact`
  bool is_exact = false;       ///< no greater minor is anything but 0: so many primes divide it
  std::uint64_t modulo_2 = 0;  ///< over the field of two elements
  HankelMinor minor;
};

/// Of the function that takes a word to what is shown after it; every state must be reachable. All that a column
/// depends on is the state that its row leads to, so rows are states and columns are sets of states, found from what is
/// shown by letters read backwards. That no (r+1)-minor is other than 0 follows when the rank is r modulo primes whose
/// product is greater than Hadamard's bound of such a determinant. O(letters · states · rank²) for each prime. Throws
/// LimitError past `max_states`.
HankelRank hankel_rank(const Dfa& automaton, std::span<const std::uint32_t> shown, std::uint32_t max_states = 600);

/// The rank over the field of that many elements, a prime below 2^31.
std::uint64_t hankel_rank_modulo(const Dfa& automaton, std::span<const std::uint32_t> shown, std::uint64_t prime);

/// Runs the words, and computes the determinant anew: not 0 modulo the prime, for a square of the size that is claimed.
bool holds(const Dfa& automaton, std::span<const std::uint32_t> shown, const HankelRank& claimed);

}  // namespace krohn
