#include "krohn/simulate/arithmetic/cyclotomic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

using Polynomial = std::vector<std::int64_t>;  ///< the constant coefficient first

constexpr std::uint64_t kMaxDegree = 1024, kMaxOrder = 16 * kMaxDegree;

/// Exact division by a monic polynomial.
Polynomial divide(Polynomial dividend, const Polynomial& divisor) {
  const std::size_t degree = divisor.size() - 1;
  Polynomial quotient(dividend.size() - degree);
  for (std::size_t k = quotient.size(); k-- > 0;) {
    quotient[k] = dividend[k + degree];
    for (std::size_t j = 0; j <= degree; ++j) dividend[k + j] -= quotient[k] * divisor[j];
  }
  return quotient;
}

/// p(x^power).
Polynomial spread(const Polynomial& p, std::uint64_t power) {
  Polynomial result((p.size() - 1) * power + 1);
  for (std::size_t k = 0; k < p.size(); ++k) result[k * power] = p[k];
  return result;
}

/// By Φ_np(x) = Φ_n(x^p)/Φ_n(x) for a prime p that does not divide n, and Φ_np(x) = Φ_n(x^p) for one that does.
Polynomial cyclotomic_polynomial(std::uint64_t order) {
  Polynomial result{-1, 1};
  std::uint64_t rest = order;
  for (std::uint64_t prime = 2; rest > 1; ++prime) {
    if (rest % prime != 0) continue;
    result = divide(spread(result, prime), result);
    for (rest /= prime; rest % prime == 0; rest /= prime) result = spread(result, prime);
  }
  return result;
}

/// The cosine in long double is off by less than 2⁻⁶⁰, and rounding it by at most 2⁻⁵⁴.
Interval cosine_enclosure(const Turn& turn) {
  const auto nearest = static_cast<double>(turn.cosine());
  return Interval(nearest) + Interval::between(-0x1p-53, 0x1p-53);
}

using Integer = boost::multiprecision::cpp_int;

constexpr unsigned kFirstBits = 128, kMaxBits = 1U << 15, kGuardBits = 64;

/// Σ (−1)^k / ((2k + 1) d^(2k+1)), in units of 2^−bits; every term is off by less than a unit, and so is the rest.
Integer inverse_tangent(unsigned d, unsigned bits) {
  Integer power = (Integer(1) << bits) / d, sum = 0;
  for (unsigned k = 1; power != 0; k += 2, power /= d * d)
    sum += k % 4 == 1 ? Integer(power / k) : Integer(-(power / k));
  return sum;
}

/// cos 2πk/N in units of 2^−bits, off by less than 2 units, for 0 ≤ k < N and at most kMaxBits bits. With 64 bits more
/// every operation is off by a unit: π (Machin) by 20 · (bits + 64) units, less than 2^20, and the angle by twice that;
/// the series by 2 units for every one of fewer than 2^13 terms, which later terms multiply by at most e^2π, less than
/// 2^10. Together that is less than 2^25, and half a unit of the result is 2^63.
Integer fixed_cosine(std::uint64_t k, std::uint64_t order, unsigned bits) {
  const unsigned more = bits + kGuardBits;
  const Integer pi = 16 * inverse_tangent(5, more) - 4 * inverse_tangent(239, more);
  const Integer angle = 2 * pi * k / order, square = angle * angle >> more;
  Integer term = Integer(1) << more, sum = term;
  for (unsigned n = 1; term != 0; n += 2) {
    term = -(term * square >> more) / (Integer(n) * (n + 1));
    sum += term;
  }
  return sum >> kGuardBits;
}

void drop_last_zeros(ExactNumber& number) {
  while (!number.empty() && number.back() == 0) number.pop_back();
}

}  // namespace

ExactNumber exact_number(double value) {
  if (value == 0) return {};
  return {Rational(value)};
}

Interval enclosure(const Rational& number) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto near = static_cast<double>(number);
  if (std::isinf(near))
    return near > 0 ? Interval::between(std::numeric_limits<double>::max(), infinity)
                    : Interval::between(-infinity, -std::numeric_limits<double>::max());
  double lower = near, upper = near;
  while (lower > -infinity && Rational(lower) > number) lower = std::nextafter(lower, -infinity);
  while (upper < infinity && Rational(upper) < number) upper = std::nextafter(upper, infinity);
  return Interval::between(lower, upper);
}

CyclotomicField::CyclotomicField(std::uint64_t order) : order_(order) {
  if (order == 0) throw InputError("a root of unity has an order of at least 1");
  if (order > kMaxOrder) throw LimitError("the turns have no common denominator small enough for exact arithmetic");
  polynomial_ = cyclotomic_polynomial(order);
  if (degree() > kMaxDegree) throw LimitError("the turns need a field of too high a degree for exact arithmetic");
  for (std::size_t k = 0; k < degree(); ++k)
    cosines_.push_back(cosine_enclosure(Turn{static_cast<std::int64_t>(k), static_cast<std::int64_t>(order)}));
}

ExactNumber CyclotomicField::add(const ExactNumber& a, const ExactNumber& b) const {
  if (a.size() < b.size()) return add(b, a);
  ExactNumber sum = a;
  for (std::size_t k = 0; k < b.size(); ++k) sum[k] += b[k];
  drop_last_zeros(sum);
  return sum;
}

ExactNumber CyclotomicField::subtract(const ExactNumber& a, const ExactNumber& b) const {
  ExactNumber difference = a;
  if (difference.size() < b.size()) difference.resize(b.size());
  for (std::size_t k = 0; k < b.size(); ++k) difference[k] -= b[k];
  drop_last_zeros(difference);
  return difference;
}

ExactNumber CyclotomicField::multiply(const ExactNumber& a, const ExactNumber& b) const {
  if (a.empty() || b.empty()) return {};
  std::vector<Rational> product(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; a[i] != 0 && j < b.size(); ++j)
      if (b[j] != 0) product[i + j] += a[i] * b[j];
  return reduced(std::move(product));
}

/// Divides by Φ and keeps the rest.
ExactNumber CyclotomicField::reduced(std::vector<Rational> polynomial) const {
  for (std::size_t k = polynomial.size(); k-- > degree();) {
    const Rational leading = polynomial[k];
    if (leading == 0) continue;
    for (std::size_t j = 0; j <= degree(); ++j)
      if (polynomial_[j] != 0) polynomial[k - degree() + j] -= leading * polynomial_[j];
  }
  polynomial.resize(std::min(polynomial.size(), degree()));
  drop_last_zeros(polynomial);
  return polynomial;
}

ExactNumber CyclotomicField::cosine(const Turn& turn) const {
  const Turn normal = turn.normalised();
  const auto denominator = static_cast<std::uint64_t>(normal.denominator);
  if (4 % denominator == 0) return exact_number(static_cast<double>(normal.cosine()));
  if (order_ % 4 != 0 || order_ % denominator != 0) throw InputError("the field does not hold the cosine of this turn");
  const std::uint64_t power = static_cast<std::uint64_t>(normal.numerator) * (order_ / denominator);
  std::vector<Rational> polynomial(order_);
  polynomial[power] += Rational(1, 2);
  polynomial[order_ - power] += Rational(1, 2);
  return reduced(std::move(polynomial));
}

ExactNumber CyclotomicField::sine(const Turn& turn) const {
  const Turn normal = turn.normalised();  // sin x = cos(x − ¼ turn)
  return cosine(Turn{4 * normal.numerator - normal.denominator, 4 * normal.denominator});
}

/// A real element is the sum of its coefficients times the cosines of k/N.
int CyclotomicField::sign(const ExactNumber& number) const {
  if (number.empty()) return 0;
  const Interval near = enclosure(number);
  if (!near.contains(0)) return near.lower() > 0 ? 1 : -1;
  for (unsigned bits = kFirstBits; bits <= kMaxBits; bits *= 2) {
    Rational sum = 0, error = 0;
    for (std::size_t k = 0; k < number.size(); ++k) {
      if (number[k] == 0) continue;
      sum += number[k] * Rational(fixed_cosine(k, order_, bits));
      error += 2 * abs(number[k]);
    }
    if (abs(sum) > error) return sum > 0 ? 1 : -1;
  }
  throw LimitError("two exact numbers are too near to each other to be told apart");
}

Interval CyclotomicField::enclosure(const ExactNumber& number) const {
  Interval sum;
  for (std::size_t k = 0; k < number.size(); ++k)
    if (number[k] != 0) sum = sum + krohn::enclosure(number[k]) * cosines_[k];
  return sum;
}

}  // namespace krohn
