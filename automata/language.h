// automata/language.h — what the user writes for a language: a file, `regex:…`, or `name:…`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/language_options.h"

namespace krohn {

/// Reads a language: `regex:E`, `search:E` (words in which E matches somewhere), `name:N`, `expr:X`
/// (automata/syntax/expression.h), `ltlf:F`, `pltl:F` (automata/syntax/temporal.h), or a path of a .dot .gv .att
/// .fsm .mata .jff .json file ("-": standard input; other names: what the content looks like). A nondeterministic file
/// is determinised, a Mealy machine becomes the Moore machine of its last output (automata/formats/formats.h). The
/// result is complete and exactly what was given, not minimised; a semigroup, which has no initial state, is refused
/// unless `options.start_is_optional`. Throws InputError, LimitError, SystemError.
Dfa load_language(const std::string& language, const LanguageOptions& options = {});

/// The same, but what is nondeterministic stays so where determinising would make it far larger. For what can do
/// without: questions about two languages, expressions.
Automaton load_automaton(const std::string& language, const LanguageOptions& options = {});

/// The value of an expression over such languages, without `expr:` before it.
Automaton load_expression(std::string_view expression, const LanguageOptions& options = {});

/// The files whose bytes decide what `language` is, whether they are there or not: its own, a symbol table, those that
/// an expression names. None where the name says all.
std::vector<std::string> files_of_language(const std::string& language, const LanguageOptions& options = {});

/// The automaton of a family: "parity", "sum5", "evenpair5", "modarith5", "ltrarith5", "tomita3", "Z60", "S5",
/// "random:m=10,seed=1", … `krohn tasks --list` prints them all with a line each. Throws InputError naming near misses.
Dfa named_language(std::string_view name, const LanguageOptions& options = {});

}  // namespace krohn
