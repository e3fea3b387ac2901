// automata/draw/draw.h — pictures of automata through Graphviz.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// What an automaton is drawn as.
enum class DrawnView {
  kStates,      ///< a node a state
  kTable,       ///< the transition table: a row a state, with its output below its name where that differs
  kComponents,  ///< a node a strongly connected component
};

struct DrawOptions {
  std::string format = "svg";     ///< svg, pdf, png, dot
  std::string engine = "dot";     ///< a Graphviz layout: dot, neato, circo, fdp, sfdp, …
  bool colour_components = true;  ///< fill by strongly connected component
  bool left_to_right = true;
  bool show_sink = false;          ///< a rejecting sink is left out unless asked for
  std::uint64_t max_states = 100;  ///< above: the condensed view
  std::string title;
};

/// The automaton as DOT text: merged parallel arrows, labels with ranges shortened, a start arrow, double lines for
/// accepting states (outputs written into the node for Moore machines), a colour per strongly connected component that
/// has a cycle. What would be a hairball is drawn otherwise, and `view` says how:
///   more than eight states with more than six merged arrows each    the transition table, when it fits
///   more than `max_states` states, or arrows for three times that   one node per strongly connected component; past
///                                     max_states / 4, those nearest to the initial state and a note for the rest
/// Deterministic: the same automaton gives the same bytes. O(states · letters · log).
std::string to_drawn_dot(const Dfa& dfa, const DrawOptions& options = {}, DrawnView* view = nullptr);

/// The cascade as DOT text: a box per layer with its width, what its bijections generate and the number of its actions,
/// arrows for what it hands on, and one to the state that all labels together stand for. O(layers).
std::string to_drawn_dot(const Cascade& cascade, const DrawOptions& options = {});

/// Lays DOT text out and renders it; format "dot" checks the text and gives it back as it is. Safe to call from several
/// threads, one at a time being served. Throws InputError for an unknown format or engine, naming those that there are,
/// and for text that is not DOT.
std::string render_dot(const std::string& dot, const std::string& format, const std::string& engine);

}  // namespace krohn
