#include "krohn/simulate/prove/orders/exact_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "krohn/groups/base/messages.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/arithmetic/interval.h"

namespace krohn {
namespace {

/// The greatest power of two that divides the number; not for 0.
double grain_of(double number) {
  int exponent = 0;
  const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(number, &exponent), 53));
  return std::ldexp(static_cast<double>(digits & -digits), exponent - 53);
}

/// Least grain; 0 stands for the grain of no number.
double common_grain(double a, double b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

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

/// Vectors or maps, found so far, as records of doubles.
class Numbers {
 public:
  explicit Numbers(std::size_t size) : size_(size), set_(2 * size + (size == 0 ? 1 : 0)), record_(set_.words()) {}

  std::size_t count() const { return set_.size(); }
  std::uint64_t bytes() const { return set_.bytes(); }

  bool insert(const double* numbers) {
    for (std::size_t i = 0; i < size_; ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(numbers[i] + 0.0);  // −0 becomes +0
      record_[2 * i] = static_cast<std::uint32_t>(bits);
      record_[2 * i + 1] = static_cast<std::uint32_t>(bits >> 32);
    }
    return set_.insert(record_).fresh;
  }

  void read(std::size_t index, std::vector<double>& numbers) const {
    const RecordSet::Record record = set_[static_cast<RecordSet::Index>(index)];
    numbers.resize(size_);
    for (std::size_t i = 0; i < size_; ++i)
      numbers[i] = std::bit_cast<double>(std::uint64_t{record[2 * i + 1]} << 32 | record[2 * i]);
  }

 private:
  std::size_t size_;
  RecordSet set_;
  std::vector<std::uint32_t> record_;
};

template <class Number>
void to_doubles(const std::vector<Number>& numbers, std::vector<double>& exact) {
  exact.resize(numbers.size());
  std::transform(numbers.begin(), numbers.end(), exact.begin(), [](Number number) { return to_double(number); });
}

template <class Number>
void from_doubles(const double* exact, std::vector<Number>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if constexpr (std::is_floating_point_v<Number>)
      numbers[i] = static_cast<Number>(exact[i]);
    else
      numbers[i] = Number(static_cast<float>(exact[i]));
  }
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
  using Number = typename A::Number;
  using Map = typename AffineLayer<A>::Map;

  ExactMaps(const AffineLayer<A>& affine, const StateExtent& states, const ExactnessLimits& limits)
      : affine_(affine), states_(states), limits_(limits), sums_(affine.make_sums()) {}

  std::optional<std::string> prove() { return affine_.only_moves() ? prove_moves() : prove_products(); }

 private:
  /// Matrices that move numbers are never rounded. The sums of a column's ± numbers are bounded by Σ |·|; what they
  /// come to once B is added is a reached state, or what a longer word adds to 0, and both are listed letter by letter.
  std::optional<std::string> prove_moves() {
    StateExtent added;
    std::size_t vectors = 0;
    if (affine_.adds()) {
      Numbers found(affine_.size());
      const std::vector<double> zero(affine_.size(), 0);
      found.insert(zero.data());
      std::vector<double> exact;
      std::vector<Number> from(affine_.size()), to(affine_.size());
      for (std::size_t i = 0; i < found.count(); ++i) {
        if (found.count() > limits_.max_maps || found.bytes() > limits_.max_bytes) return std::nullopt;
        found.read(i, exact);
        added.add(exact, affine_.dimension());
        from_doubles(exact.data(), from);
        for (Action letter = 0; letter < affine_.letters(); ++letter) {
          TimeLimit::check();
          affine_.apply(affine_.letter(letter), from.data(), to.data(), sums_);
          to_doubles(to, exact);
          found.insert(exact.data());
        }
      }
      vectors = found.count();
    }
    const double grain = common_grain(states_.entries.grain, added.entries.grain);
    if (!fits<A>({grain, std::max(states_.column_sum, added.column_sum)}, A::digits)) return std::nullopt;
    const GrainRange results{grain, std::max(states_.entries.most, added.entries.most)};
    if (affine_.adds() && results.most.value() > 0 && !shows_exactness<A>(results)) return std::nullopt;
    if (!affine_.adds()) return "matrices only move numbers, and their products only compose maps";
    return fmt::format("matrices only move numbers, and words add {} to 0, none of which rounds",
                       counted(vectors, "vector"));
  }

  /// All maps of words, found letter by letter, and then bounds on every product of two of them.
  std::optional<std::string> prove_products() {
    const std::size_t matrix = affine_.make_map().entries.size(), size = matrix + affine_.make_map().addition.size();
    Numbers found(size);
    MapExtent extent;
    std::vector<double> exact, additions;
    Map map = affine_.make_map(), next = map;
    const auto keep = [&](const Map& fresh) {
      to_doubles(fresh.entries, exact);
      to_doubles(fresh.addition, additions);
      exact.insert(exact.end(), additions.begin(), additions.end());
      if (found.insert(exact.data())) widen(extent, exact, matrix);
    };
    for (Action letter = 0; letter < affine_.letters(); ++letter) keep(affine_.letter(letter));
    for (std::size_t i = 0; i < found.count(); ++i) {
      if (found.count() > limits_.max_maps || found.bytes() > limits_.max_bytes || !exact_products(extent))
        return std::nullopt;
      found.read(i, exact);
      const std::vector<double> from = exact;
      from_doubles(from.data(), map.entries);
      from_doubles(from.data() + matrix, map.addition);
      for (Action letter = 0; letter < affine_.letters(); ++letter) {
        TimeLimit::check();
        affine_.compose(affine_.letter(letter), map, next, sums_);
        keep(next);
      }
    }
    if (!exact_products(extent)) return std::nullopt;
    return fmt::format("words have {} matrices, and no product or sum of any two of them rounds", found.count());
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
  std::vector<typename A::Sum> sums_;
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
    Numbers v(n_), x(n_);
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
  bool close(Numbers& orbit, StateExtent& extent) const {
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
  UpperBound greatest_response(const Numbers& v) const {
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

}  // namespace

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

template <class A>
std::optional<std::string> exactness(const OrderedLayer<A>& ordered, const StateExtent& states,
                                     const ExactnessLimits& limits) {
  if (ordered.affine() != nullptr) return ExactMaps<A>(*ordered.affine(), states, limits).prove();
  return ExactChunk<A>(ordered, states, limits).prove();
}

template std::optional<std::string> exactness(const OrderedLayer<Fp64>&, const StateExtent&, const ExactnessLimits&);
template std::optional<std::string> exactness(const OrderedLayer<Fp32>&, const StateExtent&, const ExactnessLimits&);
template std::optional<std::string> exactness(const OrderedLayer<Fp16>&, const StateExtent&, const ExactnessLimits&);
template std::optional<std::string> exactness(const OrderedLayer<Bf16>&, const StateExtent&, const ExactnessLimits&);
template std::optional<std::string> exactness(const OrderedLayer<Fused<Fp64>>&, const StateExtent&,
                                              const ExactnessLimits&);
template std::optional<std::string> exactness(const OrderedLayer<Fused<Fp32>>&, const StateExtent&,
                                              const ExactnessLimits&);
template std::optional<std::string> exactness(const OrderedLayer<Fused<Fp16>>&, const StateExtent&,
                                              const ExactnessLimits&);
template std::optional<std::string> exactness(const OrderedLayer<Fused<Bf16>>&, const StateExtent&,
                                              const ExactnessLimits&);
template std::optional<std::string> exactness(const OrderedLayer<AccumulatedInFp32<Fp16>>&, const StateExtent&,
                                              const ExactnessLimits&);
template std::optional<std::string> exactness(const OrderedLayer<AccumulatedInFp32<Bf16>>&, const StateExtent&,
                                              const ExactnessLimits&);
template std::optional<std::string> exactness(const OrderedLayer<Tf32>&, const StateExtent&, const ExactnessLimits&);

}  // namespace krohn
