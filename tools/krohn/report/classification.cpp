#include "tools/krohn/report/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/simulate/prove/verify.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/class_report.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/report/json_output.h"

namespace krohn {
namespace {

constexpr std::uint64_t kCheckedPairs = 200'000;
constexpr std::uint64_t kReplayedLetters = 1000;
constexpr double kCheckSeconds = 5;
/// Rounding ends what can be proved of a rotation. A network that is right for so long has the codewords and the moves
/// of its construction; how long it stays right is for `krohn verify` to say.
constexpr std::uint64_t kCheckedLength = 10'000;

constexpr const char* kTracking = "state tracking";

/// Builds constructions by name and proves them against the automaton in fp64, each once.
class Checker {
 public:
  explicit Checker(const Dfa& automaton) : automaton_(automaton) {}

  struct Outcome {
    bool holds = false;
    std::string text;
  };

  const Outcome& operator()(const std::string& construction) {
    const auto [entry, fresh] = outcomes_.try_emplace(construction);
    if (fresh) entry->second = check(construction);
    return entry->second;
  }

 private:
  Outcome check(const std::string& construction) const {
    try {
      BuildOptions wishes;
      wishes.construction = construction;
      const Network network = build(automaton_, wishes);
      Question question;
      question.subject = &network;
      question.name = construction;
      question.how.arithmetic = Precision::kFp64;
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
    if (certificate.is<Proved>()) return {true, fmt::format("{}, in fp64", certificate.method)};
    if (certificate.is<ProvedUpTo>())
      return {certificate.length() >= kCheckedLength,
              fmt::format("{}, up to {} in fp64", certificate.method, counted(certificate.length(), "letter"))};
    return {false, certificate.is<Refuted>() ? "refuted; please report this" : "not proved"};
  }

  const Dfa& automaton_;
  std::map<std::string, Outcome> outcomes_;
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
    const Checker::Outcome& outcome = checker(construction);
    if (!outcome.holds) return open(fmt::format("yes by the theorem, but {}: {}", construction, outcome.text));
    row.checked += fmt::format("{}{}: {}", row.checked.empty() ? "" : "; ", construction, outcome.text);
  }
}

/// The automaton itself; without a start, the part that is reached from a state of each source component, for each:
/// every state is reached in one of them.
std::vector<Dfa> starts_of(const Dfa& dfa) {
  constexpr std::size_t kMostStarts = 100;
  if (dfa.has_start()) return {dfa};
  const Components components = strongly_connected_components(dfa);
  std::vector<bool> is_source(components.count, true);
  for (State state = 0; state < dfa.states(); ++state)
    for (const State target : dfa.row(state))
      if (components.of[target] != components.of[state]) is_source[components.of[target]] = false;
  std::vector<Dfa> starts;
  for (const std::vector<State>& members : components.members()) {
    if (!is_source[components.of[members.front()]]) continue;
    if (starts.size() == kMostStarts)
      throw LimitError(fmt::format("{} states that are reached from no other; at most {} starts are tried",
                                   std::ranges::count(is_source, true), kMostStarts));
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

Job job(std::string name, Dfa automaton, const AlgebraOptions& options) {
  // Half of the time for the monoid, half of the rest for the classes; what is left goes to the architectures.
  std::optional<Waiting> waiting;
  waiting.emplace(fmt::format("looking at the monoid of {} states", with_thousands(automaton.states())));
  Algebra algebra = analyse_within_limits(automaton, options);
  Job result{std::move(name), std::move(automaton), std::move(algebra), {}, {}, {}, 0, {}};
  if (result.automaton.is_acceptor() && result.name != kTracking) {
    const TimeLimit part = TimeLimit::part(0.5);
    waiting.reset();
    waiting.emplace("deciding the classes");
    ClassOptions limits;
    limits.max_elements = options.max_elements;
    result.classes = language_classes(result.automaton, result.algebra, limits);
    complete(result.algebra, result.classes);
    result.transformers = transformers(result.automaton, result.algebra);
  }
  waiting.reset();
  waiting.emplace("building and proving architectures");
  const TimeLimit most = TimeLimit::part(0.9);  // the rest is for telling
  try {
    for (const Dfa& part : starts_of(result.automaton)) add_architectures(result, part);
  } catch (const LimitError& error) {
    result.limit = error.what();
  }
  return result;
}

}  // namespace

std::vector<Job> classify(const Dfa& given, const AlgebraOptions& options) {
  std::vector<Job> jobs;
  if (!given.has_start()) {  // there are no words to accept
    jobs.push_back(job("state tracking from every state", given, options));
    return jobs;
  }
  Dfa tracked = canonical(given), minimal = minimise(given);
  if (tracked.states() == minimal.states()) {
    jobs.push_back(job("state tracking and acceptance", std::move(minimal), options));
  } else {
    {
      const TimeLimit half = TimeLimit::part(0.5);
      jobs.push_back(job(kTracking, std::move(tracked), options));
    }
    jobs.push_back(job("acceptance", std::move(minimal), options));
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

}  // namespace krohn
