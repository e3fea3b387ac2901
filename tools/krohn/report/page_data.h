// tools/krohn/report/page_data.h — what the page of `krohn report` is told, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/verify.h"
#include "tools/krohn/report/classification.h"

namespace krohn {

/// What was found out about a language, a model, a run or a checkpoint.
struct Findings {
  std::string subject = {};                  ///< as the user wrote it
  std::string language = {};                 ///< that `krohn compile` takes, with its options; empty where nobody knows
  Dfa automaton;                             ///< that the network computes
  std::optional<Network> network = {};       ///< nothing where no construction fits
  std::string no_network = {};               ///< why
  std::optional<ModelVerdict> verdict = {};  ///< of the network, or of the run
  std::string arithmetic = {};               ///< without a verdict: that the page steps the network in
  nlohmann::ordered_json run = {};           ///< what a run adds to the page (run_findings.h); null: none
  std::vector<PlanRow> plans = {};
  std::vector<Job> jobs = {};
  std::vector<std::string> commands = {};  ///< that make all of it again
};

/// Weights, certificate, pictures and texts that would make the page too large for a browser are left out, and the page
/// is told why and how to get them.
nlohmann::ordered_json page_data(const Findings& findings);

}  // namespace krohn
