// automata/families/group_automata.h — automata of groups, and random ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

/// The word problem of a group: states and outputs are its elements in the order of `GroupElements` (the identity is
/// state 0 and initial), a letter multiplies from the right. This is the Cayley graph with respect to `letters`.
/// |G| states. Throws LimitError; InputError when `letters` is empty, repeats a name, or leaves the group.
Dfa word_problem(const PermutationGroup& group, std::span<const NamedPermutation> letters,
                 const TableLimit& limit = {});

/// The words whose product is the identity: the same automaton as an acceptor.
Dfa identity_problem(const PermutationGroup& group, std::span<const NamedPermutation> letters,
                     const TableLimit& limit = {});

/// The group acting on its points: states and outputs 1 … degree, point 1 initial.
/// Throws InputError when there are no points or no letters.
Dfa point_action(const PermutationGroup& group, std::span<const NamedPermutation> letters,
                 const TableLimit& limit = {});

/// The word problem with `tokens` tokens per transition (Grazzi E.2): one more letter, "pause", and only letters at
/// positions t ≡ 0 (mod tokens), counted from 1, multiply; the others count as pauses. The output after t letters is
/// the product of the first t − tokens + 1, so that a network may spend a whole period on a product; before that it is
/// the identity. tokens = 1 is the word problem with a letter "pause". |G| + (tokens − 1)·|G|·(letters + 1) states.
Dfa delayed_word_problem(const PermutationGroup& group, std::span<const NamedPermutation> letters, std::uint64_t tokens,
                         const TableLimit& limit = {});

/// The full transformation monoid T_n on n points: states and outputs 1 … n, point 1 initial; letters "cycle" (1 2 …
/// n), "swap" (1 2) and "collapse" (2 ↦ 1). Letters equal to an earlier one or to the identity are left out, except
/// that T_1 keeps "collapse".
Dfa full_transformation_monoid(std::uint64_t n, const TableLimit& limit = {});

/// Grazzi's S_5 and Z_60 take all elements as letters; so does a group of at most 120 by default ("all"), a larger one
/// its standard generators ("standard").
std::string_view default_generating_set(const PermutationGroup& group);

// Automata drawn from a seed; the same seed gives the same automaton on every
// machine.

/// `count` letter names: "a" … "z", or "a1" … "a<count>" when there are more than 26.
std::vector<std::string> letter_names(std::uint64_t count);

/// Every δ(q, letter) uniform over the m states, every state accepting with probability ½, state 0 initial. Some states
/// may be unreachable.
Dfa random_automaton(std::uint64_t m, std::uint64_t letters, std::uint64_t seed, const TableLimit& limit = {});

/// The random state machine of Ebrahimi B.1: states and letters are 0 … m−1, δ(q, σ) = π_q(σ) with a uniform
/// permutation π_q for each state. The first letter of a word *is* the initial state, so there is a state "start"
/// besides, m+1 in all; its output is "start", the others' their number. With `initial` the start state is left out and
/// the machine starts there: m states.
Dfa random_state_machine(std::uint64_t m, std::uint64_t seed, std::optional<std::uint64_t> initial = {},
                         const TableLimit& limit = {});

/// Every letter a uniform permutation of the m states, state 0 initial; the output is the state.
Dfa random_permutation_automaton(std::uint64_t m, std::uint64_t letters, std::uint64_t seed,
                                 const TableLimit& limit = {});

}  // namespace krohn
