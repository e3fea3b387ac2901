// tools/krohn/report/classification.h — what `krohn classify` finds out, as values and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

#include "krohn/automata/classes/classes.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/language.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/constructions/build/architectures.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/simulate/probe/probe_sums.h"
#include "krohn/simulate/prove/verify_built.h"

namespace krohn {

std::vector<std::string> names_of(const std::vector<Precision>& formats);

/// One line per construction, possible or not; "→" marks the chosen one.
std::string plan_table(const std::vector<PlanRow>& plans);

/// "exact for words of every length in fp64 fp32", or that it is not.
std::string exactness(const PlanRow& row);

nlohmann::ordered_json plan_to_json(const PlanRow& row);

/// The claims proved about a network before it was written, a line each.
std::vector<std::string> in_words(const KeptPromise& kept);
nlohmann::ordered_json kept_to_json(const KeptPromise& kept);

/// Lines of "name  value", indented by two.
std::string probe_text(const SumsSeen& seen);
nlohmann::ordered_json probe_json(const SumsSeen& seen);

/// For a group on its points: degree, order, transitive, abelian; up to 200 points also the name, primitive, nilpotent,
/// solvable, simple, perfect, orders of the derived and the lower central series, of the centre, invariants of G/G',
/// composition factors, and conjugacy classes up to 10,000 elements. What met a limit is null.
nlohmann::ordered_json group_facts(const PermutationGroup& group);

/// For the group that the letters of a permutation automaton generate on its states; above 2,000 states only the degree
/// and the limit.
nlohmann::ordered_json group_facts(const Dfa& dfa);

/// A count (tools/krohn/report/output.h) or a name of these facts, for people.
std::string text_of(const nlohmann::ordered_json& fact);

/// The rows of a table for people.
std::vector<std::vector<std::string>> group_rows(const nlohmann::ordered_json& facts);

/// One job that a language gives a network: an automaton, its algebra, and the architectures that can hold it.
struct Job {
  std::string
      name;  ///< "state tracking", "acceptance", both when they have the same automaton; of a semigroup one more
  Dfa automaton;
  Algebra algebra;
  std::vector<Architecture> rows;
  std::vector<ClassVerdict> classes;             ///< of an acceptor whose words count: not of state tracking alone
  std::vector<TransformerVerdict> transformers;  ///< likewise
  std::size_t open_rows =
      0;              ///< that a theorem answers with yes, but no network was built and proved within the limits
  std::string limit;  ///< that kept the architectures from being decided
};

/// State tracking (the reachable automaton as given) and acceptance (the minimal one), once when they are the same
/// size; of a transformation semigroup state tracking from every state. Where a limit is met, that of the time too
/// (groups/base/time_limit.h), what needs no monoid is still decided. Every yes of an architecture is that of a network
/// which was built and proved against the automaton, in fp64; every no has a witness that was checked.
/// `found` hears of every job at first without its algebra, then whenever more is known, and as it is returned.
std::vector<Job> classify(const Dfa& given, const AlgebraOptions& options,
                          const std::function<void(const Job&)>& found = {});

/// The verdicts and architectures that a limit left open.
std::size_t undecided(const std::vector<Job>& jobs);

/// Sizes, groups and verdicts of a monoid; of one that met a limit, the limit.
nlohmann::ordered_json algebra_to_json(const Algebra& algebra);

/// The same with the job's name, its states, and the architectures.
nlohmann::ordered_json job_to_json(const Job& job);

/// Name with parameters, answer, and why: for format_table.
std::vector<std::vector<std::string>> class_rows(const std::vector<ClassVerdict>& classes, const Alphabet& alphabet);

struct StreamOptions {
  std::vector<std::string> subjects;
  std::string output;  ///< of the lines; empty: standard output. One that is there already is continued.
  LanguageOptions reading;
  AlgebraOptions algebra;
  double seconds = 60;   ///< for each language
  unsigned threads = 0;  ///< 0: every core
  bool witnesses = false;
  std::string said;  ///< all options that decide what the lines say, as text; every line has it
};

/// The languages in a folder and below it: files whose names end as those of a format do, in order.
std::vector<std::string> languages_in(const std::string& folder);

/// The line of one language. Whatever keeps it from being classified stands in the line as its "error". Callable from
/// any thread.
std::string class_line(const std::string& subject, const StreamOptions& options);

/// The lines as they are ready, and a summary in the end, to standard error when the lines go to standard output.
/// Returns the exit status: bad input when a language could not be read, undecided when an answer is open.
int classify_stream(const StreamOptions& options);

}  // namespace krohn
