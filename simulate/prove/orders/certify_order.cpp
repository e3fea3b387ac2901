#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/claims/closed_layer.h"
#include "krohn/simulate/prove/orders/exact_order.h"
#include "krohn/simulate/prove/orders/network_in_order.h"
#include "krohn/simulate/prove/orders/ordered_search.h"

namespace krohn {
namespace {

// Proofs that a layer computes without any rounding, in whatever way its letters' matrices, as they are stored, are
// associated: then every order of these gives the numbers that exact arithmetic gives (MATH.md §5, "Orders"). How they
// were stored is no part of it.

struct ExactnessLimits {
  std::uint64_t max_maps = 1'000'000;  ///< maps, vectors of an orbit
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
};

/// No grain is let below this, so that the products of six of them, which the bounds below are made of, cannot
/// underflow.
constexpr int kLeastGrain = -160;

/// Every multiple of the grain within the bound is a normal number of at most `digits` significant bits.
bool fits(const FormatLimits& format, const GrainRange& extent, int digits) {
  const double most = extent.most.value();
  if (!std::isfinite(most)) return false;
  if (most == 0) return true;
  return extent.grain >= std::ldexp(1.0, std::max(format.least_exponent, kLeastGrain)) &&
         most <= std::ldexp(extent.grain, digits) && most < std::ldexp(1.0, format.greatest_exponent);
}

/// The same of numbers that were *computed*, as sums whose exact values are multiples of the grain. 2^digits grains are
/// a number of the format (or past its greatest), so that a sum of as many or more is rounded to no less: a result
/// below that was not rounded at all. A result that is just as great may be a longer sum's.
bool shows_exactness(const FormatLimits& format, const GrainRange& computed) {
  return fits(format, computed, format.digits) && computed.most.value() < std::ldexp(computed.grain, format.digits);
}

/// Bounds over a set of maps.
struct MapExtent {
  GrainRange entries, additions;
  UpperBound row_sum, column_sum, addition_sum;
};

/// The proof for layers with maps.
class ExactMaps {
 public:
  ExactMaps(LayerInOrder& layer, const StateExtent& states, const ExactnessLimits& limits)
      : layer_(layer), shape_(layer.maps()), states_(states), limits_(limits) {}

  std::optional<std::string> prove() { return shape_.only_moves() ? prove_moves() : prove_products(); }

 private:
  bool is_within(const WordMaps& maps) const {
    return maps.count() <= limits_.max_maps && maps.bytes() <= limits_.max_bytes;
  }

  /// Matrices that move numbers are never rounded. The sums of a column's ± numbers are bounded by Σ |·|; what they
  /// come to once B is added is a reached state, or what a longer word adds to 0, and both are listed letter by letter.
  std::optional<std::string> prove_moves() {
    StateExtent added;
    WordMaps maps(layer_);
    if (shape_.adds() && !maps.close([&](const auto& numbers) { added.add(numbers, layer_.dimension()); },
                                     [&] { return is_within(maps); }))
      return std::nullopt;
    const double grain = common_grain(states_.entries.grain, added.entries.grain);
    if (!fits(format_, {grain, std::max(states_.column_sum, added.column_sum)}, format_.digits)) return std::nullopt;
    const GrainRange results{grain, std::max(states_.entries.most, added.entries.most)};
    if (shape_.adds() && results.most.value() > 0 && !shows_exactness(format_, results)) return std::nullopt;
    if (!shape_.adds()) return "matrices only move numbers, and their products only compose maps";
    return fmt::format("matrices only move numbers, and words add {} to 0, none of which rounds",
                       counted(maps.count(), "vector"));
  }

  /// All maps of words, found letter by letter, and then bounds on every product of two of them.
  std::optional<std::string> prove_products() {
    MapExtent extent;
    WordMaps maps(layer_);
    if (!maps.close([&](const auto& numbers) { widen(extent, numbers); },
                    [&] { return is_within(maps) && exact_products(extent); }) ||
        !exact_products(extent))
      return std::nullopt;
    return fmt::format("words have {} matrices, and no product or sum of any two of them rounds", maps.count());
  }

  void widen(MapExtent& extent, const std::vector<double>& numbers) const {
    std::size_t at = 0;
    for (const std::size_t size : shape_.blocks) {
      std::vector<UpperBound> column_sums(size);
      for (std::size_t i = 0; i < size; ++i) {
        UpperBound row_sum;
        for (std::size_t j = 0; j < size; ++j) {
          const double entry = numbers[at++];
          extent.entries.add(entry);
          row_sum = row_sum + UpperBound(entry);
          column_sums[j] = column_sums[j] + UpperBound(entry);
        }
        extent.row_sum = std::max(extent.row_sum, row_sum);
      }
      extent.column_sum = std::max(extent.column_sum, *std::max_element(column_sums.begin(), column_sums.end()));
    }
    StateExtent added;
    added.add({numbers.begin() + static_cast<std::ptrdiff_t>(shape_.entries), numbers.end()}, layer_.dimension());
    extent.additions |= added.entries;
    extent.addition_sum = std::max(extent.addition_sum, added.column_sum);
  }

  /// Every partial sum of a row of one factor with a column of the other is at most Σ |a||b|.
  bool exact_products(const MapExtent& e) const {
    const auto bound = [&](UpperBound most, UpperBound column_sum) {
      return std::min(e.row_sum * most, e.entries.most * column_sum);
    };
    const GrainRange products{(e.entries * e.entries).grain, bound(e.entries.most, e.column_sum)};
    const GrainRange moved = e.entries * e.additions, read = e.entries * states_.entries;
    const GrainRange sums{common_grain(common_grain(moved.grain, read.grain), e.additions.grain),
                          std::max(bound(e.additions.most, e.addition_sum) + e.additions.most,
                                   bound(states_.entries.most, states_.column_sum) + e.additions.most)};
    return std::ranges::all_of(std::vector{products, sums, e.entries, e.additions, states_.entries},
                               [&](const GrainRange& range) { return fits(format_, range, format_.kept_digits); });
  }

  LayerInOrder& layer_;
  const MapShape& shape_;
  const FormatLimits format_ = layer_.format();
  const StateExtent& states_;
  const ExactnessLimits& limits_;
};

/// The proof for the UT form. With V the orbit of the keys and X the orbit of H_0's columns under all factors, exact
/// values of all that is computed are inner products and differences of members of V and X (MATH.md §5, "Orders").
class ExactChunk {
 public:
  ExactChunk(const LayerInOrder& layer, const StateExtent& states, const ExactnessLimits& limits)
      : n_(layer.dimension()), format_(layer.format()), states_(states), limits_(limits), initial_(layer.initial()) {
    for (OrderFactor& factor : layer.factors())
      if (std::ranges::find(factors_, factor) == factors_.end()) factors_.push_back(std::move(factor));
  }

  std::optional<std::string> prove() {
    NumberSet v(n_), x(n_);
    for (const OrderFactor& factor : factors_) v.insert(factor.key.data());
    for (std::size_t at = 0; at < initial_.size(); at += n_) x.insert(initial_.data() + at);
    StateExtent keys, columns;
    if (!close(v, keys) || !close(x, columns)) return std::nullopt;
    columns.entries |= states_.entries;
    if (!chunk_fits(keys, columns, greatest_response(v))) return std::nullopt;
    return fmt::format(
        "{} factors move {} keys and {} among themselves, which bounds every entry and partial sum of the UT "
        "transform of chunks of any size; none rounds",
        factors_.size(), v.count(), counted(x.count(), "column"));
  }

 private:
  double dot(const std::vector<double>& a, const std::vector<double>& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) sum += a[i] * b[i];
    return sum;
  }

  /// The orbit under all factors, in fp64; `orbit_is_exact` says whether that rounded.
  bool close(NumberSet& orbit, StateExtent& extent) const {
    std::vector<double> from, to;
    for (std::size_t i = 0; i < orbit.count(); ++i) {
      if (orbit.count() > limits_.max_maps || orbit.bytes() > limits_.max_bytes) return false;
      orbit.read(i, from);
      extent.add(from, n_);
      TimeLimit::check();
      for (const OrderFactor& factor : factors_) {
        const double t = factor.beta * dot(factor.key, from);
        to = from;
        for (std::size_t j = 0; j < n_; ++j) to[j] -= factor.key[j] * t;
        orbit.insert(to.data());
      }
    }
    return true;
  }

  /// The most of |T|: max |β_r k_r · v|. No number here rounds once `orbit_is_exact` says so of V.
  UpperBound greatest_response(const NumberSet& v) const {
    UpperBound most;
    std::vector<double> vector;
    for (std::size_t i = 0; i < v.count(); ++i) {
      TimeLimit::check();
      v.read(i, vector);
      for (const OrderFactor& factor : factors_)
        most = std::max(most, UpperBound(factor.beta * dot(factor.key, vector)));
    }
    return most;
  }

  bool chunk_fits(const StateExtent& v, const StateExtent& x, UpperBound response) const {
    const UpperBound two(2);
    GrainRange k, beta, scaled;
    UpperBound key_sum, scaled_sum;
    for (const OrderFactor& factor : factors_) {
      StateExtent key;
      key.add(factor.key, n_);
      k |= key.entries;
      beta.add(factor.beta);
      const UpperBound weight(factor.beta);
      scaled |= GrainRange{grain_product(factor.beta, key.entries.grain), weight * key.entries.most};
      key_sum = std::max(key_sum, key.column_sum);
      scaled_sum = std::max(scaled_sum, weight * key.column_sum);
    }
    if (!orbit_is_exact(v.entries, k, key_sum, beta) || !orbit_is_exact(x.entries, k, key_sum, beta)) return false;
    const UpperBound b = beta.most;
    const GrainRange gram{scaled.grain * k.grain, std::min(scaled_sum * k.most, scaled.most * key_sum)};
    const GrainRange t{scaled.grain * v.entries.grain, response};
    const GrainRange solving{common_grain(gram.grain * t.grain, gram.grain),
                             std::max(two * response, gram.most * response)};
    const GrainRange w{common_grain(t.grain * scaled.grain, scaled.grain),
                       std::max({two * b * v.entries.most, response * scaled.most, scaled.most})};
    const GrainRange u{beta.grain * v.entries.grain * x.entries.grain, b * v.column_sum * x.entries.most};
    const GrainRange h{common_grain(k.grain * u.grain, x.entries.grain),
                       std::max(k.most * u.most, two * x.entries.most)};
    const std::vector<GrainRange> all{k, beta, scaled, gram, t, solving, w, u, h, v.entries, x.entries};
    return std::all_of(all.begin(), all.end(),
                       [&](const GrainRange& extent) { return fits(format_, extent, format_.kept_digits); });
  }

  /// True if o − k β (k · o) was computed without rounding for all members of an orbit.
  static bool orbit_is_exact(const GrainRange& o, const GrainRange& k, UpperBound key_sum, const GrainRange& beta) {
    const GrainRange dot{k.grain * o.grain, key_sum * o.most}, scaled = beta * dot;
    const GrainRange moved{common_grain(k.grain * scaled.grain, o.grain), k.most * scaled.most + o.most};
    const std::vector<GrainRange> all{o, k, beta, dot, scaled, moved};
    return std::all_of(all.begin(), all.end(),
                       [](const GrainRange& e) { return fits(format_limits<Fp64>(), e, Fp64::digits); });
  }

  static double grain_product(double factor, double grain) { return factor == 0 ? 0 : grain_of(factor) * grain; }

  std::size_t n_;
  FormatLimits format_;
  const StateExtent& states_;
  const ExactnessLimits& limits_;
  std::vector<OrderFactor> factors_;
  std::vector<double> initial_;
};

/// The reason why the layer is exact, in words; nothing when no proof was found, which says nothing about the layer.
/// The states must be all that words reach if letters round nothing; that they do not is part of what is proved.
///
/// With maps: every composition of letters, in any association, and its application to any state. In the UT form:
/// chunks of any number of letters. O(maps · letters · n³), O(vectors · factors · n).
std::optional<std::string> exactness(LayerInOrder& layer, const StateExtent& states, const ExactnessLimits& limits) {
  return layer.has_maps() ? ExactMaps(layer, states, limits).prove() : ExactChunk(layer, states, limits).prove();
}

/// The result of the proof that nothing rounds.
struct ExactNetwork {
  LabelMachine machine;
  std::vector<std::string> evidence;  ///< per layer
  bool only_maps = true;
  std::uint64_t pairs = 0;
};

std::optional<ExactNetwork> find_exact(const Network& network, NetworkInOrder& ordered, const CertifyOptions& options) {
  ExactNetwork exact;
  exact.machine.readout = network.readout.next;
  const ExactnessLimits limits{.max_maps = options.max_pairs, .max_bytes = options.max_bytes};
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    LayerInOrder& layer = *ordered.layers[k];
    ClosedLayer closed(network.layers[k], layer.books(), options.arithmetic);
    const auto move = [&](Action action, const std::vector<double>& from, std::vector<double>& to) {
      if (++exact.pairs % (1 << 16) == 0 && options.progress) options.progress(exact.pairs);
      layer.move(action, from, to);
    };
    if (!closed.close(move)) return std::nullopt;
    StateExtent extent;
    for (Label state = 0; state < closed.states(); ++state) extent.add(closed.numbers(state), layer.dimension());
    const std::optional<std::string> reason = exactness(layer, extent, limits);
    if (!reason) return std::nullopt;
    exact.evidence.push_back(*reason);
    exact.only_maps = exact.only_maps && layer.has_maps();
    exact.machine.layers.push_back(closed.take_machine());
  }
  return exact;
}

Certificate begin_certificate(const CertifyOptions& options) {
  Certificate certificate;
  certificate.arithmetic = options.arithmetic;
  certificate.form = options.form;
  certificate.order = options.order;
  return certificate;
}

std::optional<Certificate> certify_exact_network(const ExactNetwork& exact, const Network& network,
                                                 const CertifyOptions& options) {
  const std::optional<std::string> emulation = emulation_evidence(exact.machine, network, options);
  if (!emulation) return std::nullopt;
  Certificate certificate = begin_certificate(options);
  certificate.claim = Proved{.every_association = exact.only_maps};
  certificate.method = "exact in every association";
  certificate.pairs = exact.pairs;
  certificate.evidence = fmt::format(
      "every action takes every codeword to a codeword ({}), the labels so found emulate the automaton {}, and "
      "{}nothing rounds",
      counted(exact.pairs, "pair"), *emulation, exact.only_maps ? "once the letters' matrices are stored " : "");
  for (std::size_t k = 0; k < exact.evidence.size(); ++k)
    certificate.evidence += exact.evidence.size() == 1 ? fmt::format(": {}", exact.evidence[k])
                                                       : fmt::format("; layer {}: {}", k + 1, exact.evidence[k]);
  return certificate;
}

Certificate undecided(const CertifyOptions& options, std::string limit) {
  Certificate certificate = begin_certificate(options);
  certificate.limit = std::move(limit);
  return certificate;
}

/// The failing word once more, by the evaluator of the order: the claim must not rest on the search alone.
void replay(const Network& network, const Certificate& certificate, const CertifyOptions& options) {
  if (!certificate.failing_word()) return;
  const auto evaluator = make_evaluator(network, options.arithmetic, options.form, options.order);
  State state = network.automaton.initial();
  std::optional<State> answer = evaluator->current();
  for (const Letter letter : *certificate.failing_word()) {
    state = network.automaton.next(state, letter);
    answer = evaluator->step(letter);
  }
  if (answer == state)
    throw Error("the search found a failing word that the evaluator reads rightly; please report this");
}

}  // namespace

Certificate certify_order(const Network& network, const CertifyOptions& options) {
  if (options.order.is_sequential())
    throw InputError("--order sequential", "this order has certificates of its own; take another");
  const std::unique_ptr<NetworkInOrder> ordered = network_in_order(network, options);
  auto proved = within_time(0.5, [&]() -> std::optional<Certificate> {
    const std::optional<ExactNetwork> exact = find_exact(network, *ordered, options);
    return exact ? certify_exact_network(*exact, network, options) : std::nullopt;
  });
  if (proved) return *std::move(proved);
  if (network.layers.size() > 1)
    return undecided(options, "a layer rounds or leaves its codewords, and the search in this order takes one layer");
  Certificate found = search_order(network.automaton, *ordered->make_system(), options);
  replay(network, found, options);
  return found;
}

}  // namespace krohn
