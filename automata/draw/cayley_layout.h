// automata/draw/cayley_layout.h — Cayley graphs: their layout and their pictures.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

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

}  // namespace krohn
