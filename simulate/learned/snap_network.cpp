#include "krohn/simulate/learned/snap_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <numbers>
#include <tuple>
#include <utility>

#include "krohn/constructions/actions/abelian_structure.h"
#include "krohn/constructions/build/build_rotation.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"

namespace krohn {
namespace {

constexpr double kLeastShare = 0.01;             ///< harmonics below are noise
constexpr std::uint64_t kMostNumbers = 1 << 22;  ///< of a construction's codes together
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
    if (row.state_numbers * automaton.states() > kMostNumbers) return;
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

}  // namespace krohn
