// tools/krohn/report/page_data.h — what the page of `krohn report` is told, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/verify.h"
#include "tools/krohn/report/classification.h"

namespace krohn {

/// Bytes as text (RFC 4648).
std::string base64(std::string_view bytes);

/// One HTML file that loads nothing: style, script and `data`, which the script finds as JSON. No name in the data can
/// end its element, and no other script is allowed to run.
std::string page_of(const nlohmann::ordered_json& data);

/// {"bytes": …} in base64, or {"absent": why}.
nlohmann::ordered_json bytes_or_reason(const std::string& bytes, const std::string& what);

/// {"text": …} as `krohn verify --certificate` would write it, or {"absent": why}.
nlohmann::ordered_json certificate_data(const Certificate& certificate, const Network& network);
/// For a model that reads letters. `without`: why there is no certificate of it; empty where there is.
nlohmann::ordered_json certificate_data(const Certificate& certificate, const ReadModel& model,
                                        const std::string& without);

/// The picture's own element, without what precedes it in a file; null where it is too large.
nlohmann::ordered_json svg_of(const std::string& dot, const std::string& engine);

/// {"svg": …, "has_states": …} of the states one by one, which the page lights; null where the page draws a table.
nlohmann::ordered_json picture_of(const Dfa& automaton);

/// The findings about a language, a model, a run or a checkpoint.
struct Findings {
  std::string subject = {};                  ///< as the user wrote it
  std::string language = {};                 ///< that `krohn compile` takes, with its options; empty where nobody knows
  Dfa automaton;                             ///< that the network computes
  std::optional<Network> network = {};       ///< nothing where no construction fits
  std::string no_network = {};               ///< why
  std::optional<ModelVerdict> verdict = {};  ///< of the network, or of the run
  std::string arithmetic = {};               ///< without a verdict: that the page steps the network in
  nlohmann::ordered_json run = {};           ///< the run's part of the page (below); null: none
  std::vector<PlanRow> plans = {};
  std::vector<Job> jobs = {};
  std::vector<std::string> commands = {};  ///< that make all of it again
};

/// Weights, certificate, pictures and texts that would make the page too large for a browser are left out, and the page
/// is told why and how to get them.
nlohmann::ordered_json page_data(const Findings& findings);

// Findings about a run of `krohn train` or `krohn import`, or about a checkpoint: the verdict of its own weights, and
// how it comes to that.

struct RunQuestion {
  std::string subject;  ///< a folder, as the user wrote it
  LanguageOptions reading;
  CertifyOptions how;
  std::vector<std::uint64_t> lengths;  ///< of the samples; none: ten, thirty, … up to a thousand
  std::uint64_t words = 100;           ///< of each length
};

/// Automaton and language (which stays empty where the model's task is none), verdict, the constructions of the
/// automaton, and `run`:
///   model         its name, task, and how it is read
///   training      what run.json tells; absent of an imported model and of a checkpoint
///   certificate   that of the verdict, or why there is none
///   evaluator     the tensors and operations that the page evaluates the model by, or why it does not
///   accuracy      by length, with intervals
///   spectrum      the eigenvalues of the letters' matrices against those of an exact network, or why there are none
///   learned       the automaton that the model follows, and where it differs
///   margins       of the read-out along a word
/// Throws InputError for a task without a finite automaton, and for arithmetics that the model is not read in.
Findings run_findings(const RunQuestion& question);

}  // namespace krohn
