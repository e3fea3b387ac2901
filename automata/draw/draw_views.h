// automata/draw/draw_views.h — the ways to draw an automaton, and what they share.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/draw/cayley_layout.h"
#include "krohn/automata/draw/draw.h"

namespace krohn {

/// The letters of every arrow, parallel arrows merged. Sorted, so that the text is the same every time.
using Arrows = std::map<std::pair<State, State>, std::vector<Letter>>;

/// The common input of all views. Refers to the automaton and the options.
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
/// The transition matrix, a square for every arrow, components as blocks on the diagonal.
std::string matrix_view(const Drawing& drawing);

/// Letters that act alike, and those that undo them: drawn as lines of one colour.
struct GeneratorLines {
  std::vector<Letter> forward, backward;
  bool is_involution = false;  ///< drawn once, without a head
  bool is_identity = false;    ///< not drawn
};
std::vector<GeneratorLines> generator_lines(const Dfa& dfa);
/// The states at the places of the layout, a colour per generator, with a legend.
std::string cayley_view(const Drawing& drawing, const GraphLayout& layout);

}  // namespace krohn
