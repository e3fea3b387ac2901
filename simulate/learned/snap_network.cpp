#include "krohn/simulate/learned/snap_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <tuple>
#include <utility>

#include "krohn/automata/operations/operations.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/learned/extract_automaton.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"

namespace krohn {
namespace {

constexpr double kLeastShare = 0.01;            ///< harmonics below are noise
constexpr std::uint64_t kMaxNumbers = 1 << 22;  ///< of a construction's codes together
constexpr char kHarmonics[] = "harmonics";

using Element = AbelianStructure::Element;

/// All elements of the group, the neutral one first.
std::vector<Element> elements(const AbelianStructure& structure) {
  std::vector<Element> all{Element(structure.orders.size(), 0)};
  for (std::size_t i = 0; i < structure.orders.size(); ++i) {
    const std::size_t known = all.size();
    for (std::uint64_t x = 1; x < structure.orders[i]; ++x)
      for (std::size_t j = 0; j < known; ++j) {
        all.push_back(all[j]);
        all.back()[i] = x;
      }
  }
  return all;
}

Element inverse(const Element& element, const AbelianStructure& structure) {
  Element result(element);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = (structure.orders[i] - result[i]) % structure.orders[i];
  return result;
}

/// How much of the code lies in the plane of a harmonic: ‖Σ_q c_q e^{−2πi Σ k_j q_j / m_j}‖².
double energy(const Element& harmonic, const AbelianStructure& structure, const TrackedStates& tracked,
              const Eigen::MatrixXd& centres) {
  Eigen::VectorXcd sum = Eigen::VectorXcd::Zero(centres.rows());
  for (Label label = 0; label < tracked.count(); ++label) {
    double turn = 0;
    for (std::size_t i = 0; i < harmonic.size(); ++i)
      turn += static_cast<double>(harmonic[i] * structure.of_state[label][i] % structure.orders[i]) /
              static_cast<double>(structure.orders[i]);
    const std::complex<double> phase = std::polar(1.0, -2 * std::numbers::pi * turn);
    sum += phase * centres.col(tracked.states[label]).cast<std::complex<double>>();
  }
  return sum.squaredNorm();
}

/// The harmonics of the learned code, the strongest first; k and −k are one. More than those with a share are taken
/// only until all states are told apart. Nothing when the group is not abelian.
std::optional<Network> harmonic_network(const Dfa& automaton, const StateCentres& centres) {
  const TrackedStates tracked = tracked_states(automaton);
  AbelianStructure structure;
  try {
    structure = abelian_structure(automaton, tracked);
  } catch (const InputError&) {
    return std::nullopt;
  }
  std::vector<std::pair<double, Element>> found;
  double all = 0;
  for (const Element& harmonic : elements(structure)) {
    const Element opposite = inverse(harmonic, structure);
    if (opposite < harmonic || std::ranges::count(harmonic, 0u) == std::ssize(harmonic)) continue;
    const double here = energy(harmonic, structure, tracked, centres.centres) * (opposite == harmonic ? 1 : 2);
    found.emplace_back(here, harmonic);
    all += here;
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Element> taken;
  for (const auto& [here, harmonic] : found) {
    if (here < kLeastShare * all && !taken.empty()) break;
    taken.push_back(harmonic);
  }
  for (; taken.size() <= found.size(); taken.push_back(found[taken.size()].second)) {
    try {
      return build_harmonics(automaton, taken);
    } catch (const InputError&) {
      if (taken.size() == found.size()) return std::nullopt;
    }
  }
  return std::nullopt;
}

struct Candidate {
  SnapChoice choice;
  Network network;
};

void add(std::vector<Candidate>& candidates, Network network, bool is_exact, const Dfa& automaton,
         const StateCentres& centres) {
  SnapChoice choice;
  choice.construction = network.provenance.construction;
  choice.state_numbers = size_of(network).state_numbers;
  choice.is_exact = is_exact;
  if (choice.construction == kHarmonics) choice.note = network.provenance.note;
  choice.explained = explained_share(centres.centres, reached_numbers(network, automaton, Precision::kFp64));
  candidates.push_back({std::move(choice), std::move(network)});
}

std::vector<Candidate> all_candidates(const Dfa& automaton, const StateCentres& centres, const SnapOptions& options) {
  std::vector<Candidate> candidates;
  BuildOptions wishes;
  wishes.precision = options.precision;
  plan(automaton, wishes, [&](const PlanRow& row, const Network& network) {
    if (row.layers != 1 || row.snap_every > 0) return;
    if (row.state_numbers * automaton.states() > kMaxNumbers) return;
    const auto is_in = [&](const std::vector<Precision>& list) {
      return std::ranges::count(list, options.precision) > 0;
    };
    add(candidates, network, is_in(row.exact_in) || is_in(row.locked_in), automaton, centres);
  });
  if (auto network = harmonic_network(automaton, centres))
    add(candidates, *std::move(network), false, automaton, centres);
  return candidates;
}

}  // namespace

SnapResult snap_network(const Dfa& automaton, const StateCentres& centres, const SnapOptions& options) {
  const FloatEnvironment environment;
  std::vector<Candidate> candidates = all_candidates(automaton, centres, options);
  if (candidates.empty())
    throw InputError("no construction of one layer fits the automaton; `krohn compile` builds it in several");
  const auto rank = [&](const Candidate& candidate) {
    const bool is_near = candidate.choice.explained >= options.enough;
    return std::tuple(!is_near, !candidate.choice.is_exact, candidate.choice.state_numbers,
                      -candidate.choice.explained);
  };
  auto chosen = std::ranges::min_element(candidates, {}, rank);
  if (options.construction) {
    chosen = std::ranges::find(candidates, *options.construction,
                               [](const Candidate& candidate) { return candidate.choice.construction; });
    if (chosen == candidates.end())
      throw InputError(
          fmt::format("the construction {} does not fit the automaton in one layer", *options.construction));
  }
  SnapResult result{{}, static_cast<std::size_t>(chosen - candidates.begin()), std::move(chosen->network)};
  for (Candidate& candidate : candidates) result.choices.push_back(std::move(candidate.choice));
  return result;
}

namespace {

constexpr std::uint64_t kMaxPairs = 20'000, kMaxBytes = std::uint64_t{1} << 29, kLongLetters = 300'000;
constexpr std::uint64_t kExtractLength = 32, kExtractWords = 500;

void record(const Certificate& certificate, ModelFindings& findings) {
  findings.claim = to_string(certificate.claim);
  if (certificate.is<ProvedUpTo>()) findings.claim_length = certificate.length();
  if (certificate.is<Refuted>() && certificate.failing_word())
    findings.claim_length = certificate.failing_word()->size();
}

/// The construction that the learned code is near to, if its proof succeeds.
void snap(const Dfa& learned, const StateCentres& centres, ModelFindings& findings) {
  const SnapResult snapped = snap_network(learned, centres);
  Question question;
  question.subject = &snapped.network;
  question.name = snapped.choices[snapped.chosen].construction;
  question.how.max_pairs = kMaxPairs;
  if (verify(question).certificate.is<Proved>()) findings.snapped = snapped.choices[snapped.chosen].construction;
}

void examine(const SequenceModel<float>& model, const Task& task, std::uint64_t least_length, ModelFindings& findings) {
  const std::shared_ptr<const TrainedReader> machine = trained_machine(model, task, Precision::kFp32);
  const Dfa automaton = input_machine(task).automaton;
  const Certificate certificate = table_verdict(subject_of(machine, task, nullptr, least_length));
  record(certificate, findings);
  // A model that is wrong on the first words has learned another automaton, or none.
  if (certificate.is<Refuted>() && certificate.is_shortest()) return;
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

Certificate table_verdict(const ReadModel& model, const std::function<void(std::uint64_t)>& progress) {
  Question question;
  question.subject = &model;
  question.how.max_pairs = kMaxPairs;
  question.how.max_bytes = kMaxBytes;
  question.how.long_letters = kLongLetters;
  question.how.progress = progress;
  return verify(question).certificate;
}

ModelFindings examine_model(const SequenceModel<float>& model, const Task& task, std::uint64_t least_length) {
  const FloatEnvironment environment;
  ModelFindings findings;
  try {
    examine(model, task, least_length, findings);
  } catch (const Contradiction&) {
    throw;  // a mistake of krohn's is no property of the model
  } catch (const Error& error) {
    if (findings.claim.empty()) findings.claim = error.what();
  }
  return findings;
}

std::vector<MarginPoint> margins_along(const TrainedReader& reader, const TrackedAutomaton& tracked, const Word& word) {
  std::vector<MarginPoint> points;
  ReaderRun run(reader, tracked);
  std::uint64_t first = 1, next = 2;  // of the stretch, and after it
  for (std::uint64_t t = 1; t <= word.size(); ++t) {
    if (t == next) first = next, next *= 2;
    if (t == word.size()) first = t;
    if (!run.read(word[t - 1])) throw InputError(fmt::format("letter {} of the word cannot stand there", t));
    if (!run.is_asked()) continue;
    const double margin = run.answer().margin;
    const bool is_new = points.empty() || points.back().first != first;
    if (!is_new) points.back().last = t;
    if (!is_new && points.back().margin <= margin) continue;
    double squares = 0;
    for (const std::vector<double>& part : reader.states(run.memory()))
      for (const double x : part) squares += x * x;
    const MarginPoint point{first, t, margin, t, std::sqrt(squares)};
    if (is_new)
      points.push_back(point);
    else
      points.back() = point;
  }
  return points;
}

}  // namespace krohn
