// automata/operations/operations.h — languages from languages: Boolean, rational, and quotients.
#pragma once

#include <cstdint>
#include <span>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/dfa/nfa.h"
#include "krohn/automata/operations/product.h"

namespace krohn {

// Every operand is an acceptor (InputError otherwise) and every Dfa that comes back is minimal and canonical. Operands
// over different alphabets are read over the common refinement of the two, which is the alphabet of the result: a
// letter that an operand lacks leads it to rejection. Constructions stop with a LimitError past `max_states` states of
// any automaton on the way.

// Boolean operations: reachable pairs of states, O(k m n) at worst.

Dfa union_of(const Dfa& a, const Dfa& b, std::uint64_t max_states = kDefaultMaxStates);
Dfa intersection_of(const Dfa& a, const Dfa& b, std::uint64_t max_states = kDefaultMaxStates);
/// Accepted by `a` and not by `b`.
Dfa difference_of(const Dfa& a, const Dfa& b, std::uint64_t max_states = kDefaultMaxStates);
Dfa symmetric_difference_of(const Dfa& a, const Dfa& b, std::uint64_t max_states = kDefaultMaxStates);
/// Relative to the words over its own alphabet; see `extend_alphabet` for another.
Dfa complement(const Dfa& dfa);

/// The same automaton with the other states accepting: it accepts the complement.
Dfa with_other_answer(const Dfa& dfa);
/// The same language over `refine(dfa.alphabet(), alphabet).merged`. O(k n log n).
Dfa extend_alphabet(const Dfa& dfa, const Alphabet& alphabet);

// Rational operations: the subset construction, exponential at worst.

/// { uv : u ∈ L(a), v ∈ L(b) }. At most m·2^n states.
Dfa concatenation(const Dfa& a, const Dfa& b, std::uint64_t max_states = kDefaultMaxStates);
/// All concatenations of words of the language, the empty one included.
Dfa star(const Dfa& dfa, std::uint64_t max_states = kDefaultMaxStates);
/// At least one factor.
Dfa plus(const Dfa& dfa, std::uint64_t max_states = kDefaultMaxStates);
/// The words of the language written backwards. At most 2^n states.
Dfa reverse(const Dfa& dfa, std::uint64_t max_states = kDefaultMaxStates);
/// The same with every arc turned around, nondeterministic: state q is state q, and one more, the initial one, has
/// ε-moves to the states that accepted. O(k n).
Nfa reverse_nfa(const Dfa& dfa);

// Quotients.

/// u⁻¹L = { v : uv ∈ L }. The letters of `prefix` are the automaton's; InputError otherwise. O(|u| + k n log n).
Dfa left_quotient(const Dfa& dfa, std::span<const Letter> prefix);
/// Lu⁻¹ = { v : vu ∈ L }. O(n |u| + k n log n).
Dfa right_quotient(const Dfa& dfa, std::span<const Letter> suffix);
/// K⁻¹L = { v : uv ∈ L for some u ∈ K }. Exponential at worst.
Dfa left_quotient(const Dfa& dfa, const Dfa& prefixes, std::uint64_t max_states = kDefaultMaxStates);
/// LK⁻¹ = { v : vu ∈ L for some u ∈ K }. The automaton of L with other accepting states. O(k m n) at worst.
Dfa right_quotient(const Dfa& dfa, const Dfa& suffixes, std::uint64_t max_states = kDefaultMaxStates);

}  // namespace krohn
