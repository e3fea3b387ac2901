#include "tools/krohn/report/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/check/certificate_lines.h"
#include "krohn/simulate/learned/snap_network.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/self_check.h"
#include "tools/krohn/models/asked_model.h"
#include "tools/krohn/models/measured_model.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"

namespace krohn {
namespace {

Json absent(const std::string& why) { return {{"absent", why}}; }

/// The task's name, or the checkpoint's file, where `krohn compile` takes it for this automaton.
std::string language_of(const RunQuestion& question, const std::string& task, bool is_checkpoint,
                        const Dfa& automaton) {
  std::vector<std::string> names{task, "name:" + task};
  if (is_checkpoint) names = {(std::filesystem::path(question.subject) / "automaton.json").string()};
  for (const std::string& name : names) try {
      const Dfa language = load_language(name, question.reading);
      if (language.alphabet() == automaton.alphabet() && !distinguishing_word(language, automaton)) return name;
    } catch (const Error&) {
      continue;  // a task that is no language
    }
  return "";
}

/// The tensors that the operations name, alone, and the steps of a certificate that say what is computed with them.
Json evaluator_data(const AskedModel& model, const Certificate& certificate) {
  const ReadModel& reader = *model.reader();
  if (!reader.operations) return absent(model.without_certificate());
  TensorFile named;
  for (const Operation& operation : reader.operations->list)
    if (operation.what == "tensor") named.tensors.insert(*reader.tensors->tensors.find(operation.tensor));
  Json data = bytes_or_reason(format_safetensors(named), "the weights");
  if (data.contains("absent")) return data;
  const bool is_fp64 = certificate.arithmetic == ArithmeticName(Precision::kFp64);
  data["arithmetic"] = is_fp64 ? "fp64" : "fp32";
  std::string steps;
  const CertificateBits bits(ArithmeticName(is_fp64 ? Precision::kFp64 : Precision::kFp32));
  for (const Json& step : steps_of(*reader.operations, bits)) steps += step.dump() + "\n";
  steps += step_of(language_to_write(reader.tracked), {}).dump() + "\n" + Json{{"step", "end"}}.dump() + "\n";
  if (steps.size() > std::size_t{4} << 20) return absent("its operations take too many bytes for a page");
  data["steps"] = std::move(steps);
  return data;
}

Json accuracy_data(const RunQuestion& question) try {
  MeasureOptions options;
  options.folder = question.subject;
  options.words = question.words;
  options.reading = question.reading;
  const auto model = load_measured_model(options);
  std::vector<std::uint64_t> lengths = question.lengths;
  if (lengths.empty()) lengths = {10, 30, 100, 300, 1000};
  Json data{{"reading", model->reading}, {"chance", model->chance}, {"words", options.words}, {"seed", options.seed}};
  AccuracyPicture picture{
      fmt::format("{}: {}", model->task, model->model), {{"", {}}}, trained_lengths(question.subject)};
  data["trained"] = {picture.trained.least, picture.trained.greatest};
  std::uint64_t before = 0;
  for (const std::uint64_t asked : lengths) {
    const std::uint64_t length = model->length_from(asked);
    if (length <= before) continue;
    before = length;
    const ModelAccuracy at = model->at(length);
    picture.curves[0].points.push_back(accuracy_point(at, model->chance));
    data["lengths"].push_back(accuracy_json(at, model->chance));
  }
  data["svg"] = accuracy_plot(picture).finished();
  return data;
} catch (const Error& error) {
  return absent(error.what());
}

/// For one layer, which alone has eigenvalues to compare; the planner's choice before others.
std::optional<Network> exact_network(const Dfa& automaton, const std::vector<PlanRow>& plans) {
  std::vector<const PlanRow*> rows;
  for (const PlanRow& row : plans)
    if (row.possible && row.layers == 1) rows.push_back(&row);
  std::ranges::stable_sort(rows, [](const PlanRow* a, const PlanRow* b) { return a->chosen > b->chosen; });
  if (rows.empty()) return std::nullopt;
  BuildOptions wishes;
  wishes.construction = rows[0]->construction;
  return build(automaton, wishes);
}

Json spectrum_data(const RunQuestion& question, const std::string& file, const Findings& findings) try {
  constexpr double kLeastWeight = 0.05;
  const auto exact_one = exact_network(findings.automaton, findings.plans);
  if (!exact_one) return absent("no construction of one layer fits the language, whose eigenvalues these would be");
  const ComparedModel learned =
      compared_model(question.subject, load_machine(file, question.reading, widest_precision(file)));
  if (learned.spectrum.coordinates == 0) return absent(kNoMatrices);
  const ComparedModel exact = compared_model(exact_one->provenance.construction, *exact_one);
  const std::vector<LetterComparison> letters = compare_letters(learned, exact, kLeastWeight);
  Json rows = letters_to_json(letters);
  for (Json& row : rows)
    for (const char* drawn : {"eigenvalues", "exact_eigenvalues", "exact_turns"}) row.erase(drawn);
  return {{"construction", exact.name},
          {"least_weight", kLeastWeight},
          {"coordinates", learned.spectrum.coordinates},
          {"alive", learned.spectrum.alive},
          {"letters", std::move(rows)},
          {"svg", comparison_plot(learned, exact, letters, kLeastWeight).finished()}};
} catch (const Error& error) {
  return absent(error.what());
}

/// Every state of the learned automaton stands for the true one that its shortest word leads to; where an edge goes to
/// a state that stands for another one, or an output is another, the two differ.
Json differences(const Dfa& learned, const Dfa& truth) {
  constexpr State kNone = UINT32_MAX;
  constexpr std::size_t kMax = 2000;
  std::vector<State> stands_for(learned.states(), kNone), found{learned.initial()};
  stands_for[learned.initial()] = truth.initial();
  for (std::size_t i = 0; i < found.size(); ++i)
    for (Letter letter = 0; letter < learned.letters(); ++letter) {
      const State next = learned.next(found[i], letter);
      if (stands_for[next] != kNone) continue;
      stands_for[next] = truth.next(stands_for[found[i]], letter);
      found.push_back(next);
    }
  Json edges = Json::array(), outputs = Json::array();
  std::size_t left_out = 0;
  for (const State state : found) {
    const std::string &says = learned.output_names()[learned.output(state)],
                      &right = truth.output_names()[truth.output(stands_for[state])];
    if (says != right)
      outputs.push_back({{"state", state}, {"stands_for", stands_for[state]}, {"says", says}, {"right", right}});
    for (Letter letter = 0; letter < learned.letters(); ++letter) {
      const State next = learned.next(state, letter), due = truth.next(stands_for[state], letter);
      if (stands_for[next] == due) continue;
      if (edges.size() == kMax) {
        ++left_out;
        continue;
      }
      edges.push_back({{"from", state},
                       {"letter", learned.alphabet().name(letter)},
                       {"to", next},
                       {"stands_for", stands_for[next]},
                       {"due", due}});
    }
  }
  return {{"edges", edges}, {"outputs", outputs}, {"left_out", left_out}, {"states", learned.states()}};
}

Json learned_data(const RunQuestion& question, const LearnedSubject& learned, const Dfa& truth) try {
  ExtractOptions options;
  options.words = 500;
  options.beyond = 1000;
  options.beyond_words = 8;
  const Extraction found = learned.extract(options, 0.5, "extracting the automaton, letters");
  const Alphabet& alphabet = truth.alphabet();
  Json data{{"arithmetic", to_string(question.how.arithmetic)},
            {"exact", found.is_exact()},
            {"length", found.length},
            {"words", found.words},
            {"limit", found.limit},
            {"picture", picture_of(found.automaton)},
            {"differences", differences(found.automaton, truth)}};
  if (const auto word = distinguishing_word(found.automaton, truth)) data["differs_on"] = quoted_word(alphabet, *word);
  if (found.beyond)
    data["beyond"] = {{"length", found.beyond->word.size()},
                      {"word", quoted_word(alphabet, found.beyond->word)},
                      {"model", found.beyond->machine},
                      {"automaton", found.beyond->automaton}};
  return data;
} catch (const Error& error) {
  return absent(error.what());
}

/// The failing word, or where none is known letters that the language allows, drawn by a congruence.
Word word_to_look_at(const Certificate& certificate, const TrackedAutomaton& tracked) {
  if (certificate.failing_word() && !certificate.failing_word()->empty()) return *certificate.failing_word();
  constexpr std::size_t kLetters = 256;
  const Dfa& automaton = tracked.automaton;
  Word word;
  std::uint64_t random = 1;
  for (State state = automaton.initial(); word.size() < kLetters;) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const Letter letters = automaton.letters(), first = static_cast<Letter>((random >> 33U) % letters);
    Letter tried = 0;
    while (tried < letters &&
           tracked.wanted[automaton.next(state, (first + tried) % letters)] == TrackedAutomaton::kNoSuchWord)
      ++tried;
    if (tried == letters) break;
    word.push_back((first + tried) % letters);
    state = automaton.next(state, word.back());
  }
  return word;
}

Json margins_data(const MachineSubject& machine, const Certificate& certificate, const Dfa& automaton) try {
  const TrackedAutomaton tracked = tracked_automaton(*machine.task, automaton);
  const Word word = word_to_look_at(certificate, tracked);
  Json data{{"word", quoted_word(automaton.alphabet(), word)},
            {"length", word.size()},
            {"fails", certificate.failing_word() != nullptr}};
  for (const MarginPoint& point : margins_along(*machine.machine, tracked, word))
    data["rows"].push_back({{"first", point.first},
                            {"last", point.last},
                            {"margin", point.margin},
                            {"after", point.at},
                            {"state_norm", point.state}});
  return data.contains("rows") ? data : absent("nothing is asked along the word");
} catch (const Error& error) {
  return absent(error.what());
}

/// The entry of run.json for the best run.
Json training_data(const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(file).parent_path() / "run.json";
  if (!std::filesystem::is_regular_file(path)) return nullptr;
  const std::string text = read_file(path.string());
  if (!parse_strict_json(text, path.string()).is_object()) return Json();
  return Json::parse(text);  // in its own order
}

}  // namespace

Findings run_findings(const RunQuestion& question) {
  const std::string file = file_of_run(question.subject);
  const auto asked = load_asked_model({file, "", question.reading, question.how, 0, "cpu"});
  const Precision precision = precision_of({file, "", {}, question.how, 0, ""});
  const LearnedSubject learned{load_machine(file, question.reading, precision), std::nullopt, precision};
  const MachineSubject& machine = learned.machine;
  const Dfa own = input_machine(*machine.task).automaton;
  Findings findings{.subject = question.subject, .automaton = minimise(own)};
  const std::string task = machine.task->info().name;
  findings.language = language_of(question, task, machine.is_checkpoint, own);

  Question ask;
  ask.how = question.how;
  ask.name = question.subject;
  ask.progress = progress_of_stages();
  asked->ask_in(ask);
  {
    const TimeLimit half = TimeLimit::part(0.5);
    findings.verdict = verify(ask);
  }
  const std::vector<std::string> about = asked->about(ask);
  ask.progress = {};
  const Certificate& certificate = findings.verdict->certificate;
  {
    const Waiting waiting("building the constructions");
    findings.plans = plan(findings.automaton, {});
  }
  Json& run = findings.run;
  run["model"] = {{"kind", machine.is_checkpoint ? "checkpoint" : "run"}, {"task", task}, {"about", about}};
  run["training"] = machine.is_checkpoint ? Json() : training_data(file);
  run["certificate"] = certificate_data(certificate, *asked->reader(), asked->without_certificate());
  run["evaluator"] = evaluator_data(*asked, certificate);
  if (run["certificate"].contains("text")) run["evaluator"].erase("steps");  // they are in there
  run["accuracy"] = accuracy_data(question);
  run["spectrum"] = spectrum_data(question, file, findings);
  run["learned"] = learned_data(question, learned, findings.automaton);
  run["margins"] = margins_data(machine, certificate, own);
  return findings;
}

}  // namespace krohn
