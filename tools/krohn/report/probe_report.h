// tools/krohn/report/probe_report.h — what a probe found, in words and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "krohn/simulate/probe/probe_sums.h"

namespace krohn {

/// Lines of "name  value", indented by two.
std::string probe_text(const SumsSeen& seen);

nlohmann::ordered_json probe_json(const SumsSeen& seen);

}  // namespace krohn
