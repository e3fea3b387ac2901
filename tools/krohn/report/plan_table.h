// tools/krohn/report/plan_table.h — plans, probes and groups, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/simulate/probe/probe_sums.h"
#include "krohn/simulate/prove/verify_built.h"

namespace krohn {

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

/// A count (tools/krohn/report/json_output.h) or a name of these facts, for people.
std::string text_of(const nlohmann::ordered_json& fact);

/// The rows of a table for people.
std::vector<std::vector<std::string>> group_rows(const nlohmann::ordered_json& facts);

}  // namespace krohn
