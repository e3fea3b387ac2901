// automata/operations/operations.h — Boolean operations on languages. The others are in nfa_operations.h.
#pragma once

#include <cstdint>

#include "krohn/automata/dfa/dfa.h"
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

}  // namespace krohn
