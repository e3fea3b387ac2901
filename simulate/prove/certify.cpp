#include "krohn/simulate/prove/certify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/arithmetic/interval.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/prove/bounds/bounds.h"
#include "krohn/simulate/prove/orders/ordered_search.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/prove/self_check.h"

namespace krohn {
namespace {

/// A search of so many pairs takes less time than looking for bounds.
constexpr std::uint64_t kQuickPairs = 65'536;
/// Shares of the time: for all proofs before long words, and for the large search among them.
constexpr double kShareOfProofs = 0.85, kShareOfPairs = 0.95;

Certificate search(const Network& network, CertifyOptions options, std::uint64_t max_pairs) {
  options.max_pairs = max_pairs;
  const bool elsewhere = options.place != nullptr && max_pairs > kQuickPairs && network.snap_every == 0;
  Certificate certificate =
      elsewhere ? options.place->search_pairs(network, options) : certify_reachable_set(network, options);
  if (network.snap_every > 0)
    certificate.evidence +=
        fmt::format("; it is not linear, but snaps every {}", counted(network.snap_every, "letter"));
  return certificate;
}

/// The claim for any order, or nothing and why.
Certificate in_any_order(const Network& network, const CertifyOptions& options) {
  auto found = certify_any_order(network, options);
  if (auto* certificate = std::get_if<Certificate>(&found)) return std::move(*certificate);
  Certificate none;
  none.arithmetic = options.arithmetic;
  none.form = options.form;
  none.method = "exact in any order";
  none.evidence = "not shown: " + std::get<std::string>(found);
  return none;
}

/// The part of an exact proof that a file can hold: tables of codewords that are the exact states.
Proof exact_proof(const Network& network, const Certificate& exact, CertifyOptions options) {
  options.arithmetic = Precision::kFp64;
  options.form = Form::kStructured;
  const auto proof = within_time(0.5, [&]() -> std::optional<Proof> {
    const std::optional<Certificate> closed = certify_closed_codewords(network, options);
    if (!closed) return std::nullopt;
    Certificate written = exact;
    written.form = Form::kStructured;
    written.order = {};
    written.claim = Proved{};
    written.proof = closed->proof;
    if (!recheck(with_steps(written, network), network).established) return std::nullopt;
    return closed->proof;
  });
  return proof.value_or(Proof());
}

/// Everything but long words.
Certificate prove(const Network& network, const CertifyOptions& options) {
  if (options.any_order) return in_any_order(network, options);
  if (options.arithmetic.is_exact()) {
    require_linear(network, "exact arithmetic");
    Certificate exact = certify_exact(network, options);
    exact.order = options.order;
    if (exact.is<Proved>()) exact.claim = Proved{.every_association = !options.order.is_sequential()};
    if (exact.is<Proved>() && options.order.is_sequential() && options.form == Form::kStructured)
      exact.proof = exact_proof(network, exact, options);
    return exact;
  }
  if (!options.order.is_sequential()) return certify_order(network, options);
  if (auto closed = within_time(0.3, [&] { return certify_closed_codewords(network, options); }))
    return *std::move(closed);
  if (options.arithmetic.is_integer()) return search(network, options, options.max_pairs);
  Certificate searched = [&] {
    const TimeLimit third = TimeLimit::part(1.0 / 3);
    return search(network, options, std::min(options.max_pairs, kQuickPairs));
  }();
  if (!searched.is<ProvedUpTo>()) return searched;
  if (std::optional<Certificate> snapped = certify_snapped(network, options)) return *std::move(snapped);
  std::optional<BoundCertificate> bound = [&] {
    const TimeLimit half = TimeLimit::part(0.5);
    return certify_bounds(network, options);
  }();
  if (bound && bound->certificate.is<Proved>()) return std::move(bound->certificate);
  if (options.max_pairs > kQuickPairs) {
    const TimeLimit most = TimeLimit::part(kShareOfPairs);
    searched = search(network, options, options.max_pairs);
  }
  if (!searched.is<ProvedUpTo>() || !bound || bound->certificate.length() <= searched.length()) return searched;
  bound->certificate.limit = searched.limit;
  if (auto horizon = within_time(0.5, [&] { return linear_horizon(network, options.arithmetic, options.form); })) {
    horizon->length = std::min(horizon->length, bound->certificate.length());
    bound->certificate.proof = *std::move(horizon);
  }
  return std::move(bound->certificate);
}

/// A proof up to a few letters says little: errors that it could not bound add up in words of thousands.
void try_longer_words(Certificate& certificate, const Network& network, const CertifyOptions& options) {
  constexpr std::uint64_t kFew = 4096;
  if (!certificate.is<ProvedUpTo>() || certificate.length() >= kFew || !options.order.is_sequential() ||
      options.arithmetic.is_exact())
    return;
  ReaderLimits limits;
  limits.long_letters = options.long_letters;
  limits.seed = options.seed;
  limits.long_progress = options.long_progress;
  const auto reader = network_reader(network, options.arithmetic, options.form);
  const TrackedAutomaton tracked = every_state(network.automaton);
  try_long_words(certificate, *reader, tracked, limits);
  if (!certificate.is<Refuted>()) return;
  ReaderRun run(*reader, tracked);
  for (const Letter letter : *certificate.failing_word()) run.read(letter);
  const Output given = run.answer().output;
  certificate.proof =
      FailingRun{{}, run.state(), given == LetterReader::kNoAnswer ? std::nullopt : std::optional<State>(given)};
}

}  // namespace

Certificate certify(const Network& network, const CertifyOptions& options) {
  const FloatEnvironment environment;
  const TimeLimit time(options.max_seconds, fmt::format("--time {:g}", options.max_seconds));
  Certificate certificate = [&] {
    const TimeLimit most = TimeLimit::part(kShareOfProofs);
    return prove(network, options);
  }();
  try_longer_words(certificate, network, options);
  return certificate;
}

// The certificate of networks that snap (MATH.md §5, "Snapping"): between two snaps the network is linear, so that the
// recurrence of the bounds has to stay within the margin for K letters, in the first block from H_0 and in every later
// one from the rounded codeword of the right label, to which the snap before it led.

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

/// True if e ← L e + ε, from e = start, stays within the margin for K letters. For L > 1 that is a geometric series.
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
