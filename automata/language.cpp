#include "krohn/automata/language.h"

#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/regex/regex.h"

namespace krohn {

namespace {

constexpr std::string_view kRegexPrefix = "regex:", kNamePrefix = "name:";

Dfa load_regex(std::string_view expression, const LanguageOptions& options) {
  RegexOptions regex;
  if (options.alphabet) regex.alphabet = parse_alphabet(*options.alphabet);
  regex.max_states = options.max_states;
  return parse_regex(expression, regex);
}

}  // namespace

Dfa load_language(const std::string& language, const LanguageOptions& options) {
  const std::string_view text = language;
  if (text.starts_with(kRegexPrefix)) return load_regex(text.substr(kRegexPrefix.size()), options);
  if (text.starts_with(kNamePrefix)) return named_language(text.substr(kNamePrefix.size()), options);
  return read_automaton_file(language, options);
}

}  // namespace krohn
