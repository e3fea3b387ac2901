// automata/families/families.h — the catalogue of languages that have names; `named_language` (automata/language.h)
// builds them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

/// A family's name with its parameters: letters, a number, more letters after "-", then ":key=value,key=value". The
/// number may also stand in brackets or after the colon: "sum5" = "sum(5)" = "sum:5" = "sum:m=5".
struct FamilyName {
  std::string family;                                        ///< lower case, without the number: "modarith-strict"
  std::optional<std::uint64_t> number;                       ///< the unnamed parameter
  std::vector<std::pair<std::string, std::uint64_t>> named;  ///< in the order given
};

/// Splits a name; nothing when it is not of this form (the caller then tries a group). Upper and lower case, spaces and
/// "_" do not matter. Throws LimitError for a number beyond 2^63.
std::optional<FamilyName> parse_family_name(std::string_view name);

/// One line of the catalogue.
struct FamilyInfo {
  std::string pattern;  ///< "sum<m>", "dyck:types=<k>,depth=<d>"
  std::string summary;  ///< one line
  std::string source;   ///< the paper that uses it, or "classic"
  std::string example;  ///< a name that `named_language` takes
};

/// Every family, in the order in which they are best read: counting, classics, arithmetic, random, groups.
std::vector<FamilyInfo> families();

// The families of the literature: Tomita's, counting, arithmetic.

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

// Automata of groups, and random ones.

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
