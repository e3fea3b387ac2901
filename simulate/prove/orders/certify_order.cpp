#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/arithmetic/interval.h"
#include "krohn/simulate/evaluate/layer_run.h"
#include "krohn/simulate/evaluate/reflection_chunk.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/claims/closed_layer.h"
#include "krohn/simulate/prove/orders/exact_order.h"
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

/// Significant bits that survive every operation: operands of products are cut in tf32.
template <class A>
constexpr int kept_digits() {
  return A::name.kind() == ArithmeticName::Kind::kTf32 ? 11 : A::digits;
}

/// No grain is let below this, so that the products of six of them, which the bounds below are made of, cannot
/// underflow.
constexpr int kLeastGrain = -160;

/// Every multiple of the grain within the bound is a normal number of at most `digits` significant bits.
template <class A>
bool fits(const GrainRange& extent, int digits) {
  const double most = extent.most.value();
  if (!std::isfinite(most)) return false;
  if (most == 0) return true;
  return extent.grain >= std::ldexp(1.0, std::max(A::least_exponent, kLeastGrain)) &&
         most <= std::ldexp(extent.grain, digits) && most < std::ldexp(1.0, A::greatest_exponent);
}

/// The same of numbers that were *computed*, as sums whose exact values are multiples of the grain. 2^digits grains are
/// a number of the format (or past its greatest), so that a sum of as many or more is rounded to no less: a result
/// below that was not rounded at all. A result that is just as great may be a longer sum's.
template <class A>
bool shows_exactness(const GrainRange& computed) {
  return fits<A>(computed, A::digits) && computed.most.value() < std::ldexp(computed.grain, A::digits);
}

/// Bounds over a set of maps.
struct MapExtent {
  GrainRange entries, additions;
  UpperBound row_sum, column_sum, addition_sum;
};

/// The proof for layers with maps.
template <class A>
class ExactMaps {
 public:
  ExactMaps(const AffineLayer<A>& affine, const StateExtent& states, const ExactnessLimits& limits)
      : affine_(affine), states_(states), limits_(limits) {}

  std::optional<std::string> prove() { return affine_.only_moves() ? prove_moves() : prove_products(); }

 private:
  bool is_within(const WordMaps<A>& maps) const {
    return maps.count() <= limits_.max_maps && maps.bytes() <= limits_.max_bytes;
  }

  /// Matrices that move numbers are never rounded. The sums of a column's ± numbers are bounded by Σ |·|; what they
  /// come to once B is added is a reached state, or what a longer word adds to 0, and both are listed letter by letter.
  std::optional<std::string> prove_moves() {
    StateExtent added;
    WordMaps<A> maps(affine_);
    if (affine_.adds() && !maps.close([&](const auto& numbers) { added.add(numbers, affine_.dimension()); },
                                      [&] { return is_within(maps); }, [](auto, auto) {}))
      return std::nullopt;
    const double grain = common_grain(states_.entries.grain, added.entries.grain);
    if (!fits<A>({grain, std::max(states_.column_sum, added.column_sum)}, A::digits)) return std::nullopt;
    const GrainRange results{grain, std::max(states_.entries.most, added.entries.most)};
    if (affine_.adds() && results.most.value() > 0 && !shows_exactness<A>(results)) return std::nullopt;
    if (!affine_.adds()) return "matrices only move numbers, and their products only compose maps";
    return fmt::format("matrices only move numbers, and words add {} to 0, none of which rounds",
                       counted(maps.count(), "vector"));
  }

  /// All maps of words, found letter by letter, and then bounds on every product of two of them.
  std::optional<std::string> prove_products() {
    MapExtent extent;
    WordMaps<A> maps(affine_);
    if (!maps.close([&](const auto& numbers) { widen(extent, numbers, maps.entries()); },
                    [&] { return is_within(maps) && exact_products(extent); }, [](auto, auto) {}) ||
        !exact_products(extent))
      return std::nullopt;
    return fmt::format("words have {} matrices, and no product or sum of any two of them rounds", maps.count());
  }

  void widen(MapExtent& extent, const std::vector<double>& numbers, std::size_t matrix) const {
    std::size_t at = 0;
    for (const std::size_t size : affine_.blocks()) {
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
    added.add({numbers.begin() + static_cast<std::ptrdiff_t>(matrix), numbers.end()}, affine_.dimension());
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
    const int digits = kept_digits<A>();
    return fits<A>(products, digits) && fits<A>(sums, digits) && fits<A>(e.entries, digits) &&
           fits<A>(e.additions, digits) && fits<A>(states_.entries, digits);
  }

  const AffineLayer<A>& affine_;
  const StateExtent& states_;
  const ExactnessLimits& limits_;
};

/// The proof for the UT form. With V the orbit of the keys and X the orbit of H_0's columns under all factors, exact
/// values of all that is computed are inner products and differences of members of V and X (MATH.md §5, "Orders").
template <class A>
class ExactChunk {
 public:
  ExactChunk(const OrderedLayer<A>& layer, const StateExtent& states, const ExactnessLimits& limits)
      : n_(layer.dimension()), states_(states), limits_(limits) {
    for (const auto& letter : layer.reflections())
      for (const auto& factor : letter.factors) add_factor(factor);
    to_doubles(layer.rounded().initial(), initial_);
  }

  std::optional<std::string> prove() {
    NumberSet v(n_), x(n_);
    for (const Factor& factor : factors_) v.insert(factor.key.data());
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
  struct Factor {
    std::vector<double> key;
    double beta;
  };

  void add_factor(const typename OrderedLayer<A>::Reflections::Factor& rounded) {
    Factor factor{std::vector<double>(n_, 0), to_double(rounded.beta)};
    for (const auto& entry : rounded.entries) factor.key[entry.position] = to_double(entry.key);
    const auto same = [&](const Factor& other) { return other.beta == factor.beta && other.key == factor.key; };
    if (std::none_of(factors_.begin(), factors_.end(), same)) factors_.push_back(std::move(factor));
  }

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
      for (const Factor& factor : factors_) {
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
      for (const Factor& factor : factors_) most = std::max(most, UpperBound(factor.beta * dot(factor.key, vector)));
    }
    return most;
  }

  bool chunk_fits(const StateExtent& v, const StateExtent& x, UpperBound response) const {
    const UpperBound two(2);
    GrainRange k, beta, scaled;
    UpperBound key_sum, scaled_sum;
    for (const Factor& factor : factors_) {
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
                       [](const GrainRange& extent) { return fits<A>(extent, kept_digits<A>()); });
  }

  /// True if o − k β (k · o) was computed without rounding for all members of an orbit.
  static bool orbit_is_exact(const GrainRange& o, const GrainRange& k, UpperBound key_sum, const GrainRange& beta) {
    const GrainRange dot{k.grain * o.grain, key_sum * o.most}, scaled = beta * dot;
    const GrainRange moved{common_grain(k.grain * scaled.grain, o.grain), k.most * scaled.most + o.most};
    const std::vector<GrainRange> all{o, k, beta, dot, scaled, moved};
    return std::all_of(all.begin(), all.end(), [](const GrainRange& e) { return fits<Fp64>(e, Fp64::digits); });
  }

  static double grain_product(double factor, double grain) { return factor == 0 ? 0 : grain_of(factor) * grain; }

  std::size_t n_;
  const StateExtent& states_;
  const ExactnessLimits& limits_;
  std::vector<Factor> factors_;
  std::vector<double> initial_;
};

/// The reason why the layer is exact, in words; nothing when no proof was found, which says nothing about the layer.
/// The states must be all that words reach if letters round nothing; that they do not is part of what is proved.
///
/// With maps (`ordered.affine()`): every composition of letters, in any association, and its application to any state.
/// In the UT form: chunks of any number of letters. O(maps · letters · n³), O(vectors · factors · n).
template <class A>
std::optional<std::string> exactness(const OrderedLayer<A>& ordered, const StateExtent& states,
                                     const ExactnessLimits& limits) {
  if (ordered.affine() != nullptr) return ExactMaps<A>(*ordered.affine(), states, limits).prove();
  return ExactChunk<A>(ordered, states, limits).prove();
}

/// A map's record: the book of its last letter; where it takes each state of the automaton; its numbers. A state's
/// record: the automaton's state; the book; the numbers.
template <class A>
class System final : public OrderSystem {
 public:
  using Number = typename A::Number;
  using Bits = typename A::Bits;
  using Map = typename AffineLayer<A>::Map;

  System(const Network& network, const OrderedNetwork<A>& ordered)
      : automaton_(network.automaton),
        network_(ordered),
        layer_(ordered.layers()[0]),
        scratch_(ordered.rounded().make_scratch()),
        from_(layer_.rounded().size()),
        to_(from_.size()) {
    if (!has_maps()) return;
    sums_ = layer_.affine()->make_sums();
    second_ = first_ = out_ = layer_.affine()->make_map();
  }

  bool has_maps() const override { return layer_.affine() != nullptr; }
  std::size_t map_words() const override {
    return 1 + automaton_.states() + second_.targets.size() +
           kWords * (second_.entries.size() + second_.addition.size());
  }
  std::size_t state_words() const override { return 2 + kWords * from_.size(); }

  void letter(Letter letter, std::uint32_t* map) override {
    const RoundedLayer<A>& rounded = layer_.rounded();
    map[0] = rounded.book_of(letter);
    for (State q = 0; q < automaton_.states(); ++q) map[1 + q] = automaton_.next(q, letter);
    pack_map(layer_.affine()->letter(rounded.action_of(letter)), map);
  }

  void compose(const std::uint32_t* second, const std::uint32_t* first, std::uint32_t* out) override {
    unpack_map(second, second_);
    unpack_map(first, first_);
    layer_.affine()->compose(second_, first_, out_, sums_);
    out[0] = second[0];
    for (State q = 0; q < automaton_.states(); ++q) out[1 + q] = second[1 + first[1 + q]];
    pack_map(out_, out);
  }

  void apply(const std::uint32_t* map, const std::uint32_t* state, std::uint32_t* out) override {
    unpack_map(map, second_);
    unpack(state + 2, from_);
    layer_.affine()->apply(second_, from_.data(), to_.data(), sums_);
    out[0] = map[1 + state[0]];
    out[1] = map[0];
    pack(to_, out + 2);
  }

  std::span<const std::uint32_t> moved_states(const std::uint32_t* map) const override {
    return {map + 1, automaton_.states()};
  }

  const std::vector<double>& map_entries(const std::uint32_t* map) override {
    unpack_map(map, second_);
    exact_.clear();
    for (const auto* numbers : {&second_.entries, &second_.addition})
      for (const Number number : *numbers) exact_.push_back(to_double(number));
    return exact_;
  }

  const std::vector<double>& state_entries(const std::uint32_t* state) override {
    unpack(state + 2, from_);
    exact_.clear();
    for (const Number number : from_) exact_.push_back(to_double(number));
    return exact_;
  }

  void read_chunk(const std::uint32_t* state, std::span<const Letter> word, std::uint32_t* out) override {
    if (!chunk_) chunk_.emplace(layer_.dimension(), layer_.columns(), layer_.factors_per_chunk());
    unpack(state + 2, from_);
    chunk_->start(from_.data());
    State q = state[0];
    for (const Letter letter : word) {
      q = automaton_.next(q, letter);
      for (const auto& factor : layer_.reflections()[layer_.rounded().action_of(letter)].factors)
        chunk_->append(factor);
    }
    chunk_->state(to_.data());
    out[0] = q;
    out[1] = word.empty() ? state[1] : layer_.rounded().book_of(word.back());
    pack(to_, out + 2);
  }

  void start(std::uint32_t* state) override {
    state[0] = automaton_.initial();
    state[1] = 0;
    pack(layer_.rounded().initial(), state + 2);
  }

  bool starts_right() override {
    const Label label = layer_.rounded().initial_label();
    return network_.rounded().read(&label) == automaton_.initial();
  }

  bool is_right(const std::uint32_t* state) override {
    unpack(state + 2, from_);
    const Label label = network_.rounded().label_of(0, state[1], from_.data(), scratch_);
    return network_.rounded().read(&label) == state[0];
  }

 private:
  static constexpr std::size_t kWords = sizeof(Bits) > sizeof(std::uint32_t) ? 2 : 1;

  static std::uint32_t* pack(const std::vector<Number>& numbers, std::uint32_t* record) {
    for (const Number number : numbers) {
      const std::uint64_t bits = state_bits<A>(number);
      *record++ = static_cast<std::uint32_t>(bits);
      if constexpr (kWords == 2) *record++ = static_cast<std::uint32_t>(bits >> 32);
    }
    return record;
  }

  static const std::uint32_t* unpack(const std::uint32_t* record, std::vector<Number>& numbers) {
    for (Number& number : numbers) {
      std::uint64_t bits = *record++;
      if constexpr (kWords == 2) bits |= std::uint64_t{*record++} << 32;
      number = std::bit_cast<Number>(static_cast<Bits>(bits));
    }
    return record;
  }

  void pack_map(const Map& map, std::uint32_t* record) const {
    record = std::copy(map.targets.begin(), map.targets.end(), record + 1 + automaton_.states());
    pack(map.addition, pack(map.entries, record));
  }

  void unpack_map(const std::uint32_t* record, Map& map) const {
    record += 1 + automaton_.states();
    std::copy_n(record, map.targets.size(), map.targets.begin());
    unpack(unpack(record + map.targets.size(), map.entries), map.addition);
  }

  const Dfa& automaton_;
  const OrderedNetwork<A>& network_;
  const OrderedLayer<A>& layer_;
  typename RoundedNetwork<A>::Scratch scratch_;
  std::vector<Number> from_, to_;
  std::vector<typename A::Sum> sums_;
  Map second_, first_, out_;
  std::vector<double> exact_;
  std::optional<ReflectionChunk<A>> chunk_;
};

/// One letter from any state, as the order makes it.
template <class A>
class OneLetter {
 public:
  using Number = typename A::Number;

  explicit OneLetter(const OrderedLayer<A>& layer) : layer_(layer), from_(layer.rounded().size()), to_(from_.size()) {
    if (layer.affine() != nullptr)
      sums_ = layer.affine()->make_sums();
    else
      chunk_.emplace(layer.dimension(), layer.columns(), layer.factors_per_letter());
  }

  void operator()(Action action, const std::vector<double>& from, std::vector<double>& to) {
    std::ranges::transform(from, from_.begin(), from_double<Number>);
    if (chunk_) {
      chunk_->start(from_.data());
      for (const auto& factor : layer_.reflections()[action].factors) chunk_->append(factor);
      chunk_->state(to_.data());
    } else {
      layer_.affine()->apply(layer_.affine()->letter(action), from_.data(), to_.data(), sums_);
    }
    std::ranges::transform(to_, to.begin(), to_double<Number>);
  }

 private:
  const OrderedLayer<A>& layer_;
  std::vector<Number> from_, to_;
  std::vector<typename A::Sum> sums_;
  std::optional<ReflectionChunk<A>> chunk_;
};

/// The result of the proof that nothing rounds.
struct ExactNetwork {
  LabelMachine machine;
  std::vector<std::string> evidence;  ///< per layer
  bool only_maps = true;
  std::uint64_t pairs = 0;
};

template <class A>
std::optional<ExactNetwork> find_exact(const Network& network, const OrderedNetwork<A>& ordered,
                                       const CertifyOptions& options) {
  ExactNetwork exact;
  exact.machine.readout = network.readout.next;
  const ExactnessLimits limits{.max_maps = options.max_pairs, .max_bytes = options.max_bytes};
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const OrderedLayer<A>& layer = ordered.layers()[k];
    ClosedLayer closed(network.layers[k], layer.rounded().books(), options.arithmetic);
    OneLetter<A> one_letter(layer);
    const auto move = [&](Action action, const std::vector<double>& from, std::vector<double>& to) {
      if (++exact.pairs % (1 << 16) == 0 && options.progress) options.progress(exact.pairs);
      one_letter(action, from, to);
    };
    if (!closed.close(move)) return std::nullopt;
    StateExtent extent;
    for (Label state = 0; state < closed.states(); ++state) extent.add(closed.numbers(state), layer.dimension());
    const std::optional<std::string> reason = exactness(layer, extent, limits);
    if (!reason) return std::nullopt;
    exact.evidence.push_back(*reason);
    exact.only_maps = exact.only_maps && layer.affine() != nullptr;
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
  return with_arithmetic(options.arithmetic, [&](auto type) {
    using A = decltype(type);
    const OrderedNetwork<A> ordered(network, options.form, options.order);
    auto proved = within_time(0.5, [&]() -> std::optional<Certificate> {
      const std::optional<ExactNetwork> exact = find_exact<A>(network, ordered, options);
      return exact ? certify_exact_network(*exact, network, options) : std::nullopt;
    });
    if (proved) return *std::move(proved);
    if (network.layers.size() > 1)
      return undecided(options, "a layer rounds or leaves its codewords, and the search in this order takes one layer");
    System<A> system(network, ordered);
    Certificate found = search_order(network.automaton, system, options);
    replay(network, found, options);
    return found;
  });
}

double grain_of(double number) {
  int exponent = 0;
  const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(number, &exponent), 53));
  return std::ldexp(static_cast<double>(digits & -digits), exponent - 53);
}

double common_grain(double a, double b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

UpperBound::UpperBound(double number) : value_(std::isnan(number) ? directed::kInfinity : std::fabs(number)) {}

UpperBound operator+(UpperBound a, UpperBound b) { return UpperBound(add_up(a.value_, b.value_)); }

UpperBound operator*(UpperBound a, UpperBound b) {
  const bool is_zero = a.value_ == 0 || b.value_ == 0;  // of infinitely much, too: there are no numbers to multiply
  return is_zero ? UpperBound() : UpperBound(multiply_up(a.value_, b.value_));
}

void GrainRange::add(double number) {
  most = std::max(most, UpperBound(number));
  if (number != 0 && std::isfinite(number)) grain = common_grain(grain, grain_of(number));
}

GrainRange& GrainRange::operator|=(const GrainRange& other) {
  grain = common_grain(grain, other.grain);
  most = std::max(most, other.most);
  return *this;
}

void StateExtent::add(const std::vector<double>& numbers, std::size_t n) {
  for (std::size_t first = 0; first < numbers.size(); first += n) {
    UpperBound sum;
    for (std::size_t i = first; i < first + n; ++i) {
      entries.add(numbers[i]);
      sum = sum + UpperBound(numbers[i]);
    }
    column_sum = std::max(column_sum, sum);
  }
}

}  // namespace krohn
