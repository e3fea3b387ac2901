// krohn report — one HTML file about a language or a model, for people to look at and to step through.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/page_data.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/shards/list_work.h"
#include "tools/krohn/training/training_job.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct ReportArguments {
  std::string subject, output, precision = "fp32", construction;
  std::vector<std::string> lengths;
  std::uint64_t max_pairs = 1'000'000, words = 100;
  LanguageOptions reading;
  bool any_order = false, json = false;
};

/// The language as it was named, with the options that say how it is read.
std::string language_argument(const ReportArguments& options) {
  return shell_word(options.subject) + language_options_text(language_options_json(options.reading));
}

/// As `krohn compile` takes it: acceptors for their answers, other machines for their states.
void compile_subject(const ReportArguments& options, Findings& findings, const Dfa& given) {
  findings.automaton = given.is_acceptor() ? minimise(given) : canonical(given);
  findings.language = language_argument(options);
  BuildOptions wishes;
  if (!options.construction.empty()) wishes.construction = options.construction;
  Choice choice = choose(findings.automaton, wishes, PlanRows::kAll);
  findings.plans = std::move(choice.rows);
  if (choice.network) {
    findings.network = std::move(choice.network);
    findings.network->provenance.source = options.subject;
    return;
  }
  // A construction that was asked for by name has to be there; otherwise the page says why none is.
  if (!options.construction.empty()) std::rethrow_exception(choice.failure);
  try {
    std::rethrow_exception(choice.failure);
  } catch (const Error& error) {
    findings.no_network = error.what();
  }
}

/// The construction that the model came from stands out among those that its automaton admits.
void take_model(const ReportArguments& options, Findings& findings, Network network) {
  if (!options.construction.empty())
    throw InputError("--construction", "is for a LANGUAGE; a MODEL has its construction");
  findings.automaton = network.automaton;
  network.provenance.source = source_in_words(network, options.reading);  // the page tells it
  findings.plans = plan(findings.automaton, {});
  for (PlanRow& row : findings.plans) row.chosen = row.construction == network.provenance.construction;
  findings.network = std::move(network);
}

std::string how_in_words(const ReportArguments& options) {
  return fmt::format(" --precision {}{}", options.precision, options.any_order ? " --any-order" : "");
}

std::vector<std::string> commands_for(const ReportArguments& options, const Findings& findings) {
  const std::string page = shell_word(options.output);
  const std::string base = shell_word(std::filesystem::path(options.output).stem().string());
  const std::string how = how_in_words(options);
  const std::string choice = options.construction.empty() ? "" : " --construction " + options.construction;
  std::string model = base + ".safetensors";
  std::vector<std::string> commands;
  if (findings.language.empty())
    model = shell_word(options.subject);
  else if (findings.network)
    commands.push_back(fmt::format("krohn compile {}{} -o {}", findings.language, choice, model));
  if (findings.network) {
    commands.push_back(fmt::format("krohn verify {}{} --certificate {}.cert", model, how, base));
    commands.push_back(fmt::format("krohn check {}.cert {}", base, model));
    commands.push_back(fmt::format("python3 tools/check/krohn_check.py {}.cert {}", base, model));
  }
  const std::string& subject = findings.language.empty() ? model : findings.language;
  commands.push_back(fmt::format("krohn report {}{}{} -o {}", subject, choice, how, page));
  return commands;
}

std::vector<std::string> commands_for_run(const ReportArguments& options, const Findings& findings) {
  const std::string folder = shell_word(options.subject);
  const std::string base = shell_word(std::filesystem::path(options.output).stem().string());
  const std::string how = how_in_words(options),
                    limit = fmt::format(" --max-pairs {} --time {}", options.max_pairs, given_limits().seconds);
  const nlohmann::ordered_json& run = findings.run;
  std::vector<std::string> commands;
  if (!run["training"].is_null())
    if (const std::string line = training_command(run["training"], options.subject); !line.empty())
      commands.push_back(line);
  const bool has_file = run["certificate"].contains("text");
  commands.push_back(fmt::format("krohn verify {}{}{}{}", folder, how, limit,
                                 has_file ? fmt::format(" --certificate {}.cert", base) : ""));
  if (has_file) {
    commands.push_back(fmt::format("krohn check {}.cert {}", base, folder));
    commands.push_back(fmt::format("python3 tools/check/krohn_check.py {}.cert {}", base, folder));
  }
  std::string lengths, sampled;
  if (run["accuracy"].contains("lengths"))
    for (const auto& at : run["accuracy"]["lengths"])
      lengths += fmt::format("{}{}", lengths.empty() ? "" : ",", at["length"].get<std::uint64_t>());
  if (!lengths.empty()) {
    sampled = fmt::format(" --lengths {} --words {}", lengths, options.words);
    commands.push_back(fmt::format("krohn eval {}{} --plot {}-accuracy.svg", folder, sampled, base));
  }
  if (run["spectrum"].contains("construction") && !findings.language.empty()) {
    commands.push_back(fmt::format("krohn compile {} --construction {} -o {}-exact.safetensors", findings.language,
                                   run["spectrum"]["construction"].get<std::string>(), base));
    commands.push_back(
        fmt::format("krohn compare {} {}-exact.safetensors --plot {}-eigenvalues.svg", folder, base, base));
  }
  if (run["learned"].contains("picture"))
    commands.push_back(fmt::format("krohn extract {}{} -o {}-learned.dot", folder, how, base));
  commands.push_back(
      fmt::format("krohn report {}{}{}{} -o {}", folder, how, limit, sampled, shell_word(options.output)));
  return commands;
}

ModelVerdict verdict_for(const ReportArguments& options, const CertifyOptions& how, const Network& network) {
  Question question{.subject = &network, .name = options.subject, .how = how, .progress = progress_of_stages()};
  const TimeLimit half = TimeLimit::part(0.5);
  return verify(question);
}

CertifyOptions proof_options(const ReportArguments& options) {
  CertifyOptions how;
  how.arithmetic = ArithmeticName::parse(options.precision);
  how.any_order = options.any_order;
  how.max_pairs = options.max_pairs;
  return how;
}

std::vector<Job> classified(const Dfa& automaton) {
  const Waiting waiting("classifying the language");
  return classify(automaton, {});
}

/// For the folder's own weights.
Findings find_of_run(const ReportArguments& options) {
  if (options.any_order) throw InputError("--any-order", "is for networks, whose weights say what can round");
  if (!options.construction.empty()) throw InputError("--construction", "is for a LANGUAGE; a run has its own weights");
  RunQuestion question{options.subject, options.reading, proof_options(options), {}, options.words};
  for (const std::string& length : options.lengths) question.lengths.push_back(parse_count(length, "--lengths"));
  Findings findings = run_findings(question);
  if (!findings.language.empty()) findings.language = shell_word(findings.language);
  findings.jobs = classified(findings.automaton);
  findings.commands = commands_for_run(options, findings);
  return findings;
}

Findings find(const ReportArguments& options) {
  if (!options.lengths.empty()) throw InputError("--lengths", "is for a run or a checkpoint, which are sampled");
  Subject subject = load_subject(options.subject, options.reading, stderr);
  tell_left_out(subject, options.json);
  Findings findings{.subject = options.subject, .automaton = subject.automaton};
  {
    const Waiting waiting("building the constructions");
    if (subject.network)
      take_model(options, findings, *std::move(subject.network));
    else
      compile_subject(options, findings, subject.automaton);
  }
  if (findings.network) findings.verdict = verdict_for(options, proof_options(options), *findings.network);
  findings.jobs = classified(subject.automaton);
  findings.commands = commands_for(options, findings);
  return findings;
}

int report(const ReportArguments& options) {
  require_output(options.output, "the page", "PAGE.html");
  if (!options.output.ends_with(".html") && !options.output.ends_with(".htm"))
    throw InputError(options.output, "a report is one HTML file; give it a name that ends in .html");
  require_writable(options.output);
  const bool is_run = is_checkpoint_folder(options.subject) || is_trained_model(file_of_run(options.subject));
  const Findings findings = is_run ? find_of_run(options) : find(options);
  const Waiting waiting("drawing");
  const std::string page = page_of(page_data(findings));
  write_file(options.output, page);
  if (options.json) {
    nlohmann::ordered_json json{{"subject", options.subject}, {"output", options.output}, {"bytes", page.size()}};
    if (findings.verdict)
      add_verdict(json, *findings.verdict, findings.automaton.alphabet());
    else
      json["no_network"] = findings.no_network;
    print_json(json);
    return findings.verdict ? exit_status(findings.verdict->certificate, 0) : int{kDone};
  }
  fmt::print("{}: {}; {}\n", visible(options.output), counted(page.size(), "byte"),
             findings.verdict ? claim_in_words(findings.verdict->certificate, findings.automaton.alphabet())
                              : "no network: " + visible(findings.no_network));
  return findings.verdict ? exit_status(findings.verdict->certificate, 0) : int{kDone};
}

}  // namespace

Work add_report(Verb& verb) {
  const auto options = std::make_shared<ReportArguments>();
  verb.add_option("LANGUAGE", options->subject, "A file, regex:…, name:…, a .safetensors model, or a folder")
      .required();
  verb.add_option("-o,--output", options->output, "The page to write").type_name("PAGE.html");
  add_arithmetic(verb, options->precision, "The arithmetic of the verdict and of the page");
  verb.add_flag("--any-order", options->any_order, "Prove it for every order of evaluation, as `krohn verify` does");
  verb.add_option("--construction", options->construction, "Of a language: compile it by this one")
      .one_of(construction_names());
  verb.add_list("--lengths", options->lengths, "Of a run: lengths to sample; 10,30,100,300,1000 without it")
      .type_name("N,…");
  add_count(verb, "--words", options->words, "Of a run: samples of every length");
  add_count(verb, "--max-pairs", options->max_pairs, "Most pairs of states to examine");
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  return [options] { return report(*options); };
}

}  // namespace krohn
