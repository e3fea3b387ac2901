// automata/formats/format_tex.h — automata in LaTeX documents: TikZ pictures and tables.
#pragma once

#include <string>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// A tikzpicture of the library `automata`, its states on a circle: \usetikzlibrary{automata, arrows.meta,
/// positioning}. Arcs between the same states share a label; outputs stand in the states.
std::string write_tikz(const Dfa& dfa);

/// The transition table as a tabular: a row for each state, → before the initial one, * behind accepting ones, and a
/// column of outputs for machines that have them.
std::string write_latex_table(const Dfa& dfa);

/// Text for LaTeX, with the signs that mean something to it written out.
std::string escape_tex(const std::string& text);

}  // namespace krohn
