#include "krohn/automata/language.h"

#include <filesystem>

#include "krohn/automata/formats/formats.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/syntax/expression.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/automata/syntax/temporal.h"
#include "krohn/groups/base/error.h"

namespace krohn {

namespace {

RegexOptions regex_options(const LanguageOptions& options) {
  RegexOptions regex;
  if (options.alphabet) regex.alphabet = parse_alphabet(*options.alphabet);
  regex.max_states = options.max_states;
  return regex;
}

RegexOptions search_options(const LanguageOptions& options) {
  RegexOptions regex = regex_options(options);
  regex.search = true;
  return regex;
}

TemporalOptions temporal_options(const LanguageOptions& options) {
  TemporalOptions temporal;
  temporal.max_states = options.max_states;
  if (options.alphabet == kValuationsAlphabet)
    temporal.propositions = Propositions::kValuations;
  else if (options.alphabet)
    temporal.alphabet = parse_alphabet(*options.alphabet);
  return temporal;
}

void require_start(const Dfa& dfa, const std::string& language, const LanguageOptions& options) {
  if (!dfa.has_start() && !options.start_is_optional)
    throw InputError(language,
                     "a transformation semigroup, which begins in no state of its own; add initial := 1; to the "
                     "file to read words from point 1");
}

}  // namespace

Dfa load_language(const std::string& language, const LanguageOptions& options) {
  const std::string_view text = language;
  if (text.starts_with(kRegexPrefix)) return parse_regex(text.substr(kRegexPrefix.size()), regex_options(options));
  if (text.starts_with(kSearchPrefix)) return parse_regex(text.substr(kSearchPrefix.size()), search_options(options));
  if (text.starts_with(kNamePrefix)) return named_language(text.substr(kNamePrefix.size()), options);
  if (text.starts_with(kTemporalPrefix))
    return ltlf_automaton(text.substr(kTemporalPrefix.size()), temporal_options(options));
  if (text.starts_with(kPastPrefix))
    return past_ltl_automaton(text.substr(kPastPrefix.size()), temporal_options(options));
  if (text.starts_with(kExpressionPrefix))
    return minimise(to_dfa(load_expression(text.substr(kExpressionPrefix.size()), options), options.max_states));
  Dfa dfa = read_automaton_file(language, options);
  require_start(dfa, language, options);
  return dfa;
}

Automaton load_automaton(const std::string& language, const LanguageOptions& options) {
  const std::string_view text = language;
  if (text.starts_with(kRegexPrefix))
    return parse_regex_as_it_is(text.substr(kRegexPrefix.size()), regex_options(options));
  if (text.starts_with(kSearchPrefix))
    return parse_regex_as_it_is(text.substr(kSearchPrefix.size()), search_options(options));
  if (text.starts_with(kExpressionPrefix)) return load_expression(text.substr(kExpressionPrefix.size()), options);
  if (!prefix_of_language(language).empty()) return load_language(language, options);
  Automaton automaton = read_automaton_as_it_is(language, options);
  if (const auto* dfa = std::get_if<Dfa>(&automaton)) require_start(*dfa, language, options);
  return automaton;
}

std::vector<std::string> files_of_language(const std::string& language, const LanguageOptions& options) {
  std::vector<std::string> files;
  if (options.symbols) files.push_back(*options.symbols);
  if (language.starts_with(kExpressionPrefix)) try {
      evaluate_expression(std::string_view(language).substr(kExpressionPrefix.size()), [&](const std::string& operand) {
        for (std::string& file : files_of_language(operand)) files.push_back(std::move(file));
        return Dfa::acceptor(Alphabet::of_characters("a"), {0}, 0, {false});
      });
    } catch (const Error&) {  // no expression: reading it says so
    }
  if (!prefix_of_language(language).empty() || language == "-") return files;
  files.push_back(language);
  for (std::string& table : symbol_tables_beside(language)) files.push_back(std::move(table));
  // Those in the folders of a checkpoint and of `compile --target torch`.
  for (const char* file : {"automaton.json", "model.safetensors"})
    files.push_back((std::filesystem::path(language) / file).string());
  return files;
}

Automaton load_expression(std::string_view expression, const LanguageOptions& options) {
  // Only formulas know valuations; the other operands have the letters that they name.
  LanguageOptions others = options;
  if (options.alphabet == kValuationsAlphabet) others.alphabet.reset();
  ExpressionOptions evaluation;
  if (others.alphabet) evaluation.alphabet = parse_alphabet(*others.alphabet);
  evaluation.max_states = options.max_states;
  return evaluate_expression(
      expression,
      [&](const std::string& language) {
        return load_automaton(language, is_temporal(prefix_of_language(language)) ? options : others);
      },
      evaluation);
}

}  // namespace krohn
