// automata/classes/reduced_automaton.h — a minimal automaton with one letter for all that act alike, and its tier.
#pragma once

#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// Every class of `classes.h` is closed under leaving out letters and under letters that act as others do, with the
/// same parameters; so what holds of the reduced automaton holds of the given one.
struct ReducedAutomaton {
  Dfa dfa;                                 ///< minimal; its letters act differently in pairs
  std::vector<std::vector<Letter>> alike;  ///< per letter of `dfa`: all letters of the given automaton that act so
};

/// `dfa` is minimal. O(n · letters · log letters).
ReducedAutomaton reduce(const Dfa& dfa);

/// Without the letters that move no state: a language has a property on some tier exactly when it has it on the letters
/// that move a state, for every larger tier has letters that mean nothing (Lambert & Rogers 2020). `reduced` itself
/// when there is no such letter.
ReducedAutomaton on_tier(const ReducedAutomaton& reduced);

}  // namespace krohn
