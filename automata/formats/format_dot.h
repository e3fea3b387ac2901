// automata/formats/format_dot.h — automata as Graphviz DOT, read through Graphviz' own parser (cgraph).
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <variant>

#include "krohn/automata/formats/format_draft.h"
#include "krohn/automata/formats/mealy.h"

namespace krohn {

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
