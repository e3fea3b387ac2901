// krohn combine — the language of an expression over languages.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/expression.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct CombineArguments {
  std::string expression, output, to;
  LanguageOptions reading;
  WriteOptions writing;
  bool json = false;
};

void print(const CombineArguments& options, const Dfa& dfa) {
  const auto word = shortest_accepted_word(dfa);
  if (options.json) {
    Json json{{"expression", options.expression}, {"states", dfa.states()}, {"letters", dfa.alphabet().names()}};
    json["empty"] = !word;
    json["finite"] = is_finite(dfa);
    json["universal"] = is_universal(dfa);
    if (word) json["shortest_accepted_word"] = dfa.alphabet().format_word(*word);
    return print_json(json);
  }
  fmt::print("{}", format_table({{"states", fmt::format("{}, minimal", with_thousands(dfa.states()))},
                                 {"letters", to_string(dfa.alphabet())},
                                 {"language", !word               ? "empty"
                                              : is_universal(dfa) ? "every word"
                                              : is_finite(dfa)    ? "finite"
                                                                  : "infinite"},
                                 {"shortest", word ? quoted_word(dfa.alphabet(), *word) : "no word"}}));
}

int combine(const CombineArguments& options) {
  std::optional<FileFormat> format;
  if (!options.to.empty()) format = format_of_extension(options.to);
  if (options.output == "-" && !format) throw InputError("--to", "standard output has no extension: name the format");
  const Dfa dfa = minimise(to_dfa(load_expression(options.expression, options.reading), options.reading.max_states));
  if (options.output.empty() || options.json) print(options, dfa);
  if (!options.output.empty()) write_automaton_file(dfa, options.output, format, options.writing);
  return kDone;
}

}  // namespace

Work add_combine(Verb& verb) {
  const auto options = std::make_shared<CombineArguments>();
  verb.add_option("EXPRESSION", options->expression, "Languages with operators between them").required();
  verb.add_option("-o,--output", options->output, "Where to write the automaton, - for standard output")
      .type_name("FILE");
  verb.add_option("--to", options->to, "Format to write, instead of FILE's extension")
      .one_of(format_names(/*to_write=*/true));
  add_count(verb, "--longest", options->writing.longest_regex, "Most bytes of a regular expression");
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  return [options] { return combine(*options); };
}

}  // namespace krohn
