// automata/formats/format_hoa.h — the Hanoi omega-automata format (Babiak et al., CAV 2015), as Spot and Owl read it.
#pragma once

#include <string>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// Writes an acceptor as a deterministic Büchi automaton, since the format is about endless words: a word w stands for
/// w followed by steps in which no proposition holds, for ever. There is a proposition for each letter, and in a step
/// that reads a letter its proposition holds alone; words of the automaton are exactly those endless ones. Writing
/// only. Throws InputError for outputs and for names with a quote, a backslash or a control character.
std::string write_hoa(const Dfa& dfa);

}  // namespace krohn
