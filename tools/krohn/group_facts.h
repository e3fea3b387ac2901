// tools/krohn/group_facts.h — what `krohn info` says about the group that the letters of an automaton generate.
#pragma once

#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/formats/json.h"

namespace krohn {

/// Of a permutation automaton, on its states: degree, order, transitive, abelian; up to 200 states also the name,
/// primitive, nilpotent, solvable, simple, perfect, orders of the derived and the lower central series, of the centre,
/// invariants of G/G', composition factors, and conjugacy classes up to 10,000 elements. What met a limit is null.
nlohmann::ordered_json group_facts(const Dfa& dfa);

/// The rows of a table for people.
std::vector<std::vector<std::string>> group_rows(const nlohmann::ordered_json& facts);

}  // namespace krohn
