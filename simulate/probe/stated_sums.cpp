#include "krohn/simulate/probe/stated_sums.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "krohn/simulate/arithmetic/arithmetic.h"

namespace krohn {
namespace {

/// Uniform in [first, last], the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(last - first + 1));
  }
  bool coin() { return engine_() % 2 == 0; }
  std::uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

template <class A>
typename A::Number number_of(double value) {
  if constexpr (std::is_floating_point_v<typename A::Number>)
    return static_cast<typename A::Number>(value);
  else
    return typename A::Number(static_cast<float>(value));
}

template <class A>
class Fold {
 public:
  Fold(const SummationTree& order, const Factors& factors, bool last_first)
      : order_(order), factors_(factors), last_first_(last_first) {}

  double sum() {
    for (const SummationTree::Node& node : order_.nodes) sums_.push_back(added(node.children[0], node.children[1]));
    return to_double(A::store(sums_.back()));
  }

 private:
  using Sum = typename A::Sum;

  auto left(std::uint32_t term) const { return number_of<A>(factors_.left[term]); }
  Sum right(std::uint32_t term) const { return A::load(number_of<A>(factors_.right[term])); }

  Sum added(std::uint32_t first, std::uint32_t second) const {
    if (order_.is_term(first) && order_.is_term(second)) {
      if (last_first_) std::swap(first, second);
      return A::add_product(A::product(left(first), right(first)), left(second), right(second));
    }
    if (order_.is_term(first)) std::swap(first, second);
    const Sum sum = sums_[first - order_.terms];
    return order_.is_term(second) ? A::add_product(sum, left(second), right(second))
                                  : A::add(sum, sums_[second - order_.terms]);
  }

  const SummationTree& order_;
  const Factors& factors_;
  bool last_first_;
  std::vector<Sum> sums_;
};

template <class A>
double random_number(Dice& dice, int digits, int exponent) {
  const std::uint64_t mantissa =
      (std::uint64_t{1} << (digits - 1)) | (dice.bits() >> (65 - digits) & ((std::uint64_t{1} << (digits - 1)) - 1));
  const double value = std::ldexp(static_cast<double>(mantissa), exponent - digits + 1);
  return to_double(round_weight<A>(dice.coin() ? value : -value));
}

template <class A>
Factors rounding_sum(Dice& dice, std::uint32_t terms) {
  Factors factors;
  const int digits = static_cast<int>(dice.between(1, A::digits));
  const int spread = dice.coin() ? 0 : static_cast<int>(dice.between(1, 3));
  // Of some the products, or their sums, are subnormal; of some the factors on one side.
  const std::int64_t kind = dice.between(0, 7);
  const int depth = A::least_exponent - A::digits / 2;
  const int left = kind == 0 ? depth / 2 : kind == 1 ? depth : kind == 2 ? -depth : 0;
  const int right = kind == 0 ? depth / 2 : kind == 1 ? -depth : kind == 2 ? depth : 0;
  const std::int64_t density = dice.between(1, 4);
  for (std::uint32_t term = 0; term < terms; ++term) {
    const bool is_zero = dice.between(1, 4) > density;
    const auto number = [&](int centre) {
      const int exponent = centre + static_cast<int>(dice.between(-spread, spread));
      return is_zero ? 0.0 : random_number<A>(dice, digits, std::min(exponent, A::greatest_exponent));
    };
    factors.left.push_back(number(left));
    factors.right.push_back(number(right));
  }
  if (dice.coin()) {  // what comes late undoes what came early, and leaves what was lost or kept
    const auto from = static_cast<std::uint32_t>(dice.between(0, terms / 2 - 1));
    const auto to = static_cast<std::uint32_t>(dice.between(terms / 2, terms - 1));
    factors.left[to] = -factors.left[from];
    factors.right[to] = factors.right[from];
  }
  return factors;
}

/// value · 2^exponent where that is a number of the format; nothing where it has too many digits or is too small.
template <class A>
std::optional<double> scaled(std::int64_t value, int exponent) {
  const double number = std::ldexp(static_cast<double>(value), exponent);
  const bool is_whole = std::ldexp(number, -exponent) == static_cast<double>(value);
  return is_whole && to_double(round_weight<A>(number)) == number ? std::optional(number) : std::nullopt;
}

template <class A>
ExactSum exact_sum(Dice& dice, std::uint32_t terms, bool normal) {
  ExactSum exact{{std::vector<double>(terms), std::vector<double>(terms)}};
  // The grain lies anywhere that the format allows, often at its ends; the left factors have a part of it.
  const int least = normal ? A::least_exponent : A::least_exponent - A::digits + 1,
            most = A::greatest_exponent - A::digits;
  const std::int64_t place = dice.between(0, 9);
  const auto grain = static_cast<int>(place == 0 ? least : place == 1 ? most : dice.between(least, most));
  const auto shift = static_cast<int>(std::max<std::int64_t>(dice.between(-3, 3), grain - most));
  std::int64_t left_over = std::int64_t{1} << A::digits, sum = 0;
  for (std::uint32_t term = 0; term < terms && left_over > 0; ++term) {
    // Up to all that is left over, or 1 less; one factor is 1, so that the other has all digits, or both are long.
    const std::int64_t share = std::max<std::int64_t>(1, left_over >> (dice.coin() ? dice.between(0, A::digits) : 0));
    const std::int64_t value = dice.coin() ? std::max<std::int64_t>(1, share - 1) : dice.between(1, share);
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value)));
    std::int64_t a = dice.coin() ? 1 : dice.between(1, root), b = value / a;
    if (dice.coin()) std::swap(a, b);
    const bool is_negative = dice.coin();
    const auto left = scaled<A>(is_negative ? -a : a, shift), right = scaled<A>(b, grain - shift);
    if (!left || !right) continue;
    if (normal && std::fabs(*right) < std::ldexp(1.0, A::least_exponent)) continue;
    exact.factors.left[term] = *left;
    exact.factors.right[term] = *right;
    left_over -= a * b;
    sum += is_negative ? -a * b : a * b;
  }
  exact.sum = std::ldexp(static_cast<double>(sum), grain);
  return exact;
}

}  // namespace

double stated_sum(ArithmeticName arithmetic, const SummationTree& order, const Factors& factors, bool last_first) {
  return with_arithmetic(arithmetic, [&](auto a) { return Fold<decltype(a)>(order, factors, last_first).sum(); });
}

std::vector<Factors> rounding_sums(Precision format, std::uint32_t terms, std::uint64_t count, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<Factors> sums;
  with_format(format, [&](auto a) {
    while (sums.size() < count) sums.push_back(rounding_sum<decltype(a)>(dice, terms));
  });
  return sums;
}

std::vector<ExactSum> exact_sums(Precision format, std::uint32_t terms, std::uint64_t count, std::uint64_t seed,
                                 bool normal) {
  Dice dice(seed);
  std::vector<ExactSum> sums;
  with_format(format, [&](auto a) {
    while (sums.size() < count) sums.push_back(exact_sum<decltype(a)>(dice, terms, normal));
  });
  return sums;
}

}  // namespace krohn
