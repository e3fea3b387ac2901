// automata/draw/draw_views.h — the three ways to draw an automaton, and what they share.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/draw/draw.h"
#include "krohn/automata/draw/draw_style.h"

namespace krohn {

/// The letters of every arrow, parallel arrows merged. Sorted, so that the text is the same every time.
using Arrows = std::map<std::pair<State, State>, std::vector<Letter>>;

/// What all views start from. Refers to the automaton and the options.
struct Drawing {
  const Dfa& dfa;
  const DrawOptions& options;
  Components components;
  std::vector<bool> hidden;  ///< rejecting sinks that are left out
  Arrows arrows;             ///< between states that are not hidden
};

/// Colours per component: those with a cycle take turns, in topological order.
std::vector<DrawColours> component_colours_of(const Drawing& drawing);

/// The state's name, and its output below when it has one of another name.
std::string state_label(const Dfa& dfa, State state);

/// A small dot with an arrow to the node of that name.
std::string start_arrow(const std::string& target);

/// One node per state.
std::string states_view(const Drawing& drawing);
/// One node per strongly connected component; past `most`, those nearest to the initial state and a note.
std::string condensed_view(const Drawing& drawing, std::size_t most);
/// The transition table, a row per state and a column per set of letters that do the same.
std::string table_view(const Drawing& drawing);

}  // namespace krohn
