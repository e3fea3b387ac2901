#include "tools/krohn/verb.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "krohn/automata/formats/format_file.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/order.h"
#include "tools/krohn/help.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/shards/array_script.h"

namespace krohn {

Verb add_verb(CLI::App& app, const VerbHelp& help) {
  CLI::App* verb = app.add_subcommand(help.name, help.summary);
  verb->set_help_flag("-h,--help", "Print this page");
  verb->formatter(std::make_shared<VerbFormatter>(help));
  return Verb(verb);
}

void add_missing_verb(CLI::App& app, Work& chosen, const char* name, Work answer) {
  CLI::App* verb = app.add_subcommand(name, "(not in this first build)");
  verb->set_help_flag();
  verb->prefix_command();
  verb->callback([&chosen, answer = std::move(answer)] { chosen = answer; });
}

void build_command(CLI::App& app, Work& chosen) {
  app.name("krohn");
  app.formatter(std::make_shared<CommandFormatter>());
  app.set_version_flag("--version", "krohn " KROHN_VERSION, "Print the version");
  app.require_subcommand(1);
  for (const auto add : {
           // clang-format off
           add_info,
           add_classify,
           add_decompose,
           add_compile,
           add_smallest,
           add_run,
           add_verify,
           add_check,
           add_probe,
           add_draw,
           add_convert,
           add_equal,
           add_included,
           add_disjoint,
           add_empty,
           add_combine,
           add_words,
           add_elements,
           add_tasks,
           add_train,
           add_import,
           add_eval,
           add_extract,
           add_compare,
           add_snap,
           add_table,
           add_merge,
           add_audit,
           add_kit,
           add_report,
           add_completion,
           // clang-format on
       })
    add(app, chosen);
}

void add_language_options(Verb& verb, LanguageOptions& options) {
  const std::string group = "Reading a language";
  verb.add_option("--alphabet", options.alphabet,
                  "Letters of a regex: ab, a-z0-9, bytes, unicode, or \"SYN ACK FIN\"; of a formula also valuations")
      .group(group);
  verb.add_option("--symbols", options.symbols, "OpenFst symbol table of an .att file").existing_file().group(group);
  verb.add_option("--format", options.format, "Format of the file, instead of its extension")
      .one_of(format_names())
      .group(group);
  verb.add_option(
          "--generators", options.generators,
          "Letters of a group: standard, all, transpositions, adjacent, swaps, 3-cycles, or cycles \"(1 2),(1 2 3)\"")
      .group(group);
  verb.add_option("--epsilon", options.epsilon,
                  "The one name of the empty word in AT&T text, DOT, JFLAP and mata files, instead of <eps>, @0@, ε, …")
      .type_name("NAME")
      .group(group);
  verb.add_flag("--no-epsilon", options.no_epsilon, "Every label there is a letter, whatever its name").group(group);
  verb.add_option("--semigroup", options.semigroup, "The variable of the semigroup, in GAP text with several")
      .type_name("NAME")
      .group(group);
  verb.add_flag("--mealy-as-labels", options.mealy_as_labels, "Read input/output labels of DOT as plain letters")
      .group(group);
  add_count(verb, "--max-states", options.max_states, "Most states of any automaton on the way").group(group);
}

nlohmann::ordered_json language_options_json(const LanguageOptions& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  const auto add = [&json](const char* name, const std::optional<std::string>& value) {
    if (value) json[name] = *value;
  };
  add("alphabet", options.alphabet);
  add("symbols", options.symbols);
  add("format", options.format);
  add("generators", options.generators);
  add("epsilon", options.epsilon);
  if (options.no_epsilon) json["no_epsilon"] = true;
  add("semigroup", options.semigroup);
  if (options.mealy_as_labels) json["mealy_as_labels"] = true;
  if (options.max_states != LanguageOptions{}.max_states) json["max_states"] = options.max_states;
  return json;
}

std::string language_options_text(const nlohmann::ordered_json& options) {
  std::string text;
  for (const auto& [name, value] : options.items()) {
    std::string option = name;
    std::ranges::replace(option, '_', '-');
    text += " --" + option;
    if (value.is_string()) text += " " + shell_word(value.get<std::string>());
    if (value.is_number()) text += " " + value.dump();
  }
  return text;
}

void add_json_flag(Verb& verb, bool& json) { verb.add_flag("--json", json, "Print JSON, for programs"); }

void require_output(const std::string& output, const std::string& thing, const std::string& example,
                    const std::string& besides) {
  if (output.empty()) throw InputError("nowhere to write " + thing + ": add `-o " + example + "`" + besides);
}

VerbOption add_device(Verb& verb, std::string& device, const std::string& description) {
  return verb.add_option("--device", device, description).one_of({"auto", "cpu", "cuda"}).show_default();
}

VerbOption add_time(Verb& verb, double& seconds, const std::string& description) {
  return verb.add_option("--time", seconds, description).type_name("SECONDS").positive();
}

VerbOption add_seed(Verb& verb, std::uint64_t& seed) {
  return add_count(verb, "--seed", seed, "Seed of the random words");
}

VerbOption add_threads(Verb& verb, unsigned& threads) {
  return verb.add_option("--threads", threads, "Threads; 0 takes every core").at_most(4096).show_default();
}

VerbOption add_count(Verb& verb, const std::string& name, std::uint64_t& target, const std::string& description) {
  return verb
      .add_option(
          name, [&target, name](const std::string& text) { target = parse_count(text, name); }, description)
      .type_name("COUNT")
      .show_default(with_thousands(target));
}

VerbOption add_optional_count(Verb& verb, const std::string& name, std::optional<std::uint64_t>& target,
                              const std::string& description) {
  return verb
      .add_option(
          name, [&target, name](const std::string& text) { target = parse_count(text, name); }, description)
      .type_name("COUNT");
}

VerbOption add_precision(Verb& verb, std::string& precision, const std::string& description) {
  return verb.add_option("--precision", precision, description)
      .one_of({"fp64", "fp32", "fp16", "bf16"})
      .show_default(precision);
}

VerbOption add_arithmetic(Verb& verb, std::string& arithmetic, const std::string& description) {
  std::vector<std::string> names;
  for (const ArithmeticName name : ArithmeticName::all()) names.push_back(to_string(name));
  names.push_back(to_string(ArithmeticName::exact()));
  return verb
      .add_option(
          "--precision", arithmetic,
          description + ": fp64, fp32, fp16 or bf16; with +fma; fp16/fp32 or bf16/fp32 (accumulated); tf32; exact")
      .one_of(names)
      .show_default(arithmetic);
}

VerbOption add_order(Verb& verb, std::string& order) {
  return verb
      .add_option("--order", order,
                  "sequential, chunked[:LETTERS], scan[:LETTERS] (Blelloch), doubling[:LETTERS] (Fan)")
      .type_name("ORDER")
      .checked([](const std::string& text) {
        try {
          parse_order(text);
        } catch (const InputError& error) {
          return std::string(error.what());
        }
        return std::string();
      })
      .show_default(order);
}

}  // namespace krohn
