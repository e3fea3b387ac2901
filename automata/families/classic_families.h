// automata/families/classic_families.h — the families of the literature: Tomita's, counting, arithmetic.
#pragma once

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// Tomita's languages over {0, 1} (Tomita 1982), 1 ≤ index ≤ 7, as minimal automata:
/// 1: 1*; 2: (10)*; 3: no odd run of 1s is followed, at any distance, by an odd run of 0s; 4: no 000; 5: an even number
/// of 0s and an even number of 1s; 6: the numbers of 0s and 1s agree modulo 3; 7: 0*1*0*1*.
/// Throws InputError for another index.
Dfa tomita(std::uint64_t index);

/// EvenPair(m) of Fan §4.1: words over 0 … m−1 whose last letter equals the first; the empty word is rejected.
/// 2m + 1 states, 2 ≤ m.
Dfa even_pair(std::uint64_t m, const TableLimit& limit = {});

/// Balanced words over `types` kinds of brackets, nested at most `depth` deep. One state for each stack of open
/// brackets, and a sink. Brackets are () [] {} <>, beyond four kinds the tokens open5, close5, ….
Dfa bounded_dyck(std::uint64_t types, std::uint64_t depth, const TableLimit& limit = {});

/// Words over {0, 1} with an odd number of ones: output 1 (accept) is the parity 1 of Grazzi §4.1. Two states.
Dfa parity();

/// Sum(m) of Fan §4.1, modular addition of Ebrahimi B.1: letters and outputs 0 … m−1, the output is the sum of the
/// letters modulo m. m states, 1 ≤ m.
Dfa sum_modulo(std::uint64_t m, const TableLimit& limit = {});

/// (1^m)* over {1}: modular counting of Grazzi, Theorem 2. m states.
Dfa modular_counter(std::uint64_t m, const TableLimit& limit = {});

/// A counter over {+, −} that stays within 0 … m−1; the output is the count. m states, aperiodic.
Dfa saturating_counter(std::uint64_t m, const TableLimit& limit = {});

// Expressions modulo m: with precedence (Fan), left to right (Ebrahimi), in
// brackets.

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
