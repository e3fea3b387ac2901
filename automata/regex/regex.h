// automata/regex/regex.h — regular expressions to automata.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/operations/automaton.h"

namespace krohn {

struct RegexOptions {
  /// The letters; unset: the coarsest classes of the characters and tokens that the expression names (docs/languages.md).
  std::optional<Alphabet> alphabet;
  /// The words in which the expression matches somewhere; its letters are all of Unicode unless `alphabet` says
  /// otherwise.
  bool search = false;
  std::uint64_t max_states = 10'000'000;          ///< of any automaton on the way
  std::uint64_t max_expression_size = 5'000'000;  ///< nodes after unfolding {m,n}
};

/// The minimal canonical automaton of a regular expression, matched against the whole word. Syntax: docs/languages.md.
/// Throws InputError as "regex:COLUMN: …", also past `max_expression_size`; LimitError past `max_states`.
Dfa parse_regex(std::string_view expression, const RegexOptions& options = {});

/// The same language without determinising what does not shrink by it: an expression whose minimal automaton would be
/// far larger than itself stays nondeterministic (`settled`).
Automaton parse_regex_as_it_is(std::string_view expression, const RegexOptions& options = {});

}  // namespace krohn
