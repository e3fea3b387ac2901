// automata/formats/format_dot.h — automata as Graphviz DOT, read through Graphviz' own parser (cgraph).
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "krohn/automata/formats/format_draft.h"
#include "krohn/automata/formats/mealy.h"

namespace krohn {

// The text of DOT: making a file fit for Graphviz' parser, and labels to symbols
// and back.

/// Text for Graphviz' parser, and where its lines are not those of the file.
struct PreparedDot {
  std::string text;
  std::vector<std::size_t> added_lines;  ///< the numbers of the lines that end in a line break of ours, ascending
  /// The line of the file that Graphviz calls `line`.
  std::size_t line_in_file(std::size_t line) const;
};

/// The one graph of the file with comments blanked out. Graphviz' lexer keeps its state between reads (an open string
/// or a second graph would leak into the next file), its stack and memory follow the file's nesting, node sets and
/// names of attributes, and it reads a token anew for every 8 KiB of it: everything of that kind is refused here first,
/// and long strings are broken by escaped line ends, which mean nothing. Throws InputError with line and column. O(n).
PreparedDot prepare_dot(std::string_view text, std::string_view where);

/// The text that Graphviz prints for the label: `\n`, `\l`, `\r` are newlines, `\x` any other character x.
std::string unescape_dot(std::string_view label);
/// The inverse, ready to stand between double quotes.
std::string escape_dot(std::string_view text);

/// The symbols that an unescaped label lists: separated by newlines and by commas outside brackets, without the blanks
/// around them. One single character is itself, even a comma or a blank. Empty when nothing or an empty symbol is
/// listed.
std::vector<std::string> split_dot_label(std::string_view label);

/// The "input/output" symbols of an HTML-like label `input | input<br/>output`, as StateLearner writes a Mealy
/// machine's. Empty when it is no such label: other tags, no output, a slash in an input.
std::vector<std::string> split_html_label(std::string_view label);

/// The symbol of a label of OpenFst's fstdraw: "a", or "a:a" where both tapes are drawn. Nothing for a transducer's arc
/// or a weight, "a:b" or "a/0.5".
std::optional<std::string> split_fst_label(std::string_view label);

/// Name and output of a record's label, "name|output" or "{name|output}", without the blanks around them; nothing when
/// it has no bar.
std::optional<std::pair<std::string, std::string>> split_record(std::string_view label);

/// True when the symbol is, or ends behind a colon in, a number from 0 to 1: "x:0.8", "a/b:1", "0.25". With
/// `has_point`, only when that is written with a decimal point.
bool ends_in_probability(std::string_view symbol, bool has_point);

/// "input/output" at the first slash outside brackets; nothing when there is none or the input is empty.
std::optional<std::pair<std::string, std::string>> split_input_output(std::string_view symbol);

/// Reads a digraph. The conventions (docs/languages.md): a small or shapeless node without arriving arcs whose arcs are
/// unlabelled marks the start; `shape=doublecircle` or `peripheries=2` accepts; a label lists symbols, separated by
/// newlines or by commas outside brackets, ε among them (`EpsilonNames`); when no state accepts and every label is
/// `input/output`, the file is a Mealy machine; `output="…"` on every node, or a record label `name|output`, makes a
/// Moore machine. Labels that all end in a probability are refused. The attributes that `write_dot` adds for exactness
/// (`symbol`, `alphabet`, `outputs`) win over labels. Throws InputError with the line where Graphviz gives one,
/// otherwise naming the node or arc. Thread-safe.
std::variant<Draft, Mealy> read_dot(std::string_view text, std::string_view where, const LanguageOptions& options = {});

/// Writes any automaton, one arc per letter, so that `read_dot` gives back the same automaton: Moore outputs, character
/// classes, any names. For pictures see automata/draw/draw.h.
std::string write_dot(const Dfa& dfa);

/// A Moore machine as AALpy writes one: states are records `{ name | output }`, an acceptor's outputs being reject and
/// accept. Throws InputError for names and outputs that a record cannot hold, and letters that a label cannot.
std::string write_moore_dot(const Dfa& dfa);

/// The pairs as `input/output` labels. Throws InputError when an input's name contains a slash, or a name cannot stand
/// in a label.
std::string write_dot(const Mealy& mealy);

/// Graphviz keeps global state in its parser, its error channel and its layout: whoever calls it holds this.
std::mutex& graphviz_mutex();

}  // namespace krohn
