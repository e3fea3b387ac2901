// automata/draw/draw_views.h — the ways to draw an automaton, and what they share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/draw/draw.h"

namespace krohn {

// Cayley graphs: their layout and their pictures.

/// Points in the disc of radius 1; `depth` is 0 in the plane, and from 1 (nearest) to −1 on a solid.
struct GraphLayout {
  struct Point {
    double x = 0, y = 0, depth = 0;
  };
  std::vector<Point> points;  ///< by state
  double least_distance = 0;  ///< of two points in the picture
  bool is_solid = false;      ///< whether depth says anything
};

/// True if every letter permutes the states and the initial state leads to all of them: the graph of a group that acts.
bool is_transitive_permutation_automaton(const Dfa& dfa);

/// For every state s the automorphism that takes the initial state to s and commutes with all letters, where there is
/// one for each: then the graph is the Cayley graph of the group that the letters generate. Nothing otherwise.
/// O(states² letters).
std::optional<std::vector<std::vector<State>>> translations(const Dfa& dfa);

/// Spectral: states are rows of an orthonormal basis of eigenspaces of the adjacency matrix, from the greatest
/// eigenvalue below the degree on, which keeps neighbours together. Three dimensions are a solid seen in perspective
/// (adjacent swaps of four points: the truncated octahedron); of more a plane is taken that a translation of great
/// order rotates, or else one that keeps the points apart. Up to five states that a letter leads through are a regular
/// polygon. Nothing for automata of fewer than 3 states, of more than
/// 400, or that are no transitive permutation automata. O(states³).
std::optional<GraphLayout> cayley_layout(const Dfa& dfa);

// The views.

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
