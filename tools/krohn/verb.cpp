#include "tools/krohn/verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/order.h"
#include "tools/krohn/help.h"
#include "tools/krohn/report/output.h"

namespace krohn {

Work add_info(Verb&), add_classify(Verb&), add_decompose(Verb&), add_compile(Verb&), add_smallest(Verb&),
    add_run(Verb&), add_verify(Verb&), add_check(Verb&), add_probe(Verb&), add_draw(Verb&), add_convert(Verb&),
    add_equal(Verb&), add_included(Verb&), add_disjoint(Verb&), add_empty(Verb&), add_combine(Verb&), add_words(Verb&),
    add_elements(Verb&), add_tasks(Verb&), add_train(Verb&), add_import(Verb&), add_eval(Verb&), add_extract(Verb&),
    add_compare(Verb&), add_snap(Verb&), add_table(Verb&), add_merge(Verb&), add_audit(Verb&), add_kit(Verb&),
    add_report(Verb&), add_completion(Verb&);

namespace {

thread_local VerbLimits limits_given;
thread_local std::string work_given;

constexpr std::uint64_t kUsualMemory = std::uint64_t{4} << 30;

/// A verb, what it does while it works, and the limits that it has where the command line says nothing. Its help page
/// is tools/krohn/help/NAME.md: a heading with a summary for the list of verbs, the synopsis and the examples as
/// indented lines, and the description.
struct VerbEntry {
  const char* name;
  Work (*add)(Verb& verb);  ///< its options
  const char* doing;
  VerbLimits usual{};
  bool has_own_memory = false;  ///< --memory means something else there
};

constexpr VerbEntry kVerbs[] = {
    {"info", add_info, "gathering facts about", {60, kUsualMemory}},
    {"classify", add_classify, "classifying", {60, kUsualMemory}},
    {"decompose", add_decompose, "decomposing", {60, kUsualMemory}},
    {"compile", add_compile, "compiling"},
    {"smallest", add_smallest, "looking for bounds of", {60, kUsualMemory}},
    {"run", add_run, "running"},
    {"verify", add_verify, "verifying", {}, true},
    {"check", add_check, "checking"},
    {"probe", add_probe, "probing"},
    {"draw", add_draw, "drawing"},
    {"convert", add_convert, "converting"},
    {"equal", add_equal, "comparing", {300, 0}},
    {"included", add_included, "comparing", {300, 0}},
    {"disjoint", add_disjoint, "comparing", {300, 0}},
    {"empty", add_empty, "looking for a word of", {300, 0}},
    {"combine", add_combine, "combining", {300, 0}},
    {"words", add_words, "listing words of"},
    {"elements", add_elements, "enumerating elements of", {60, kUsualMemory}},
    {"tasks", add_tasks, "writing samples of"},
    {"train", add_train, "training"},
    {"import", add_import, "importing"},
    {"eval", add_eval, "measuring"},
    {"extract", add_extract, "extracting the automaton of"},
    {"compare", add_compare, "comparing"},
    {"snap", add_snap, "snapping"},
    {"table", add_table, "measuring"},
    {"merge", add_merge, "merging"},
    {"audit", add_audit, "auditing"},
    {"kit", add_kit, "writing models for"},
    {"report", add_report, "reporting on", {60, 0}},
    {"completion", add_completion, "completing"},
};

/// The work of the verb with its object, where the command line names one.
std::string work_of(const CLI::App& verb, std::string doing) {
  for (const CLI::Option* option : verb.get_options())
    if (option->get_positional() && option->count() > 0)
      return doing + " " + shortened(visible(option->results()[0]), 60);
  for (const char* preposition : {" of", " for", " about", " on"})
    if (doing.ends_with(preposition)) doing.resize(doing.rfind(' '));
  return doing;
}

void add_limits(Verb& options, const VerbEntry& verb) {
  options.begin_group("Limits");
  options.add_option("--time", limits_given.seconds, "Most seconds in all")
      .type_name("SECONDS")
      .positive()
      .show_default(verb.usual.seconds > 0 ? fmt::format("{:g}", verb.usual.seconds) : "no limit");
  if (!verb.has_own_memory)
    add_size(options, "--memory", limits_given.memory, "Most memory: bytes, or 500M, 8G")
        .show_default(verb.usual.memory > 0 ? size_text(verb.usual.memory) : "no limit");
}

}  // namespace

VerbLimits& given_limits() { return limits_given; }
const std::string& given_work() { return work_given; }

void build_command(CLI::App& app, Work& chosen) {
  app.name("krohn");
  app.formatter(std::make_shared<CommandFormatter>());
  app.set_version_flag("--version", "krohn " KROHN_VERSION, "Print the version");
  app.require_subcommand(1);
  limits_given = {};
  for (const VerbEntry& entry : kVerbs) {
    VerbHelp help = verb_help(entry.name);
    CLI::App* const added = app.add_subcommand(entry.name, help.summary);
    added->set_help_flag("-h,--help", "Print this page");
    added->formatter(std::make_shared<VerbFormatter>(std::move(help)));
    Verb verb(added);
    const Work work = entry.add(verb);
    if (!added->get_prefix_command()) add_limits(verb, entry);
    added->callback([&chosen, &entry, added, work, prepare = verb.prepare_] {
      if (limits_given.seconds == 0) limits_given.seconds = entry.usual.seconds;
      if (limits_given.memory == 0) limits_given.memory = entry.usual.memory;
      work_given = work_of(*added, entry.doing);
      if (prepare) prepare();
      chosen = work;
    });
  }
}

void add_language_options(Verb& verb, LanguageOptions& options) {
  verb.begin_group("Reading a language");
  verb.add_option("--alphabet", options.alphabet,
                  "Letters of a regex: ab, a-z0-9, bytes, unicode, or \"SYN ACK FIN\"; of a formula also valuations");
  verb.add_option("--symbols", options.symbols, "OpenFst symbol table of an .att file").existing_file();
  verb.add_option("--format", options.format, "Format of the file, instead of its extension").one_of(format_names());
  verb.add_option(
      "--generators", options.generators,
      "Letters of a group: standard, all, transpositions, adjacent, swaps, 3-cycles, or cycles \"(1 2),(1 2 3)\"");
  verb.add_option("--epsilon", options.epsilon,
                  "The one name of the empty word in AT&T text, DOT, JFLAP and mata files, instead of <eps>, @0@, ε, …")
      .type_name("NAME");
  verb.add_flag("--no-epsilon", options.no_epsilon, "Every label there is a letter, whatever its name");
  verb.add_option("--semigroup", options.semigroup, "The variable of the semigroup, in GAP text with several")
      .type_name("NAME");
  verb.add_flag("--mealy-as-labels", options.mealy_as_labels, "Read input/output labels of DOT as plain letters");
  add_count(verb, "--max-states", options.max_states, "Most states of any automaton on the way");
}

nlohmann::ordered_json language_options_json(const LanguageOptions& options) {
  return Verb(add_language_options, options).options_json(/*only_unusual=*/true);
}

std::string language_options_text(const nlohmann::ordered_json& json) {
  return Verb(add_language_options, LanguageOptions{}).options_text(json);
}

void add_json_flag(Verb& verb, bool& json) { verb.add_flag("--json", json, "Print JSON, for programs"); }

void require_output(const std::string& output, const std::string& thing, const std::string& example,
                    const std::string& besides) {
  if (output.empty()) throw InputError("nowhere to write " + thing + ": add `-o " + example + "`" + besides);
}

VerbOption add_device(Verb& verb, std::string& device, const std::string& description) {
  return verb.add_option("--device", device, description).one_of({"auto", "cpu", "cuda"});
}

VerbOption add_size(Verb& verb, const std::string& name, std::uint64_t& target, const std::string& description) {
  return verb
      .add_option(
          name, [&target, name](const std::string& text) { target = parse_size(text, name); }, description)
      .type_name("SIZE")
      .show_default(size_text(target));
}

VerbOption add_seed(Verb& verb, std::uint64_t& seed) {
  return add_count(verb, "--seed", seed, "Seed of the random words");
}

VerbOption add_threads(Verb& verb, unsigned& threads) {
  return verb.add_option("--threads", threads, "Threads; 0 takes every core").at_most(4096);
}

VerbOption add_count(Verb& verb, const std::string& name, std::uint64_t& target, const std::string& description) {
  return verb
      .add_option(
          name, [&target, name](const std::string& text) { target = parse_count(text, name); }, description,
          [&target] { return nlohmann::ordered_json(target); })
      .type_name("COUNT")
      .show_default(with_thousands(target));
}

VerbOption add_optional_count(Verb& verb, const std::string& name, std::optional<std::uint64_t>& target,
                              const std::string& description) {
  return verb
      .add_option(
          name, [&target, name](const std::string& text) { target = parse_count(text, name); }, description,
          [&target] { return target ? nlohmann::ordered_json(*target) : nlohmann::ordered_json(); })
      .type_name("COUNT");
}

VerbOption add_precision(Verb& verb, std::string& precision, const std::string& description) {
  return verb.add_option("--precision", precision, description).one_of({"fp64", "fp32", "fp16", "bf16"});
}

VerbOption add_arithmetic(Verb& verb, std::string& arithmetic, const std::string& description) {
  std::vector<std::string> names;
  for (const ArithmeticName name : ArithmeticName::all()) names.push_back(to_string(name));
  names.push_back(to_string(ArithmeticName::exact()));
  for (const ArithmeticName name : kIntegerTypes) names.push_back(to_string(name));
  return verb
      .add_option("--precision", arithmetic,
                  description +
                      ": fp64, fp32, fp16 or bf16; with +fma; fp16/fp32 or bf16/fp32 (accumulated); tf32; exact; "
                      "integers u8, i8, u16, i16, u32, i32, wrapping around or with -saturating")
      .one_of(names);
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
