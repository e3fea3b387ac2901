// automata/monoid/witness_check.h — checks of the words that speak against a property, by running them through the
// automaton. Shares no code with what found them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// Where every state goes. O(states · |word|).
std::vector<State> images_of_word(const Dfa& dfa, std::span<const Letter> word);

/// The lengths of the cycles that the powers of a map end in: increasing, each once. O(n).
std::vector<std::uint64_t> cycle_lengths(std::span<const State> images);

/// The order of the word as a permutation of `states`; 0 when it does not permute them, or past 2^63.
std::uint64_t order_on(const Dfa& dfa, std::span<const Letter> word, std::span<const State> states);

/// A group that u and v generate is not solvable when u, v and uv are not the identity and have orders that are coprime
/// in pairs (Thompson 1968). False otherwise, which says nothing.
bool has_coprime_orders(const Dfa& dfa, std::span<const Letter> u, std::span<const Letter> v,
                        std::span<const State> states);

/// e·e = e as maps of the states.
bool is_idempotent_word(const Dfa& dfa, std::span<const Letter> word);

/// Some product of letters from the left takes the map of `from` to that of `to`. Breadth-first; nothing
/// when more than `max_maps` were met.
std::optional<bool> left_multiple(const Dfa& dfa, std::span<const Letter> from, std::span<const Letter> to,
                                  std::size_t max_maps);

/// The map x of the word is regular: some idempotent x·y has (x·y)·x = x. Nothing as above.
std::optional<bool> is_regular_word(const Dfa& dfa, std::span<const Letter> word, std::size_t max_maps);

/// No word takes the two states to one: all pairs that words lead to are followed. O(states² · letters).
bool never_meet(const Dfa& dfa, State p, State q);

}  // namespace krohn
