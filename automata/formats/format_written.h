// automata/formats/format_written.h — formats that are written only: HOA, OpenFst, LaTeX.
#pragma once

#include <string>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// Writes an acceptor as a deterministic Büchi automaton, since the format is about endless words: a word w stands for
/// w followed by steps in which no proposition holds, for ever. There is a proposition for each letter, and in a step
/// that reads a letter its proposition holds alone; words of the automaton are exactly those endless ones. Writing
/// only. Throws InputError for outputs and for names with a quote, a backslash or a control character.
std::string write_hoa(const Dfa& dfa);

/// An acceptor as a VectorFst over the tropical semiring (arc type "standard"), little-endian, with its symbol table
/// for both sides inside: what `fstcompile` makes of write_att and write_symbol_table. States that can reach acceptance
/// only, as OpenFst has no use for a sink; all when there is none. Writing only. Throws InputError for outputs.
std::string write_openfst(const Dfa& dfa);

/// A tikzpicture of the library `automata`, its states on a circle: \usetikzlibrary{automata, arrows.meta,
/// positioning}. Arcs between the same states share a label; outputs stand in the states.
std::string write_tikz(const Dfa& dfa);

/// The transition table as a tabular: a row for each state, → before the initial one, * behind accepting ones, and a
/// column of outputs for machines that have them.
std::string write_latex_table(const Dfa& dfa);

/// Text for LaTeX, with the signs that mean something to it written out.
std::string escape_tex(const std::string& text);

}  // namespace krohn
