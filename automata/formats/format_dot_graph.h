// automata/formats/format_dot_graph.h — what a DOT file says, before it is interpreted: nodes, arcs, attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

struct DotNode {
  std::string id, label, shape, output, style;
  bool has_arrivals = false, has_departures = false, all_departures_unlabelled = true;
  bool accepting = false;

  bool is_record() const { return (shape == "record" || shape == "Mrecord") && label.find('|') != std::string::npos; }
  /// The label of a record, whatever the shape: AALpy gives a state another shape to make it stand out.
  bool is_labelled_as_record() const {
    return is_record() || (label.starts_with('{') && label.ends_with('}') && label.find('|') != std::string::npos);
  }
  bool is_named_start() const { return id.starts_with("__start"); }
  bool marks_start() const {
    const bool shapeless = shape == "none" || shape == "point" || shape == "plaintext" || shape == "plain";
    return !has_arrivals && has_departures && all_departures_unlabelled && (shapeless || is_named_start());
  }
};

struct DotArc {
  std::size_t source = 0, target = 0;
  std::uint64_t sequence = 0;  ///< counts arcs in the order of the file
  std::string label;           ///< unescaped; of an HTML-like label all between its brackets
  bool is_html = false;
  std::string symbol;  ///< exact, wins over the label
  bool unlabelled() const { return label.empty() && symbol.empty(); }
};

struct DotFile {
  std::vector<DotNode> nodes;
  std::vector<DotArc> arcs;
  std::string alphabet, outputs;  ///< JSON, or empty
};

/// Reads a digraph through Graphviz' parser, and copies everything out of it, so that no later error can happen while
/// its memory is held. Arcs come in the order of the file. Throws InputError, with a line where Graphviz gives one, and
/// LimitError when labels that many nodes share would be too much text. Thread-safe.
DotFile read_dot_graph(std::string_view text, std::string_view where);

}  // namespace krohn
