#include "tools/krohn/subject.h"

#include "krohn/automata/regex/regex.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

/// A file that holds one regular expression, with or without a final line break.
Dfa load_expression(const std::string& path, const LanguageOptions& options) {
  std::string expression = read_file(path);
  while (expression.ends_with('\n') || expression.ends_with('\r')) expression.pop_back();
  RegexOptions regex;
  if (options.alphabet) regex.alphabet = parse_alphabet(*options.alphabet);
  regex.max_states = options.max_states;
  try {
    return parse_regex(expression, regex);
  } catch (const InputError& error) {
    throw InputError(path, error.what());
  }
}

}  // namespace

bool is_model_name(const std::string& name) {
  constexpr std::string_view extension = ".safetensors";
  return name.size() > extension.size() && name.ends_with(extension);
}

Subject load_subject(const std::string& name, const LanguageOptions& options) {
  if (options.format == "regex") return {name, load_expression(name, options), std::nullopt};
  if (!is_model_name(name)) return {name, load_language(name, options), std::nullopt};
  Network network = load_network(name);
  Dfa automaton = network.automaton;
  return {name, std::move(automaton), std::move(network)};
}

}  // namespace krohn
