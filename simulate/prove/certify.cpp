#include "krohn/simulate/prove/certify.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "krohn/groups/counted.h"
#include "krohn/groups/float_environment.h"
#include "krohn/groups/time_limit.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/prove/any_order.h"
#include "krohn/simulate/prove/bounds/bounds.h"
#include "krohn/simulate/prove/bounds/linear_horizon.h"
#include "krohn/simulate/prove/certify_codewords.h"
#include "krohn/simulate/prove/certify_exact.h"
#include "krohn/simulate/prove/certify_snapped.h"
#include "krohn/simulate/prove/claims/within_time.h"
#include "krohn/simulate/prove/machine/certify_reader.h"
#include "krohn/simulate/prove/machine/reader_run.h"
#include "krohn/simulate/prove/orders/certify_order.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"
#include "krohn/simulate/prove/pairs/network_reader.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/prove/steps.h"

namespace krohn {
namespace {

/// A search of so many pairs takes less time than looking for bounds.
constexpr std::uint64_t kQuickPairs = 65'536;
/// Of the time: for all proofs before long words, and for the large search among them.
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

/// Of what is proved exactly, what a file can hold: tables of codewords that are the exact states.
Proof exact_proof(const Network& network, const Certificate& exact, CertifyOptions options) {
  options.arithmetic = Precision::kFp64;
  options.form = Form::kStructured;
  const auto closed = within_time(0.5, [&] { return certify_closed_codewords(network, options); });
  if (!closed) return {};
  Certificate written = exact;
  written.form = Form::kStructured;
  written.order = {};
  written.claim = Proved{};
  written.proof = closed->proof;
  return recheck(with_steps(written, network), network).established ? closed->proof : Proof();
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

}  // namespace krohn
