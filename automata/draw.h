// automata/draw.h — pictures of automata through Graphviz.
#pragma once

#include <string>

#include "automata/cascade.h"
#include "automata/dfa.h"

namespace krohn {

struct DrawOptions {
  std::string format = "svg";        ///< svg, pdf, png, dot
  std::string engine = "dot";        ///< a Graphviz layout: dot, neato, circo, fdp, sfdp, …
  bool colour_components = true;     ///< fill by strongly connected component
  bool left_to_right = true;
  bool show_sink = false;            ///< a rejecting sink is left out unless asked for
  std::uint64_t max_states = 200;    ///< above: the condensed view (one node per strongly connected component)
  std::string title;
};

/// The automaton as DOT text: merged parallel edges, labels with ranges shortened, start arrow, double circles for
/// accepting states (outputs written into the node for Moore machines). Deterministic: the same automaton gives the same
/// bytes. `condensed` is set when the condensed view was used.
std::string to_drawn_dot(const Dfa& dfa, const DrawOptions& options = {}, bool* condensed = nullptr);

/// Lays DOT text out and renders it. Throws InputError for an unknown format or engine or text that is not DOT.
std::string render_dot(const std::string& dot, const std::string& format, const std::string& engine);

}  // namespace krohn
