// automata/monoid/witness_check.h — witnesses of algebraic verdicts, and their check.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/monoid/algebra.h"

namespace krohn {

// Idempotents e and f of the semigroup of an automaton with efe ≠ fe: what one
// layer of contractions cannot hold with finitely many values, in exact arithmetic (docs/MATH.md §4).

/// Words e and f, none of them empty, that lead every state where they lead it when read twice.
struct CrossingIdempotents {
  Word e, f;
  State from = 0;  ///< from here efe and fe lead to states that are told apart
  /// So do (ef)ⁿ(fe)ⁿ and (fe)ⁿ, for an n that makes both powers idempotent: nor can one layer then keep right answers
  /// apart by a margin, with values that stay bounded, in exact arithmetic. Found for some e and f where it holds.
  bool bars_margins = false;
};

struct CrossingSearch {
  std::optional<CrossingIdempotents> found;  ///< one that bars margins where one was met
  bool is_complete = false;                  ///< without `found`: there is none
};

/// The pairs of states that count in the search, where not all do.
struct ToldApart {
  std::vector<bool> pairs;    ///< p · states + q: some word, the empty one included, must be answered differently
  std::vector<bool> is_dead;  ///< by state: nothing is known of words that lead here
};

/// Among the idempotent powers of the first `max_elements` elements of the semigroup; `told_apart` without a value:
/// every two states are. All states are taken to be reached. Each find is checked by running its words. O(kernels ·
/// idempotents · states) for the different kernels of idempotents, at most 300 million; then the search is not
/// complete.
CrossingSearch crossing_idempotents(const Dfa& dfa, std::uint64_t max_elements,
                                    const std::optional<ToldApart>& told_apart = std::nullopt);

/// The verdict "right regular idempotents": unknown where the search was not complete.
Verdict right_regular_idempotents(const Dfa& dfa, std::uint64_t max_elements);

/// "with e = "0" and f = "22", efe and fe differ from state 0, and so do (ef)ⁿ(fe)ⁿ and (fe)ⁿ".
std::string to_string(const CrossingIdempotents& found, const Dfa& dfa);

/// Throws Error unless `checked`: a witness against `property` that fails its check is a fault of krohn's, and nothing
/// may be claimed on it.
void require_witness(bool checked, std::string_view property);

/// The words one after another.
Word joined(std::initializer_list<const Word*> words);

/// Images of all states. O(states · |word|).
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
