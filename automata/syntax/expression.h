// automata/syntax/expression.h — languages from languages, as users write them: `a.att & ~(b.dot | regex:a*)`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "krohn/automata/operations/operations.h"

namespace krohn {

/// Reads one LANGUAGE of an expression: a file, `regex:…` or `name:…`.
using LanguageReader = std::function<Automaton(const std::string& language)>;

struct ExpressionOptions {
  std::optional<Alphabet> alphabet;       ///< letters besides those of the languages
  std::uint64_t max_states = 10'000'000;  ///< of any automaton on the way
};

/// The value of an expression (docs/languages.md). All its languages are first read over the letters of all of them
/// together, so `~` means: every other word over these. Operands stay nondeterministic where that is much smaller;
/// complement determinises. Throws InputError as "expression:COLUMN: …", LimitError past `max_states`, and what
/// `read` throws.
Automaton evaluate_expression(std::string_view expression, const LanguageReader& read,
                              const ExpressionOptions& options = {});

}  // namespace krohn
