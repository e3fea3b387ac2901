// tools/krohn/report/plan_table.h — the planner's rows, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "krohn/constructions/build/planner.h"
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

}  // namespace krohn
