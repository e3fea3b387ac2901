// automata/families/arithmetic_families.h — expressions modulo m: with precedence (Fan), left to right (Ebrahimi), in
// brackets.
#pragma once

#include "krohn/automata/dfa/tabulate.h"

namespace krohn {

/// Letters 0 … m−1, then +, −, *: digits and operators in turn, as in "1+2-3*4". All machines below read words of this
/// alphabet (brackets add "(" and ")").
Alphabet arithmetic_alphabet(std::uint64_t m);

/// ModArith(m) of Fan §4.1 with * before + and −, on words in which digits and operators alternate. The state is a pair
/// (a, b) of residues, m² in all: `a` is the sum of the finished terms, `b` the term being multiplied, signed; the
/// output is a + b. A digit d makes (a, bd), "+" makes (a + b, 1), "−" makes (a + b, −1), "*" changes nothing. After an
/// operator b is the sign or factor that awaits a digit, so no phase bit is needed: m = 5 has 25 states, and other
/// words are read by the same rules (12 is 1·2).
Dfa modular_arithmetic(std::uint64_t m, const TableLimit& limit = {});

/// The same with the digit/operator phase and an error state for words that do not alternate: 2m² + 1 states (51 for
/// m = 5). Outputs are the value, "incomplete" where a digit is due, and "error".
Dfa modular_arithmetic_strict(std::uint64_t m, const TableLimit& limit = {});

/// Modular arithmetic of Ebrahimi B.1: operators are applied in the order they stand, (3*9−17)+6 …. The state is the
/// value so far with the operator that awaits its digit, "+" after a digit: 3m states. The output is the value.
Dfa left_to_right_arithmetic(std::uint64_t m, const TableLimit& limit = {});

/// The same with phases and an error state, as above: 4m + 1 states, of which the minimal automaton for m ≥ 3 merges
/// "0 +" with "1 *" and "0 −" with "−1 *".
Dfa left_to_right_arithmetic_strict(std::uint64_t m, const TableLimit& limit = {});

/// Arithmetic with brackets nested at most `depth` deep, precedence, and unary minus (Grazzi E.1.2 writes (3-(-3)) and
/// +-1); deeper nesting and anything ungrammatical is an error. A state is a pair (a, b) as above for every open
/// bracket and for the ground, and the phase: 2(m² + m⁴ + … + m^(2·depth+2)) + 1 states.
Dfa bracketed_arithmetic(std::uint64_t m, std::uint64_t depth, const TableLimit& limit = {});

}  // namespace krohn
