// automata/regex/regex_derivatives.h — whether an automaton is that of an expression, by another road than the one that
// makes automata of expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// A shortest word that one accepts and the other does not, over the common refinement of the two alphabets; nothing
/// when there is none. Brzozowski's derivatives (1964), equal up to associative, commutative and idempotent unions and
/// intersections, which are finitely many, beside the states of the automaton: no automaton of the expression is made.
/// Throws InputError as parse_regex, and when the automaton is no acceptor; LimitError past `max_pairs` pairs.
std::optional<Word> word_against_regex(const Dfa& automaton, std::string_view expression,
                                       std::uint64_t max_pairs = 1'000'000);

}  // namespace krohn
