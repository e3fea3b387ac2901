// krohn compile — a language to a network file.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/prove/verify_built.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/models/target.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/classification.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct CompileArguments {
  std::string language, output, target = "krohn", task, construction, precision, keys;
  std::optional<std::uint64_t> max_reflections, max_dimension;
  std::uint64_t max_pairs = 1'000'000;
  LanguageOptions reading;
  bool exact = false, any_order = false, explain = false, json = false;
};

/// fp32 unless it is given.
ArithmeticName arithmetic_of(const CompileArguments& options) {
  return ArithmeticName::parse(options.precision.empty() ? "fp32" : options.precision);
}

BuildOptions wishes_of(const CompileArguments& options) {
  BuildOptions wishes;
  if (!options.construction.empty()) wishes.construction = options.construction;
  const ArithmeticName named = arithmetic_of(options);
  wishes.integers = wrapping_integers(named);
  if (!named.is_integer() && !options.precision.empty()) wishes.precision = named.storage();
  if (!options.keys.empty()) wishes.keys = parse_key_style(options.keys);
  if (options.max_reflections) wishes.max_reflections = static_cast<std::int64_t>(*options.max_reflections);
  wishes.max_dimension = options.max_dimension;
  wishes.exact = options.exact;
  return wishes;
}

void check_options(const CompileArguments& options) {
  if (!options.explain || is_checkpoint_target(options.target) || is_cell_target(options.target))
    require_output(options.output, "the network", "MODEL.safetensors", ", or `--explain` to see the choices");
  if (options.output.empty()) return;
  check_output_name(options.target, options.output);
  if (!is_folder_target(options.target)) require_writable(options.output);
}

/// A checkpoint's layers have one construction each.
void refuse_choices(const CompileArguments& options) {
  if (!options.construction.empty() || !options.precision.empty() || !options.keys.empty() || options.exact ||
      options.any_order || options.max_reflections || options.max_dimension || options.explain)
    throw InputError(
        "--target " + options.target,
        "its layers hold one construction; leave out --construction, --precision, --keys, --exact, --explain "
        "and the limits, and prove what was written by `krohn verify FOLDER`");
}

std::string task_of(const CompileArguments& options, const Dfa& dfa) {
  if (!options.task.empty()) return options.task;
  return dfa.is_acceptor() ? "acceptance" : "state";
}

/// The choice for a target that holds some constructions only: the first of them that is possible.
Choice choose_for_target(const Dfa& dfa, BuildOptions wishes, const std::vector<std::string>& held,
                         const CompileArguments& options) {
  Choice choice{plan(dfa, wishes), {}, {}};
  std::string reasons;
  for (const std::string& name : held) {
    const auto row = std::ranges::find(choice.rows, name, &PlanRow::construction);
    if (!row->possible || (options.exact && row->exact_in.empty())) {
      reasons += fmt::format("; {}: {}", name, row->possible ? "not exact" : row->reason);
      continue;
    }
    for (PlanRow& planned : choice.rows) planned.chosen = &planned == &*row;
    wishes.construction = name;
    if (!options.output.empty()) choice.network = build(dfa, wishes);
    return choice;
  }
  throw InputError(options.language, fmt::format("{} cannot hold it{}", options.target, reasons));
}

Choice make_choice(const Dfa& dfa, const BuildOptions& wishes, const CompileArguments& options) {
  if (options.any_order || arithmetic_of(options).is_integer()) {
    CertifyOptions how;
    how.arithmetic = arithmetic_of(options);
    how.any_order = options.any_order && !wishes.integers;
    how.max_pairs = options.max_pairs;
    how.long_letters = 0;
    return choose_by_proof(dfa, wishes, how, options.explain ? PlanRows::kAll : PlanRows::kNeeded,
                           [&](const PlanRow& row, const std::string& refusal) {
                             if (options.explain && !options.json)
                               fmt::print("{}in {}: {}: {}\n", options.any_order ? "in any order, " : "",
                                          options.precision, row.construction,
                                          refusal.empty() ? "proved" : "no: " + refusal);
                           });
  }
  if (options.construction.empty())
    if (const std::vector<std::string> held = target_constructions(options.target); !held.empty())
      return choose_for_target(dfa, wishes, held, options);
  return choose(dfa, wishes, options.explain ? PlanRows::kAll : PlanRows::kNeeded);
}

void report_model(const CompileArguments& options, const std::string& task, const Dfa& dfa, const PlanRow& chosen) {
  const auto layers = counted(chosen.layers, "layer");
  fmt::print("{}: {} by {} ({})\n", options.output.empty() ? "would write" : visible(options.output),
             title(options.language), chosen.construction, chosen.theorem);
  fmt::print("  {} and {} ({}), {}, {} of state\n", counted(dfa.states(), "state"), counted(dfa.letters(), "letter"),
             task == "state" ? "state tracking" : "minimal, for acceptance", layers,
             counted(chosen.state_numbers, "number"));
  if (options.output.empty()) fmt::print("  {}\n", exactness(chosen));
}

/// The written file, and the claims proved about it.
struct Written {
  Network network;
  std::optional<ModelVerdict> verdict;  ///< in the format that its weights were rounded to
  KeptPromise kept;                     ///< without such a format
};

/// The effect of rounding the weights on the network.
ModelVerdict prove(const Network& rounded, const CompileArguments& options) {
  Question question;
  question.subject = &rounded;
  question.name = options.language;
  question.how.arithmetic = arithmetic_of(options);
  question.how.any_order = options.any_order;
  question.how.max_pairs = options.max_pairs;
  question.progress = progress_of_stages();
  return verify(question);
}

/// Nothing is written before it is proved.
Written write(Network network, const PlanRow& chosen, const CompileArguments& options) {
  Written written{std::move(network), {}, {}};
  written.network.provenance.source = options.language;
  if (!options.precision.empty()) {
    const ArithmeticName arithmetic = arithmetic_of(options);
    if (!arithmetic.is_integer()) written.network = quantise(written.network, arithmetic.storage());
    written.verdict = prove(written.network, options);
  } else {
    CertifyOptions limits;
    limits.max_pairs = options.max_pairs;
    written.kept = verify_built(written.network, {chosen.exact_in, chosen.locked_in}, limits, progress_of_stages());
  }
  const Waiting waiting("writing " + visible(options.output));
  write_network(written.network, options.target, options.output);
  return written;
}

void report_model(const Written& written, const CompileArguments& options) {
  const Alphabet& alphabet = written.network.automaton.alphabet();
  if (written.verdict)
    return print_claim(
        fmt::format("{} {}: ", arithmetic_of(options).is_integer() ? "in" : "weights rounded to", options.precision),
        *written.verdict, alphabet);
  for (const std::string& line : in_words(written.kept)) fmt::print("  {}\n", line);
}

nlohmann::ordered_json model_json(const CompileArguments& options, const std::string& task, const Dfa& dfa,
                                  const std::vector<PlanRow>& plans, const PlanRow& chosen) {
  nlohmann::ordered_json json;
  json["language"] = options.language;
  json["task"] = task;
  json["states"] = dfa.states();
  json["letters"] = dfa.letters();
  json["output"] = options.output.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.output);
  json["network"] = plan_to_json(chosen);
  if (options.explain)
    for (const PlanRow& row : plans) json["plans"].push_back(plan_to_json(row));
  return json;
}

int compile(CompileArguments options) {
  if (options.any_order && options.precision.empty()) options.precision = "fp32";
  check_options(options);
  const Subject subject = load_subject(options.language, options.reading, stderr);
  const Dfa& given = subject.automaton;
  if (is_checkpoint_folder(subject.name))
    fmt::print(stderr, "{}: the automaton beside the checkpoint is compiled; its weights are not read\n",
               visible(subject.name));
  const std::string task = task_of(options, given);
  if (task == "state") tell_left_out(subject, options.json);
  const Dfa dfa = task == "state" ? canonical(given) : minimise(given);
  if (is_checkpoint_target(options.target)) {
    refuse_choices(options);
    compile_checkpoint(dfa, options.language, options.target, options.output, options.json);
    if (subject.has_inferred_letters && !options.json)
      fmt::print("  letters {}{}\n", to_string(given.alphabet()), remark_on_letters(subject));
    return kDone;
  }
  if (is_cell_target(options.target)) {
    refuse_choices(options);
    if (options.task == "state")
      throw InputError("--task",
                       "cells answer with the outputs of the language; name a language whose outputs are states");
    return compile_cell(minimise(given),
                        {options.language, options.target, options.output, options.max_pairs, options.json});
  }
  const BuildOptions wishes = wishes_of(options);
  if (arithmetic_of(options).is_integer() && options.target != "krohn")
    throw InputError("--precision " + options.precision,
                     "what other frameworks load computes in floating point; leave out --target");
  Choice choice = [&] {
    const Waiting waiting(fmt::format("building a construction of {} states", with_thousands(dfa.states())));
    return make_choice(dfa, wishes, options);
  }();
  const PlanRow* chosen = choice.chosen();
  if (options.explain && !options.json) fmt::print("{}", plan_table(choice.rows));
  if (chosen == nullptr && options.explain && options.output.empty() && !options.json && !options.any_order)
    return kDone;
  if (chosen == nullptr) std::rethrow_exception(choice.failure);
  std::optional<Written> written;
  if (!options.output.empty()) written = write(*std::move(choice.network), *chosen, options);
  if (options.json) {
    auto json = model_json(options, task, dfa, choice.rows, *chosen);
    if (written && written->verdict) add_verdict(json, *written->verdict, dfa.alphabet());
    if (written && !written->verdict) json["proved"] = kept_to_json(written->kept);
    print_json(json);
  } else {
    report_model(options, task, dfa, *chosen);
    if (subject.has_inferred_letters)
      fmt::print("  letters {}{}\n", to_string(given.alphabet()), remark_on_letters(subject));
    if (written) report_model(*written, options);
  }
  return written && written->verdict ? exit_status(written->verdict->certificate, 0) : int{kDone};
}

}  // namespace

Work add_compile(Verb& verb) {
  const auto options = std::make_shared<CompileArguments>();
  verb.add_option("LANGUAGE", options->language, "A file, regex:…, or name:…").required();
  verb.add_option("-o,--output", options->output, "The .safetensors file to write, or the folder of a --target")
      .type_name("FILE");
  verb.add_option(
          "--target", [options](const std::string& text) { options->target = parse_target(text); },
          "Which framework is to load it")
      .suggests(target_names())
      .show_default("krohn");
  verb.add_option("--task", options->task, "What the network has to get right").one_of({"acceptance", "state"});
  verb.begin_group("Choosing a construction");
  verb.add_option("--construction", options->construction, "Take this one of --explain's table")
      .one_of(construction_names());
  std::vector<std::string> precisions{"fp64", "fp32", "fp16", "bf16"};
  for (const IntegerType& type : kIntegerTypes) precisions.push_back(to_string(ArithmeticName(type)));
  verb.add_option("--precision", options->precision,
                  "Round the weights to this format, and prove; or take integers, wrapping around or saturating")
      .one_of(precisions);
  verb.add_flag("--exact", options->exact, "Only constructions that are exact for words of every length");
  verb.add_flag("--any-order", options->any_order, "Only constructions that no order of evaluation changes, proved");
  verb.add_option("--keys", options->keys, "How reflections are written").one_of({"unit", "unnormalised", "doubled"});
  add_optional_count(verb, "--max-reflections", options->max_reflections, "Most reflections per token in a layer");
  add_optional_count(verb, "--max-dimension", options->max_dimension, "Most numbers of state");
  add_count(verb, "--max-pairs", options->max_pairs, "Most pairs of states to examine in the proof");
  verb.begin_group();
  verb.add_flag("--explain", options->explain, "Print the table of constructions");
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  return [options] { return compile(*options); };
}

}  // namespace krohn
