// tools/krohn/report/group_facts.h — what `krohn info` says about the group that the letters of an automaton generate.
#pragma once

#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

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
