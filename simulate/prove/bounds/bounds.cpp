#include "krohn/simulate/prove/bounds/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr unsigned kCoarseRadii = 4, kFineRadii = 64;
/// Rounded operations that a bound may take; fewer radii make do with less.
constexpr double kMostOperations = 3e8, kQuickOperations = 5e6;
constexpr std::uint32_t kMostMemory = 3;
constexpr std::uint64_t kMostEdgesOfMemory = 4'000;
/// Weights of the present centres in the fits: almost none, for steps that contract; and enough to keep isometries,
/// whose equations are solved by zero, from shrinking.
constexpr double kAnchors[] = {1e-9, 1e-3};

/// Thrown inside the search for a machine when its time is up.
struct OutOfTime {};

/// Looks for the centres and norms that give one layer the strongest bound, until `is_late`.
class LayerSearch {
 public:
  LayerSearch(const Layer& layer, const StepModel& model, const CentreLayer& machine,
              const std::function<bool()>& is_late)
      : layer_(layer), model_(model), machine_(machine), is_late_(is_late) {}

  std::optional<LayerBound> best() {
    if (operations(kCoarseRadii) > kMostOperations) return std::nullopt;
    search();
    if (best_ && !best_->radius && !is_late_()) consider(best_->centres, best_->norms, fine_radii());
    return std::move(best_);
  }

 private:
  double operations(unsigned radii) const {
    double steps = 0;
    for (const CentreEdge& edge : machine_.edges) steps += static_cast<double>(model_.work(edge.action));
    const auto size = static_cast<double>(model_.dimension() * model_.columns());
    const double decoding =
        static_cast<double>(machine_.centres.size()) * static_cast<double>(codeword_count(layer_)) * size;
    return 3 * radii * steps + 10 * decoding;
  }

  unsigned fine_radii() const {
    unsigned radii = kFineRadii;
    while (radii > 2 * kCoarseRadii && operations(radii) > kQuickOperations) radii /= 2;
    return radii;
  }

  /// Stops at the first proof for all lengths.
  void search() {
    const StateNorms euclidean = StateNorms::euclidean(machine_.centres.size());
    if (consider(machine_.centres, euclidean, kCoarseRadii) || is_isometric(*best_)) return;
    if (consider_norms(euclidean)) return;
    for (const bool is_common : {true, false})
      for (const StateNorms& norms : lyapunov_norms(model_, machine_, is_common))
        if (consider_norms(norms)) return;
  }

  /// Nothing but rounding moves these norms from 1: no other norm is better.
  static bool is_isometric(const LayerBound& bound) {
    if (bound.edge_norm.empty()) return false;
    const auto [least, greatest] = std::minmax_element(bound.edge_norm.begin(), bound.edge_norm.end());
    return *least > 0.99 && *greatest < 1.01;
  }

  bool consider_norms(const StateNorms& norms) {
    if (!norms.factors.empty() && consider(machine_.centres, norms, kCoarseRadii)) return true;
    for (const double anchor : kAnchors)
      if (consider(fitted_centres(model_, machine_, norms, anchor), norms, kCoarseRadii)) return true;
    return false;
  }

  /// These centres, in these norms as they are and balanced. True: proved for all lengths, or the time is up.
  bool consider(std::vector<Eigen::MatrixXd> centres, const StateNorms& norms, unsigned radii) {
    if (best_ && is_late_()) return true;
    LayerBound bound = bound_layer(layer_, model_, machine_, std::move(centres), norms, radii);
    const bool is_open = !bound.radius && bound.margin > 0 && bound.edge_norm.size() == machine_.edges.size();
    if (is_open && !is_isometric(bound)) {
      LayerBound balanced =
          bound_layer(layer_, model_, machine_, bound.centres, balanced_scales(machine_, bound), radii);
      if (is_stronger(balanced, bound)) bound = std::move(balanced);
    }
    if (!best_ || is_stronger(bound, *best_)) best_ = std::move(bound);
    return best_->radius.has_value();
  }

  const Layer& layer_;
  const StepModel& model_;
  const CentreLayer& machine_;
  const std::function<bool()>& is_late_;
  std::optional<LayerBound> best_;
};

/// The least claim of the layers.
const LayerBound& weakest(const BoundEvidence& evidence) {
  return *std::min_element(evidence.layers.begin(), evidence.layers.end(),
                           [](const LayerBound& a, const LayerBound& b) { return is_stronger(b, a); });
}

bool holds_for_all_lengths(const BoundEvidence& evidence) { return weakest(evidence).radius.has_value(); }

std::optional<BoundEvidence> bound_machine(const Network& network, StepModels models, CentreMachine machine,
                                           const std::function<bool()>& is_late) {
  BoundEvidence evidence{std::move(machine), {}};
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    std::optional<LayerBound> bound =
        LayerSearch(network.layers[k], *models[k], evidence.machine.layers[k], is_late).best();
    if (!bound) return std::nullopt;
    evidence.layers.push_back(*std::move(bound));
  }
  return evidence;
}

std::string norm_name(const StateNorms& norms) {
  const bool is_scaled =
      std::any_of(norms.scale.begin(), norms.scale.end(), [&](double scale) { return scale != norms.scale.front(); });
  const std::string scaled = is_scaled ? ", scaled for each state" : "";
  if (norms.factors.empty()) return "the Euclidean norm" + scaled;
  if (norms.factors.size() == 1) return "a common quadratic Lyapunov norm" + scaled;
  return "a quadratic Lyapunov norm for each state";
}

/// One sentence; the figures are those of the layer that limits the claim.
std::string evidence_in_words(const BoundEvidence& evidence) {
  const LayerBound& bound = weakest(evidence);
  std::size_t centres = 0, edges = 0;
  for (const CentreLayer& layer : evidence.machine.layers) {
    centres += layer.centres.size();
    edges += layer.edges.size();
  }
  return fmt::format(
      "ε = {:.3g}, L = {:.10g}, margin {:.3g}{} in {}; {} and {} between them, whose "
      "labels emulate the automaton {}",
      bound.error, bound.norm, bound.margin,
      bound.radius ? fmt::format(", invariant radius {:.3g}", *bound.radius) : "", norm_name(bound.norms),
      counted(centres, "centre"), counted(edges, "step"), evidence.machine.emulation);
}

Certificate certificate_of(const BoundEvidence& evidence, const CertifyOptions& options) {
  Certificate certificate;
  const bool is_proved = holds_for_all_lengths(evidence);
  if (is_proved)
    certificate.claim = Proved{};
  else
    certificate.claim = ProvedUpTo{weakest(evidence).length};
  certificate.arithmetic = options.arithmetic;
  certificate.form = options.form;
  certificate.method = is_proved ? "contraction bound" : "horizon bound";
  for (const CentreLayer& layer : evidence.machine.layers) certificate.pairs += layer.edges.size();
  certificate.evidence = evidence_in_words(evidence);
  return certificate;
}

}  // namespace

std::optional<BoundCertificate> certify_bounds(const Network& network, const CertifyOptions& options) {
  if (network.snap_every > 0 || !options.order.is_sequential()) return std::nullopt;
  std::vector<std::unique_ptr<StepModel>> models;
  for (const Layer& layer : network.layers) {
    models.push_back(make_step_model(layer, options.arithmetic, options.form));
    if (!models.back()) return std::nullopt;
  }
  const TimeLimit time(options.max_seconds, fmt::format("--time {:g}", options.max_seconds));
  const std::function<bool()> is_late = [] { return !TimeLimit::met().empty(); };
  MachineLimits limits;
  limits.tick = [&options, &is_late] {
    if (options.progress) options.progress(0);
    if (is_late()) throw OutOfTime{};
  };
  std::optional<BoundEvidence> best;
  const auto take = [&](std::optional<CentreMachine> machine) {
    if (!machine) return false;
    std::optional<BoundEvidence> evidence = bound_machine(network, models, *std::move(machine), is_late);
    if (!evidence) return false;
    const bool is_better = !best || is_stronger(weakest(*evidence), weakest(*best));
    if (is_better) best = std::move(evidence);
    return is_better;
  };
  try {
    take(codeword_machine(network, models, limits));
    for (std::uint32_t memory = 0; memory <= kMostMemory && !(best && holds_for_all_lengths(*best)); ++memory) {
      if (memory == 1) limits.max_tuples = kMostEdgesOfMemory;
      if (!take(automaton_machine(network, models, memory, limits)) && memory > 0) break;
    }
  } catch (const OutOfTime&) {  // what was found until then is as good as ever
  }
  if (!best) return std::nullopt;
  Certificate certificate = certificate_of(*best, options);
  return BoundCertificate{std::move(certificate), *std::move(best)};
}

}  // namespace krohn
