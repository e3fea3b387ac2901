#include "krohn/simulate/learned/model_report.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "krohn/automata/operations/equivalence.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/learned/extract_automaton.h"
#include "krohn/simulate/learned/snap_network.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/certify_reachable.h"
#include "krohn/simulate/train/evaluate_model.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMostPairs = 100'000;
/// Numbers of all states' centres for which bounds are looked for; with more, of dense letters, that takes minutes, and
/// trained angles are not exact enough for a bound past the lengths that the pairs reach.
constexpr std::size_t kMostUnknowns = 128;
// Of a model that is read letter by letter.
constexpr std::uint64_t kMostSteps = 100'000, kMostBytes = std::uint64_t{1} << 29, kLongLetters = 300'000;
constexpr std::uint64_t kExtractLength = 32, kExtractWords = 500;

void record(const Certificate& certificate, ModelFindings& findings) {
  findings.claim = to_string(certificate.claim);
  if (certificate.claim == Claim::kProvedUpTo) findings.claim_length = certificate.length;
  if (certificate.claim == Claim::kRefuted && certificate.failing_word)
    findings.claim_length = certificate.failing_word->size();
}

/// The construction that the learned code is near to, if its proof succeeds.
void snap(const Dfa& learned, const StateCentres& centres, ModelFindings& findings) {
  const SnapResult snapped = snap_network(learned, centres);
  CertifyOptions options;
  options.max_pairs = kMostPairs;
  if (certify(snapped.network, options).claim == Claim::kProved)
    findings.snapped = snapped.choices[snapped.chosen].construction;
}

/// What can be said of the model as a network, in fp32, letter after letter.
void examine(const Network& network, ModelFindings& findings) {
  CertifyOptions options;
  options.max_pairs = kMostPairs;
  const bool is_small = network.layers.front().dimension * network.automaton.states() <= kMostUnknowns;
  const Certificate certificate = is_small ? certify(network, options) : certify_reachable_set(network, options);
  record(certificate, findings);
  const Extraction learned = extract_automaton(network, options.arithmetic, {});
  const auto difference = distinguishing_word(learned.automaton, network.automaton);
  if (!difference) snap(learned.automaton, state_centres(network, learned.automaton, options.arithmetic), findings);
  if (certificate.claim == Claim::kProved || certificate.claim == Claim::kRefuted) return;
  // The search of pairs goes by length; errors add up in words that it does not reach.
  if (!difference && !learned.beyond) return;
  findings.claim = to_string(Claim::kRefuted);
  findings.claim_length = difference ? difference->size() : learned.beyond->word.size();
}

/// What can be said of a model that is no network, in the arithmetic of simulate/learned/deterministic_model.h.
void examine(const SequenceModel<float>& model, const Task& task, std::uint64_t least_length, ModelFindings& findings) {
  const auto machine = trained_machine(model, task, Precision::kFp32);
  const Dfa automaton = input_machine(task).automaton;
  CertifyMachineOptions options;
  options.max_pairs = kMostPairs;
  options.max_steps = kMostSteps;
  options.max_bytes = kMostBytes;
  options.long_letters = kLongLetters;
  const Certificate certificate =
      certify_trained(*machine, tracked_automaton(task, automaton, least_length), Precision::kFp32, options);
  record(certificate, findings);
  // A model that is wrong on the first words has learned another automaton, or none.
  if (certificate.claim == Claim::kRefuted && certificate.shortest) return;
  ExtractOptions extract;
  extract.length = kExtractLength;
  extract.words = kExtractWords;
  extract.beyond = 0;
  extract.max_states = automaton.states() + std::uint64_t{1};
  const Extraction learned = extract_trained(*machine, task, extract, least_length);
  if (equivalent(learned.automaton, automaton))
    snap(learned.automaton, trained_centres(*machine, task, learned.automaton), findings);
}

}  // namespace

ModelFindings examine_model(const SequenceModel<float>& model, const Task& task, std::uint64_t least_length) {
  const FloatEnvironment environment;
  ModelFindings findings;
  try {
    std::optional<Network> network;
    try {
      network = network_of(model, task);
    } catch (const InputError&) {  // no linear recurrence, or states that answers do not tell apart
    }
    if (network)
      examine(*network, findings);
    else
      examine(model, task, least_length, findings);
  } catch (const Error& error) {
    if (findings.claim.empty()) findings.claim = error.what();
  }
  return findings;
}

}  // namespace krohn
