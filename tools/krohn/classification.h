// tools/krohn/classification.h — what `krohn classify` finds out, as values and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "krohn/automata/monoid/algebra.h"
#include "krohn/constructions/build/architectures.h"

namespace krohn {

/// One job that a language gives a network: an automaton, its algebra, and the architectures that can hold it.
struct Job {
  std::string name;  ///< "state tracking", "acceptance", or both when they have the same automaton
  Dfa automaton;
  Algebra algebra;
  std::vector<Architecture> rows;
};

/// State tracking (the reachable automaton as given) and acceptance (the minimal one), once when they are the same
/// size. Throws LimitError as `analyse`.
std::vector<Job> classify(const Dfa& given, const AlgebraOptions& options);

/// Sizes, groups and verdicts of a monoid.
nlohmann::ordered_json algebra_to_json(const Algebra& algebra);

/// The same with the job's name, its states, and the architectures.
nlohmann::ordered_json job_to_json(const Job& job);

}  // namespace krohn
