// krohn snap — the exact construction nearest to a trained network, proved.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/learned/snap_network.h"
#include "krohn/simulate/prove/self_check.h"
#include "krohn/simulate/prove/verify.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr double kShareForLearning = 0.5;  ///< of the time; the rest is for building and proving
constexpr std::size_t kSnapColumns = 100;

struct SnapArguments {
  std::string model, output, against, construction, precision = "fp32";
  ExtractOptions extract;
  std::uint64_t max_pairs = 1'000'000;
  LanguageOptions reading;
  bool json = false;
};

/// Everything that was found.
struct Snapped {
  Extraction learned;
  std::vector<LetterError> letters;
  SnapResult snapped;
  ModelVerdict verdict;
  std::optional<Word> difference;  ///< from --against
};

/// Builds the nearest construction and proves it.
Snapped build_nearest(const SnapArguments& options, const std::optional<Language>& against, Extraction learned,
                      const StateCentres& centres, std::vector<LetterError> letters) {
  SnapOptions snap_options;
  snap_options.precision = parse_precision(options.precision);
  if (!options.construction.empty()) snap_options.construction = options.construction;
  SnapResult snapped = snap_network(learned.automaton, centres, snap_options);
  snapped.network.provenance.source = options.model;
  Question question;
  question.subject = &snapped.network;
  question.name = options.output;
  question.how.arithmetic = snap_options.precision;
  question.how.max_pairs = options.max_pairs;
  ModelVerdict verdict = verify(question);
  std::optional<Word> difference;
  if (against) difference = distinguishing_word(learned.automaton, against->automaton);
  return {std::move(learned), std::move(letters), std::move(snapped), std::move(verdict), std::move(difference)};
}

/// The language of --against, which is refused now where it could not be compared later.
std::optional<Language> language_of(const SnapArguments& options, const Dfa& own) {
  if (options.against.empty()) return std::nullopt;
  Language language{options.against, load_language(options.against, options.reading)};
  require_comparable(own, language);
  return language;
}

/// A machine is read in fp32, or in fp64 where the network is to be exact in that and the model can.
Snapped snap(SnapArguments options) {
  std::string precision = options.precision;
  if (is_machine(options.model))
    precision = to_string(precision == "fp64" ? widest_precision(options.model) : Precision::kFp32);
  const LearnedSubject subject = load_learned(options.model, "snap", options.reading, precision);
  const std::optional<Language> against = language_of(options, subject.automaton());
  options.extract.beyond = 0;
  Extraction learned = subject.extract(options.extract, kShareForLearning);
  const StateCentres centres = subject.centres(learned.automaton);
  std::vector<LetterError> letters;
  if (subject.network) letters = letter_errors(*subject.network, learned.automaton, centres);
  return build_nearest(options, against, std::move(learned), centres, std::move(letters));
}

nlohmann::ordered_json snapped_json(const SnapArguments& options, const Snapped& outcome) {
  const Dfa& automaton = outcome.learned.automaton;
  nlohmann::ordered_json json{{"model", options.model},
                              {"output", options.output},
                              {"states", automaton.states()},
                              {"construction", outcome.snapped.choices[outcome.snapped.chosen].construction},
                              {"note", outcome.snapped.network.provenance.note}};
  for (const SnapChoice& choice : outcome.snapped.choices)
    json["choices"].push_back({{"construction", choice.construction},
                               {"state_numbers", choice.state_numbers},
                               {"explained", choice.explained},
                               {"exact", choice.is_exact}});
  for (Letter letter = 0; letter < outcome.letters.size(); ++letter)
    json["letters"].push_back({{"letter", automaton.alphabet().name(letter)},
                               {"distance", outcome.letters[letter].distance},
                               {"scale", outcome.letters[letter].scale}});
  if (!outcome.learned.limit.empty())
    json.update({{"learned_length", outcome.learned.length}, {"limit", outcome.learned.limit}});
  json["language"] = "the learned automaton";
  add_verdict(json, outcome.verdict, automaton.alphabet());
  if (!options.against.empty()) json["equal"] = !outcome.difference && outcome.verdict.certificate.is<Proved>();
  return json;
}

void report_snapped(const SnapArguments& options, const Snapped& outcome) {
  const Dfa& automaton = outcome.learned.automaton;
  const SnapChoice& chosen = outcome.snapped.choices[outcome.snapped.chosen];
  fmt::print("{}: {} learned, snapped to {} with {} of state\n", visible(options.output),
             counted(automaton.states(), "state"), chosen.construction, counted(chosen.state_numbers, "number"));
  if (!outcome.snapped.network.provenance.note.empty())
    fmt::print("  {}\n", visible(outcome.snapped.network.provenance.note));
  std::vector<std::vector<std::string>> rows = {{"construction", "numbers", "explains", "", ""}};
  const auto add = [&](const SnapChoice& choice, const char* remark) {
    rows.push_back({choice.construction, with_thousands(choice.state_numbers), fmt::format("{:.4f}", choice.explained),
                    choice.is_exact ? fmt::format("exact in {}", options.precision) : "", remark});
  };
  constexpr std::size_t kShownRows = 5;  // the heading, the one that was taken, three others
  add(chosen, "taken");
  for (const SnapChoice& choice : outcome.snapped.choices)
    if (&choice != &chosen && rows.size() < kShownRows) add(choice, "");
  fmt::print("{}", format_table(rows));
  if (const std::size_t all = outcome.snapped.choices.size() + 1; all > rows.size())
    fmt::print("  and {}; --json lists them\n", counted(all - rows.size(), "other"));
  if (!outcome.letters.empty()) {
    rows = {{"letter", "distance moved", "scale"}};
    for (Letter letter = 0; letter < automaton.letters(); ++letter)
      rows.push_back({automaton.alphabet().name(letter), fmt::format("{:.3g}", outcome.letters[letter].distance),
                      fmt::format("{:.4f}", outcome.letters[letter].scale)});
    fmt::print("{}", format_table(rows));
  }
  const auto line = [](const std::string& text) { fmt::print("  {}\n", wrapped(text, kSnapColumns, "    ")); };
  if (outcome.letters.empty())
    line(
        fmt::format("its recurrence and its decoder replace all of the model, its own read-out included; the "
                    "construction explains {:.1f} % of the mean recurrent states of the learned automaton",
                    100 * chosen.explained));
  print_claim("", outcome.verdict, automaton.alphabet());
  line("the claim is about the network that was written and the learned automaton");
  if (!outcome.learned.limit.empty())
    line(fmt::format("the model follows that automaton on the words of up to {} that were read; {}",
                     counted(outcome.learned.length, "letter"), outcome.learned.limit));
  if (outcome.difference)
    line(fmt::format("not {}: the learned automaton differs from it on a word of {}", options.against,
                     counted(outcome.difference->size(), "letter")));
  else if (!options.against.empty())
    line(outcome.verdict.certificate.is<Proved>()
             ? "computes " + options.against
             : "its automaton is that of " + options.against + ", which the network is not proved to compute");
}

int snap_model(SnapArguments options) {
  require_output(options.output, "the network", "MODEL.safetensors");
  options.model = file_of_run(options.model);
  if (!is_model_name(options.output)) throw InputError(options.output, "the name of the network ends in .safetensors");
  require_writable(options.output);
  const Snapped outcome = snap(options);
  save_network(outcome.snapped.network, options.output);
  if (options.json)
    print_json(snapped_json(options, outcome));
  else
    report_snapped(options, outcome);
  return outcome.difference ? int{kRefuted} : exit_status(outcome.verdict.certificate, 0);
}

}  // namespace

Work add_snap(Verb& verb) {
  const auto options = std::make_shared<SnapArguments>();
  verb.add_option("MODEL", options->model, "A .safetensors network, a folder of `krohn train`, or a checkpoint")
      .required();
  verb.add_option("-o,--output", options->output, "The exact network to write").type_name("FILE");
  verb.add_option("--against", options->against, "The language that it should have learned").type_name("LANGUAGE");
  verb.add_option("--construction", options->construction, "Take this one, however near").type_name("NAME");
  add_precision(verb, options->precision, "The arithmetic to be exact in");
  add_count(verb, "--length", options->extract.length, "Words up to this length define the learned automaton");
  add_count(verb, "--max-pairs", options->max_pairs, "Most pairs of states to examine in the proof");
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  return [options] { return snap_model(*options); };
}

}  // namespace krohn
