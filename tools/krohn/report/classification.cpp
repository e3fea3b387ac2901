#include "tools/krohn/report/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/shards/part_file.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/shards/list_work.h"

namespace krohn {
namespace {

constexpr std::uint64_t kCheckedPairs = 200'000;
constexpr std::uint64_t kReplayedLetters = 1000;
constexpr double kCheckSeconds = 5;
/// Rounding ends what can be proved of a rotation. A network that is right for so long has the codewords and the moves
/// of its construction; how long it stays right is for `krohn verify` to say.
constexpr std::uint64_t kCheckedLength = 10'000;

constexpr const char* kTracking = "state tracking";

/// Builds constructions by name and proves them against the automaton, in fp64 or in integers, each once.
class Checker {
 public:
  explicit Checker(const Dfa& automaton) : automaton_(automaton) {}

  struct Outcome {
    bool holds = false;
    std::string text;
  };

  const Outcome& operator()(const std::string& construction, const std::string& arithmetic) {
    const auto [entry, fresh] = outcomes_.try_emplace({construction, arithmetic});
    if (fresh) entry->second = check(construction, arithmetic);
    return entry->second;
  }

 private:
  Outcome check(const std::string& construction, const std::string& arithmetic) const {
    try {
      BuildOptions wishes;
      wishes.construction = construction;
      wishes.integers = wrapping_integers(ArithmeticName::parse(arithmetic));
      const Network network = build(automaton_, wishes);
      Question question;
      question.subject = &network;
      question.name = construction;
      question.how.arithmetic = ArithmeticName::parse(arithmetic);
      question.how.max_pairs = kCheckedPairs;
      question.how.max_seconds = kCheckSeconds;
      question.replayed_letters = kReplayedLetters;
      question.progress = [](std::string_view, std::uint64_t, std::uint64_t) { TimeLimit::check(); };
      return judged(verify(question).certificate);
    } catch (const LimitError& error) {
      return {false, error.what()};
    } catch (const InputError& error) {
      return {false, error.what()};
    }
  }

  Outcome judged(const Certificate& certificate) const {
    const std::string in = to_string(certificate.arithmetic);
    if (certificate.is<Proved>()) return {true, fmt::format("{}, in {}", certificate.method, in)};
    if (certificate.is<ProvedUpTo>())
      return {certificate.length() >= kCheckedLength,
              fmt::format("{}, up to {} in {}", certificate.method, counted(certificate.length(), "letter"), in)};
    return {false, certificate.is<Refuted>() ? "refuted; please report this" : "not proved"};
  }

  const Dfa& automaton_;
  std::map<std::pair<std::string, std::string>, Outcome> outcomes_;
};

/// A yes stays one when its networks were proved; otherwise it is open, with the reason.
void back(Architecture& row, Checker& checker) {
  if (row.answer != Answer::kYes) return;
  const auto open = [&row](std::string why) {
    row.answer = Answer::kUnknown;
    row.reason = std::move(why);
  };
  if (row.construction.empty()) return open("yes by the theorem, but " + row.reason);
  std::vector<std::string> constructions{row.construction};
  if (!row.exact.empty() && row.exact != row.construction) constructions.push_back(row.exact);
  for (const std::string& construction : constructions) {
    const Checker::Outcome& outcome = checker(construction, row.arithmetic);
    if (!outcome.holds) return open(fmt::format("yes by the theorem, but {}: {}", construction, outcome.text));
    row.checked += fmt::format("{}{}: {}", row.checked.empty() ? "" : "; ", construction, outcome.text);
  }
}

/// The automaton itself; without a start, the part that is reached from a state of each source component, for each:
/// every state is reached in one of them.
std::vector<Dfa> starts_of(const Dfa& dfa) {
  constexpr std::size_t kMaxStarts = 100;
  if (dfa.has_start()) return {dfa};
  const Components components = strongly_connected_components(dfa);
  std::vector<bool> is_source(components.count, true);
  for (State state = 0; state < dfa.states(); ++state)
    for (const State target : dfa.row(state))
      if (components.of[target] != components.of[state]) is_source[components.of[target]] = false;
  std::vector<Dfa> starts;
  for (const std::vector<State>& members : components.members()) {
    if (!is_source[components.of[members.front()]]) continue;
    if (starts.size() == kMaxStarts)
      throw LimitError(fmt::format("{} states that are reached from no other; at most {} starts are tried",
                                   std::ranges::count(is_source, true), kMaxStarts));
    starts.push_back(canonical(Dfa::moore(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, members.front(),
                                          {dfa.outputs().begin(), dfa.outputs().end()},
                                          {dfa.output_names().begin(), dfa.output_names().end()})
                                   .with_state_names({dfa.state_names().begin(), dfa.state_names().end()})));
  }
  return starts;
}

/// The rows for this start. A family holds the automaton when it does so from every start: a no beats what is open, and
/// that beats a yes.
void add_architectures(Job& job, const Dfa& part) {
  constexpr auto rank = [](Answer answer) { return answer == Answer::kYes ? 0 : answer == Answer::kUnknown ? 1 : 2; };
  std::vector<Architecture> rows = architectures(part, job.algebra, plan(part, {}));
  Checker checker(part);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool claimed = rows[i].answer == Answer::kYes;
    back(rows[i], checker);
    job.open_rows += claimed && rows[i].answer != Answer::kYes;
    if (job.rows.size() == i)
      job.rows.push_back(std::move(rows[i]));
    else if (rank(rows[i].answer) > rank(job.rows[i].answer))
      job.rows[i] = std::move(rows[i]);
    else if (rows[i].answer == Answer::kYes && rows[i].construction != job.rows[i].construction)
      job.rows[i].reason += fmt::format("{}from state {} {}", job.rows[i].reason.empty() ? "" : "; ",
                                        part.state_name(part.initial()), rows[i].construction);
  }
}

Job job(std::string name, Dfa automaton, const AlgebraOptions& options, const std::function<void(const Job&)>& found) {
  // Half of the time for the monoid, half of the rest for the classes; what is left goes to the architectures.
  std::optional<Waiting> waiting;
  waiting.emplace(fmt::format("looking at the monoid of {} states", with_thousands(automaton.states())));
  Job result{std::move(name), std::move(automaton), {}, {}, {}, {}, 0, {}};
  const auto tell = [&] {
    if (found) found(result);
  };
  tell();
  result.algebra = analyse_within_limits(result.automaton, options);
  tell();
  if (result.automaton.is_acceptor() && result.name != kTracking) {
    const TimeLimit part = TimeLimit::part(0.5);
    waiting.reset();
    waiting.emplace("deciding the classes");
    ClassOptions limits{.max_elements = options.max_elements};
    result.classes = language_classes(result.automaton, result.algebra, limits);
    complete(result.algebra, result.classes);
    result.transformers = transformers(result.automaton, result.algebra);
    tell();
  }
  waiting.reset();
  waiting.emplace("building and proving architectures");
  const TimeLimit most = TimeLimit::part(0.9);  // the rest is for telling
  try {
    for (const Dfa& part : starts_of(result.automaton)) add_architectures(result, part);
  } catch (const LimitError& error) {
    result.limit = error.what();
  }
  tell();
  return result;
}

}  // namespace

std::vector<Job> classify(const Dfa& given, const AlgebraOptions& options,
                          const std::function<void(const Job&)>& found) {
  std::vector<Job> jobs;
  if (!given.has_start()) {  // there are no words to accept
    jobs.push_back(job("state tracking from every state", given, options, found));
    return jobs;
  }
  Dfa tracked = canonical(given), minimal = minimise(given);
  if (tracked.states() == minimal.states()) {
    jobs.push_back(job("state tracking and acceptance", std::move(minimal), options, found));
  } else {
    {
      const TimeLimit half = TimeLimit::part(0.5);
      jobs.push_back(job(kTracking, std::move(tracked), options, found));
    }
    jobs.push_back(job("acceptance", std::move(minimal), options, found));
  }
  return jobs;
}

std::size_t undecided(const std::vector<Job>& jobs) {
  std::size_t count = 0;
  for (const Job& job : jobs) {
    count += job.open_rows + !job.limit.empty();
    for (const ClassVerdict& verdict : job.classes) count += verdict.answer == Answer::kUnknown;
    for (const Verdict& verdict : job.algebra.verdicts) count += verdict.answer == Answer::kUnknown;
  }
  return count;
}

namespace {

constexpr std::size_t kColumns = 90;

Json names(const std::vector<Letter>& letters, const Alphabet& alphabet) {
  Json result = Json::array();
  for (const Letter letter : letters) result.push_back(alphabet.name(letter));
  return result;
}

/// One object a class: its answer, least parameters, tier, defining words, witness and remark, as far as there are.
Json classes_to_json(const std::vector<ClassVerdict>& classes, const Alphabet& alphabet) {
  Json rows = Json::array();
  for (const ClassVerdict& verdict : classes) {
    Json row{{"class", verdict.name}, {"meaning", verdict.meaning}, {"answer", to_string(verdict.answer)}};
    for (const auto& [name, value] : verdict.parameters) row[name] = value;
    if (verdict.tier) row["tier"] = names(*verdict.tier, alphabet);
    if (verdict.answer == Answer::kYes && !verdict.data_name.empty())
      row["defined_by"] = {{"what", verdict.data_name},
                           {"words", verdict.data.words},
                           {"count", exact_count(std::to_string(verdict.data.count))},
                           {"complete", verdict.data.complete}};
    if (!verdict.witness.empty()) row["witness"] = verdict.witness;
    if (!verdict.remark.empty()) row["remark"] = verdict.remark;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The letters that stand for others which act alike, with those: defining words are written with them.
Json letters_alike(const Dfa& minimal) {
  const ReducedAutomaton reduced = reduce(minimal);
  Json letters = Json::object();
  for (Letter letter = 0; letter < reduced.dfa.letters(); ++letter)
    if (reduced.alike[letter].size() > 1)
      letters[reduced.dfa.alphabet().name(letter)] = names(reduced.alike[letter], minimal.alphabet());
  return letters;
}

Json transformers_to_json(const std::vector<TransformerVerdict>& rows) {
  Json result = Json::array();
  for (const TransformerVerdict& row : rows)
    result.push_back(
        {{"family", row.family}, {"answer", to_string(row.answer)}, {"source", row.source}, {"reason", row.reason}});
  return result;
}

}  // namespace

Json algebra_to_json(const Algebra& algebra) {
  Json facts;
  if (algebra.green) {
    facts["monoid"]["size"] = exact_count(algebra.size.str());
    facts["monoid"]["idempotents"] = exact_count(algebra.idempotents.str());
    facts["monoid"]["d_classes"] = algebra.green->d_classes().size();
    facts["monoid"]["r_classes"] = algebra.green->r_classes();
  } else {
    facts["monoid"] = Json();
    facts["limit"] = algebra.limit;
  }
  facts["stability_index"] = algebra.stability_index;
  facts["groups"] = Json::array();
  for (const MaximalSubgroup& group : algebra.groups)
    facts["groups"].push_back({{"name", group.name},
                               {"order", exact_count(group.order.str())},
                               {"solvable", group.solvable},
                               {"states", group.states},
                               {"words", group.words}});
  for (const Verdict& verdict : algebra.verdicts)
    facts["verdicts"].push_back({{"property", verdict.property},
                                 {"meaning", verdict.meaning},
                                 {"answer", to_string(verdict.answer)},
                                 {"witness", verdict.witness}});
  return facts;
}

Json job_to_json(const Job& job) {
  Json facts;
  facts["job"] = job.name;
  facts["states"] = job.automaton.states();
  facts.update(algebra_to_json(job.algebra));
  if (!job.limit.empty()) facts["architectures_limit"] = job.limit;
  for (const Architecture& row : job.rows)
    facts["architectures"].push_back({{"family", row.family},
                                      {"answer", to_string(row.answer)},
                                      {"theorem", row.theorem},
                                      {"construction", row.construction},
                                      {"exact", row.exact},
                                      {"checked", row.checked},
                                      {"reason", row.reason}});
  if (!job.classes.empty()) {
    facts["classes"] = classes_to_json(job.classes, job.automaton.alphabet());
    facts["letters_alike"] = letters_alike(job.automaton);
    facts["transformers"] = transformers_to_json(job.transformers);
  }
  return facts;
}

std::vector<std::vector<std::string>> class_rows(const std::vector<ClassVerdict>& classes, const Alphabet& alphabet) {
  std::vector<std::vector<std::string>> rows;
  for (const ClassVerdict& verdict : classes) {
    std::string why = explanation(verdict);
    if (verdict.tier && verdict.tier->size() < alphabet.size()) {
      std::string tier;
      for (const Letter letter : *verdict.tier) tier += (tier.empty() ? "" : ", ") + alphabet.name(letter);
      why = fmt::format("on the tier {{{}}}{}{}", tier, why.empty() ? "" : "; ", why);
    }
    rows.push_back({name_with_parameters(verdict), to_string(verdict.answer), shortened(why, kColumns)});
  }
  return rows;
}

namespace {

/// Graphviz, which reads DOT, is for one thread at a time.
std::mutex reading;

Json brief_classes(const std::vector<ClassVerdict>& classes) {
  Json rows = Json::object();
  for (const ClassVerdict& verdict : classes) {
    Json& row = rows[verdict.name];
    row = {{"answer", to_string(verdict.answer)}};
    for (const auto& [name, value] : verdict.parameters) row[name] = value;
  }
  return rows;
}

Json facts_of(const std::string& subject, const StreamOptions& options) {
  const TimeLimit limit(options.seconds, fmt::format("--time {:g}", options.seconds));
  Json facts;
  facts["subject"] = subject;
  const auto minimal = [&] {
    const std::lock_guard lock(reading);
    return minimise(load_subject(subject, options.reading).automaton);
  }();
  Algebra algebra = analyse_within_limits(minimal, options.algebra);
  facts["states"] = minimal.states();
  facts["letters"] = minimal.letters();
  std::vector<ClassVerdict> classes;
  if (minimal.is_acceptor()) {
    ClassOptions limits{.max_elements = options.algebra.max_elements};
    if (!options.witnesses) limits.most_listed = 0;
    classes = language_classes(minimal, algebra, limits);
    complete(algebra, classes);
  }
  Json all = algebra_to_json(algebra);
  for (const char* field : {"monoid", "limit", "groups"})
    if (all.contains(field)) facts[field] = all[field];
  if (options.witnesses) {
    facts["verdicts"] = all["verdicts"];
    if (minimal.is_acceptor()) facts["classes"] = classes_to_json(classes, minimal.alphabet());
  } else {
    Json names = Json::array();
    for (const MaximalSubgroup& group : algebra.groups) names.push_back(group.name);
    facts["groups"] = std::move(names);
    for (const Verdict& verdict : algebra.verdicts) facts["verdicts"][verdict.property] = to_string(verdict.answer);
    if (minimal.is_acceptor()) facts["classes"] = brief_classes(classes);
  }
  if (minimal.is_acceptor())
    for (const TransformerVerdict& row : transformers(minimal, algebra))
      facts["transformers"][row.family] = to_string(row.answer);
  return facts;
}

std::string made_from(const std::string& subject, const StreamOptions& options) {
  return digest_of_work({"krohn " KROHN_VERSION, options.said, subject}, files_of_language(subject, options.reading));
}

/// The whole lines that an earlier run left. A line that it did not finish is cut off.
std::set<std::string> continue_after(const StreamOptions& options, ClassSummary& summary) {
  const std::string &output = options.output, &said = options.said;
  std::set<std::string> done;
  std::error_code error;
  if (output.empty() || !std::filesystem::is_regular_file(output, error)) return done;
  std::ifstream file(output, std::ios::binary);
  std::uintmax_t whole = 0;
  for (std::string line; std::getline(file, line) && !file.eof(); whole += line.size() + 1) {
    const Json facts = Json::parse(line, nullptr, false);
    if (!facts.is_object() || !facts.contains("subject"))
      throw InputError(output,
                       fmt::format("line {} is no line of `krohn classify`; give another name, or remove the file",
                                   done.size() + 1));
    if (facts.value("options", "") != said)
      throw InputError(output,
                       fmt::format("line {} was made by other options: {}; give another name, or remove the file",
                                   done.size() + 1, in_quotes(facts.value("options", ""))));
    const auto subject = facts.at("subject").get<std::string>();
    if (facts.value("made_from", "") != made_from(subject, options))
      throw InputError(output,
                       fmt::format("line {} is of {} as it was then, or of another krohn; give another name, or "
                                   "remove the file",
                                   done.size() + 1, in_quotes(subject)));
    summary.add(line);
    done.insert(subject);
  }
  file.close();
  if (whole < std::filesystem::file_size(output)) std::filesystem::resize_file(output, whole);
  return done;
}

}  // namespace

std::vector<std::string> languages_in(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) throw InputError(folder, "no folder; --corpus takes one");
  const std::set<std::string> endings{".att", ".fsm", ".dot", ".gv", ".mata", ".jff", ".json"};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && endings.contains(entry.path().extension().string()))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  if (files.empty()) throw InputError(folder, "no file ends in .att .fsm .dot .gv .mata .jff or .json");
  return files;
}

std::string class_line(const std::string& subject, const StreamOptions& options) {
  const std::string before = made_from(subject, options);
  Json facts;
  try {
    facts = facts_of(subject, options);
  } catch (const InputError& error) {
    facts = {{"subject", subject}, {"error", error.what()}};
  } catch (const SystemError& error) {
    facts = {{"subject", subject}, {"error", error.what()}};
  } catch (const LimitError& error) {
    facts = {{"subject", subject}, {"error", error.what()}};
  }
  facts["options"] = options.said;
  facts["made_from"] = before;
  return facts.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int classify_stream(const StreamOptions& options) {
  const ListWork work{"classifying languages", options.threads,
                      [&options](std::uint64_t item) { return class_line(options.subjects[item], options); }};
  help_with(work);
  ClassSummary summary;
  const std::set<std::string> done = continue_after(options, summary);
  std::vector<std::uint64_t> left;
  for (std::size_t i = 0; i < options.subjects.size(); ++i)
    if (!done.contains(options.subjects[i])) left.push_back(i);
  std::FILE* out = options.output.empty() ? stdout : std::fopen(options.output.c_str(), "ab");
  if (out == nullptr) throw SystemError(fmt::format("{}: cannot write: {}", options.output, std::strerror(errno)));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> closing(out == stdout ? nullptr : out, std::fclose);
  work_through(work, left, LineOrder::kOfItems, [&](std::uint64_t, const std::string& made) {
    const std::string line = made + "\n";
    if (std::fwrite(line.data(), 1, line.size(), out) != line.size() || std::fflush(out) != 0)
      throw SystemError(fmt::format("{}: cannot write: {}", options.output.empty() ? "standard output" : options.output,
                                    std::strerror(errno)));
    summary.add(line);
  });
  fmt::print(out == stdout ? stderr : stdout, "{}", summary.text());
  return summary.status();
}

}  // namespace krohn
