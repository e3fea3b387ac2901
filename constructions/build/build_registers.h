// constructions/build/build_registers.h — one layer of numbers ±1, each a question about the word so far, that letters
// move one to one, negate or overwrite: for languages whose letters merge states.
#pragma once

#include "krohn/constructions/network/network.h"

namespace krohn {

/// A register holds a function f of the state with values ±1. A letter a makes it hold q ↦ f(q·a): what the register of
/// that function held, negated or not, or a constant. Where no two registers then hold what one held, A is a signed
/// partial permutation, of norm 1 and a product of reflections and projections, and B writes the constants. Registers
/// are closed under letters, and together tell the states apart. With at most 10 states all functions are tried,
/// otherwise the outputs, the single states and what letters make of them; where they do not tell the states apart,
/// registers that hold more of the word (find_registers.h). Exact in every precision. A language has registers exactly
/// where its idempotents do not cross (MATH.md §4). Throws InputError with words that cross; LimitError where none were
/// found within the limits of the search, and past 512 registers and 2,000 states.
Network build_registers(const Dfa& automaton);

}  // namespace krohn
