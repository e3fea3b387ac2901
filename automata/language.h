// automata/language.h — what the user writes for a language: a file, `regex:…`, or `name:…`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "automata/dfa.h"

namespace krohn {

struct LanguageOptions {
  /// For regex: "ab", "a-z0-9", "bytes", "unicode", or names separated by white space.
  std::optional<std::string> alphabet;
  /// Path of an OpenFst symbol table for .att files.
  std::optional<std::string> symbols;
  /// Overrides the file extension: dot att mata jff json.
  std::optional<std::string> format;
  /// For groups: "transpositions", "all", "standard", or cycles "(1 2),(1 2 3)".
  std::optional<std::string> generators;
  /// Read the "input/output" arcs of a Mealy machine in DOT as plain letters instead of outputs.
  bool mealy_as_labels = false;
  std::uint64_t max_states = 10'000'000;
};

/// Reads a language: `regex:E`, `name:N`, or a path of a .dot .gv .att .fsm .mata .jff .json file ("-": standard input;
/// other names: what the content looks like). A nondeterministic file is determinised, a Mealy machine becomes the
/// Moore machine of its last output (automata/mealy.h). The result is complete and exactly what was given, not
/// minimised. Throws InputError, LimitError, SystemError.
Dfa load_language(const std::string& language, const LanguageOptions& options = {});

/// The automaton of a family: "parity", "sum5", "evenpair5", "modarith5", "ltrarith5", "tomita3", "Z60", "S5",
/// "random:m=10,seed=1", … `krohn tasks --list` prints them all with a line each. Throws InputError naming near misses.
Dfa named_language(std::string_view name, const LanguageOptions& options = {});

}  // namespace krohn
