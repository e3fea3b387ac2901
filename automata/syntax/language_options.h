// automata/syntax/language_options.h — how a language that a user names is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace krohn {

/// How a language that is no file begins.
inline constexpr std::string_view kRegexPrefix = "regex:", kSearchPrefix = "search:", kNamePrefix = "name:",
                                  kExpressionPrefix = "expr:", kTemporalPrefix = "ltlf:", kPastPrefix = "pltl:";

/// Returns the one of these with which `language` begins, or nothing.
constexpr std::string_view prefix_of_language(std::string_view language) {
  for (const std::string_view prefix :
       {kRegexPrefix, kSearchPrefix, kNamePrefix, kExpressionPrefix, kTemporalPrefix, kPastPrefix})
    if (language.starts_with(prefix)) return prefix;
  return {};
}

constexpr bool is_temporal(std::string_view prefix) { return prefix == kTemporalPrefix || prefix == kPastPrefix; }

struct LanguageOptions {
  /// For regex: "ab", "a-z0-9", "bytes", "unicode", or names separated by white space.
  std::optional<std::string> alphabet;
  /// Path of an OpenFst symbol table for .att files.
  std::optional<std::string> symbols;
  /// Overrides the file extension: dot, att, mata, jff, json, gap, regex.
  std::optional<std::string> format;
  /// For groups: "transpositions", "all", "standard", or cycles "(1 2),(1 2 3)".
  std::optional<std::string> generators;
  /// The one name of the empty word in AT&T text, DOT, JFLAP and mata files, instead of those that programs give it.
  std::optional<std::string> epsilon;
  /// In these files every label is a letter, whatever it is called.
  bool no_epsilon = false;
  /// For GAP text with several: the variable that holds the semigroup.
  std::optional<std::string> semigroup;
  /// Take a transformation semigroup, which has no initial state, as it is; otherwise it is refused.
  bool start_is_optional = false;
  /// Read the "input/output" arcs of a Mealy machine in DOT as plain letters instead of outputs.
  bool mealy_as_labels = false;
  std::uint64_t max_states = 10'000'000;
};

}  // namespace krohn
