// constructions/build/build_registers.h — one layer of numbers ±1, each a question about the word so far, that letters
// move one to one, negate or overwrite: for languages whose letters merge states.
#pragma once

#include "krohn/constructions/network/network.h"

namespace krohn {

/// A register holds a function f of the state with values ±1. A letter a makes it hold q ↦ f(q·a): what the register of
/// that function held, negated or not, or a constant. Where no two registers then hold what one held, A is a signed
/// partial permutation, of norm 1 and a product of reflections and projections, and B writes the constants. Registers
/// are closed under letters, and together tell the states apart. All functions are tried of at most 10 states,
/// otherwise the outputs, the single states and what letters make of them. Where they are not enough, registers hold
/// more of the word than the state (register_blocks.h). Exact in every precision. A language has registers exactly
/// where its idempotents do not cross (MATH.md §4). Throws InputError with words that cross, or naming two states,
/// where those that were tried do not tell them apart; LimitError past 512 registers and 2,000 states.
Network build_registers(const Dfa& automaton);

}  // namespace krohn
