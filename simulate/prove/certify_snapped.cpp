// The certificate of networks that snap (MATH.md §5, "Snapping"): between two snaps the network is linear, so that the
// recurrence of the bounds has to stay within the margin for K letters, in the first block from H_0 and in every later
// one from the rounded codeword of the right label, to which the snap before it led.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "krohn/groups/counted.h"
#include "krohn/simulate/arithmetic/interval_matrix.h"
#include "krohn/simulate/prove/bounds/bounds.h"
#include "krohn/simulate/prove/certify_snapped.h"

namespace krohn {
namespace {

/// Covers the roundings of the few operations in long double below, each of which is good to 2⁻⁵² of its result.
constexpr double kOutward = 1 + 0x1p-40;

bool has_one_codeword_per_label(const Layer& layer) {
  return layer.decoder.label_of.empty() && codeword_count(layer) == layer.labels;
}

/// An upper bound of how far from its centre a block starts: at H_0, or at the stored codeword of any state's label.
/// Nothing in norms other than the Euclidean one.
std::optional<double> block_start(const Layer& layer, const CentreLayer& machine, const LayerBound& bound,
                                  const StepModel& model) {
  if (!bound.norms.factors.empty()) return std::nullopt;
  double start = bound.start;
  for (std::size_t state = 0; state < bound.centres.size(); ++state) {
    const Eigen::MatrixXd stored = model.rounded(codeword(layer, machine.labels.shown[state]));
    if (!stored.allFinite()) return std::nullopt;
    const double away = frobenius_norm_bound(IntervalMatrix(stored) - IntervalMatrix(bound.centres[state]));
    start = std::max(start, multiply_up(away, bound.norms.scale[state]));
  }
  return start;
}

/// Whether e ← L e + ε, from e = start, stays within the margin for K letters. For L > 1 that is a geometric series.
bool stays_within(double start, const LayerBound& bound, std::uint64_t letters) {
  if (!(start <= bound.margin) || bound.edge_norm.empty()) return false;
  const long double norm = static_cast<long double>(bound.norm), error = static_cast<long double>(bound.error);
  const auto count = static_cast<long double>(letters);
  const long double growth = std::expm1(count * std::log1p(std::max(norm - 1, 0.0L)));  // L^K − 1
  const long double sum = norm > 1 ? growth / (norm - 1) : count;
  return (start * (1 + growth) + error * sum) * kOutward <= bound.margin;
}

}  // namespace

std::optional<Certificate> certify_snapped(const Network& network, const CertifyOptions& options) {
  if (network.snap_every == 0 || !std::all_of(network.layers.begin(), network.layers.end(), has_one_codeword_per_label))
    return std::nullopt;
  Network linear = network;
  linear.snap_every = 0;
  const auto bounds = certify_bounds(linear, options);
  if (!bounds) return std::nullopt;
  double worst_start = 0, worst_error = 0;
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const auto model = make_step_model(network.layers[k], options.arithmetic, options.form);
    const LayerBound& bound = bounds->evidence.layers[k];
    const auto start = block_start(network.layers[k], bounds->evidence.machine.layers[k], bound, *model);
    if (!start || !stays_within(*start, bound, network.snap_every)) return std::nullopt;
    worst_start = std::max(worst_start, *start);
    worst_error = std::max(worst_error, bound.error);
  }
  Certificate certificate = bounds->certificate;
  certificate.claim = Proved{};
  certificate.method = "snapped horizon bound";
  certificate.evidence = fmt::format(
      "not linear: by induction over blocks of {}, each from H_0 or a codeword within {:.3g} of the "
      "centres and drifting by at most {:.3g} a letter, which the decoder's margin outlasts; then every layer snaps to "
      "the right codeword",
      counted(network.snap_every, "letter"), worst_start, worst_error);
  return certificate;
}

}  // namespace krohn
