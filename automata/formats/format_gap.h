// automata/formats/format_gap.h — what the letters do to the states, for GAP and its packages SgpDec, Semigroups,
// Automata.
#pragma once

#include <string>
#include <string_view>

#include "krohn/automata/formats/format_draft.h"

namespace krohn {

/// GAP statements: the letters' transformations and their semigroup, the group when they all permute the states, and
/// the ends of an acceptor or the outputs. State q is point q + 1.
std::string write_gap(const Dfa& dfa);

/// Reads every `Transformation([…])` of a GAP text, in its order, as a letter; letters are a, b, …, x27, … unless the
/// text has `letters := ["…", …]`, and act on as many points as the largest has. Every state is its own output, so that
/// nothing is merged: the automaton stands for the transformations alone. With `accepting := […]` it is an acceptor,
/// with `outputs := ["…", …]` a Moore machine of these. `initial := n` names the initial state, otherwise it is the
/// first. All other text is passed over. Throws InputError with line and column for images that are no points, or when
/// no transformation is there.
Draft read_gap(std::string_view text, std::string_view where);

}  // namespace krohn
