#include "krohn/groups/base/stated_functions.h"

#include <array>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "krohn/groups/base/float_environment.h"

namespace krohn::stated {
namespace {

using boost::multiprecision::cpp_int;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---- Sums of two doubles, the second one below half a unit of the first.

struct Pair {
  double high = 0, low = 0;
};

/// a + b, exactly (Knuth).
constexpr Pair two_sum(double a, double b) {
  const double sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// a · b, exactly (Veltkamp's halves), while nothing overflows or underflows.
constexpr Pair two_product(double a, double b) {
  constexpr double kHalves = 0x1p27 + 1;
  const double a_shifted = kHalves * a, a_high = a_shifted - (a_shifted - a), a_low = a - a_high;
  const double b_shifted = kHalves * b, b_high = b_shifted - (b_shifted - b), b_low = b - b_high;
  const double product = a * b;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

constexpr Pair operator-(Pair a) { return {-a.high, -a.low}; }
constexpr Pair operator+(Pair a, Pair b) {
  const Pair sum = two_sum(a.high, b.high), rest = two_sum(a.low, b.low);
  const Pair first = two_sum(sum.high, sum.low + rest.high);
  return two_sum(first.high, first.low + rest.low);
}
constexpr Pair operator-(Pair a, Pair b) { return a + -b; }
constexpr Pair operator*(Pair a, Pair b) {
  const Pair product = two_product(a.high, b.high);
  return two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
constexpr Pair operator/(Pair a, Pair b) {
  const double first = a.high / b.high;
  const Pair rest = a - Pair{first} * b;
  const double second = rest.high / b.high;
  const Pair last = rest - Pair{second} * b;
  return two_sum(first, second) + Pair{last.high / b.high};
}
constexpr Pair scaled(Pair a, double power_of_two) { return {a.high * power_of_two, a.low * power_of_two}; }

/// first + x (second + x (third + …)): the first coefficients in pairs, what is behind them in doubles, whose rounding
/// the powers of x bring below 2^-70 of the whole.
template <std::size_t kCount>
Pair polynomial(Pair x, const std::array<Pair, kCount>& coefficients, std::size_t pairs) {
  double tail = 0;
  for (std::size_t i = kCount; i-- > pairs;) tail = tail * x.high + coefficients[i].high;
  Pair sum{tail};
  for (std::size_t i = pairs; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

/// 1/first!, 1/(first + step)!, …, with alternating signs where these alternate.
template <std::size_t kCount>
constexpr std::array<Pair, kCount> inverse_factorials(int first, int step, bool alternate) {
  std::array<Pair, kCount> inverses;
  Pair inverse{1};
  int n = 1;
  for (std::size_t i = 0; i < kCount; ++i) {
    for (; n <= first + static_cast<int>(i) * step; ++n) inverse = inverse / Pair{static_cast<double>(n)};
    inverses[i] = alternate && i % 2 == 1 ? -inverse : inverse;
  }
  return inverses;
}

/// 1, 1/3, 1/5, ….
template <std::size_t kCount>
constexpr std::array<Pair, kCount> inverse_odds() {
  std::array<Pair, kCount> inverses;
  for (std::size_t i = 0; i < kCount; ++i) inverses[i] = Pair{1} / Pair{static_cast<double>(2 * i + 1)};
  return inverses;
}

constexpr Pair kLogOf2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr double kLogOf2First = 0x1.62e42fefa38p-1, kLogOf2Rest = 0x1.ef35793c7673p-45;  // 42 bits, and the others
constexpr double kInverseLogOf2 = 0x1.71547652b82fep+0;
constexpr Pair kPi{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

/// 2^k for normal results.
double power_of_two(int k) { return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52); }

/// x · 2^k with one rounding where the result is subnormal, for 1/4 ≤ |x| ≤ 4.
double times_power(double x, int k) {
  if (k > 1021) return x * 0x1p1021 * power_of_two(k - 1021);
  if (k < -1020) return x * power_of_two(k + 1000) * 0x1p-1000;
  return x * power_of_two(k);
}

int nearest_integer(double x) { return static_cast<int>(x < 0 ? x - 0.5 : x + 0.5); }

// ---- Exponentials

/// e^(high + low) − 1 for |high| ≤ ½ log 2, as a sum of two of which the first is nearly all: within 2^-58 of e^high.
Pair expm1_of_small(Pair r) {
  static constexpr auto kInverses = inverse_factorials<12>(3, 1, false);
  double tail = 0;
  for (std::size_t i = kInverses.size(); i-- > 0;) tail = tail * r.high + kInverses[i].high;
  const Pair half_square = scaled(two_product(r.high, r.high), 0.5);
  const Pair sum = two_sum(r.high, half_square.high);
  const double cube = r.high * r.high * r.high;
  const double rest = half_square.low + cube * tail + r.low * (1 + r.high);
  return two_sum(sum.high, sum.low + rest);
}

/// The remainder of x after `k` log 2.
Pair without_octaves(double x, int k) {
  const double octaves = k;
  return two_sum(x - octaves * kLogOf2First, -octaves * kLogOf2Rest);
}

/// e^x to 2^-95 of itself, for |x| < 746.
double exp_of(Pair x) {
  static constexpr auto kInverses = inverse_factorials<12>(1, 1, false);
  const int k = nearest_integer(x.high * kInverseLogOf2);
  const Pair r = scaled(x - kLogOf2 * Pair{static_cast<double>(k)}, 0x1p-6);
  Pair less_one = r * polynomial(r, kInverses, 3);
  for (int i = 0; i < 6; ++i) less_one = scaled(less_one, 2) + less_one * less_one;
  const Pair value = Pair{1} + less_one;
  return times_power(value.high, k);
}

// ---- Logarithms

/// log(high + low) for a positive normal pair.
Pair log_of(Pair x) {
  static constexpr auto kInverses = inverse_odds<21>();
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x.high);
  int k = static_cast<int>(bits >> 52) - 1023;
  if (std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000) > 0x1.6a09e667f3bcdp+0) ++k;  // √2
  // 2^-k in two factors, since one of them may be subnormal.
  const double half = power_of_two(-(k / 2)), rest = power_of_two(-(k - k / 2));
  const Pair m = scaled(scaled(x, half), rest);
  const Pair f = two_sum(m.high - 1, m.low), s = f / (Pair{2} + f);
  const Pair log_of_m = scaled(s * polynomial(s * s, kInverses, 4), 2);
  return k == 0 ? log_of_m : kLogOf2 * Pair{static_cast<double>(k)} + log_of_m;
}

Pair log_of_double(double x) {
  if (x >= std::numeric_limits<double>::min()) return log_of({x});
  return log_of({x * 0x1p60}) - kLogOf2 * Pair{60};
}

// ---- Angles

/// π · 2^bits, rounded down to within a few units: Machin's 16 arctan 1/5 − 4 arctan 1/239.
cpp_int scaled_pi(unsigned bits) {
  const auto arctangent_of_inverse = [&](unsigned n) {
    cpp_int sum = 0, power = (cpp_int(1) << bits) / n;
    for (unsigned k = 1; power != 0; k += 2, power /= n * n) sum += (k % 4 == 1 ? 1 : -1) * cpp_int(power / k);
    return sum;
  };
  return 16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239);
}

/// An angle as quarter turns and what is left, at most an eighth of a turn.
struct Folded {
  unsigned quarters = 0;  ///< modulo 4
  Pair rest;
};

constexpr double kManyTurns = 0x1p20;

/// For |x| < kManyTurns: π/2 is the sum of four numbers, the first two of 32 bits, so that their multiples are exact.
Folded folded(double x) {
  constexpr double kFirst = 0x1.921fb544p+0, kSecond = 0x1.0b4611a6p-34;
  constexpr Pair kRest{0x1.3198a2e037073p-69, 0x1.129024e088a68p-123};
  const int k = nearest_integer(x * 0x1.45f306dc9c883p-1);
  const double quarters = k;
  const Pair left = two_sum(x - quarters * kFirst, -quarters * kSecond);
  return {static_cast<unsigned>(k) % 4, left - kRest * Pair{quarters}};
}

/// A number in two parts: its leading 53 bits, and the next 53; both with `digits` binary digits behind the point.
Pair unscaled(const cpp_int& number, int digits) {
  const auto leading = [](const cpp_int& part) {
    const cpp_int size = abs(part);
    const unsigned length = size == 0 ? 0 : msb(size) + 1;
    return cpp_int(cpp_int(1) << (length > 53 ? length - 53 : 0));
  };
  const auto as_double = [&](const cpp_int& part, const cpp_int& unit) {
    return std::ldexp(cpp_int(part / unit).convert_to<double>(), static_cast<int>(msb(unit)) - digits);
  };
  const cpp_int unit = leading(number), rest = number % unit;
  return two_sum(as_double(number, unit), as_double(rest, leading(rest)));
}

/// For any other one, in integers.
Folded folded_exactly(double x) {
  // x may be 2^1024, and no double is nearer to a multiple of π/2 than 2^-62 of itself (Muller 2016, 11.3).
  constexpr int kDigits = 1024 + 256;
  static const cpp_int kHalfPi = scaled_pi(kDigits) / 2;
  int exponent = 0;
  const auto significand = static_cast<std::int64_t>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
  const cpp_int scaled_x = cpp_int(significand) << static_cast<unsigned>(kDigits + exponent - 53);
  const cpp_int k = (2 * scaled_x + kHalfPi) / (2 * kHalfPi);
  const Pair angle = unscaled(scaled_x - k * kHalfPi, kDigits);
  const auto quarters = static_cast<unsigned>(k % 4);
  return x < 0 ? Folded{(4 - quarters) % 4, -angle} : Folded{quarters, angle};
}

struct CosineAndSine {
  Pair cosine, sine;
};

/// For an angle up to an eighth of a turn: Taylor's series.
CosineAndSine on_octant(Pair x) {
  static constexpr auto kCosine = inverse_factorials<15>(0, 2, true);
  static constexpr auto kSine = inverse_factorials<14>(1, 2, true);
  const Pair square = x * x;
  return {polynomial(square, kCosine, 4), x * polynomial(square, kSine, 4)};
}

CosineAndSine cosine_and_sine(double x) {
  const Folded angle = std::fabs(x) < kManyTurns ? folded(x) : folded_exactly(x);
  const auto [c, s] = on_octant(angle.rest);
  switch (angle.quarters) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

}  // namespace

double exp(double x) {
  if (x != x) return x;
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  const int k = nearest_integer(x * kInverseLogOf2);
  const Pair less_one = expm1_of_small(without_octaves(x, k));
  const Pair sum = two_sum(1, less_one.high);
  return times_power(sum.high + (sum.low + less_one.low), k);
}

double expm1(double x) {
  if (x != x || x == 0) return x;
  if (x < -40) return -1;
  if (x > 40) return exp(x);
  const int k = nearest_integer(x * kInverseLogOf2);
  const Pair less_one = expm1_of_small(without_octaves(x, k));
  if (k == 0) return less_one.high + less_one.low;
  const double octaves = power_of_two(k);
  const Pair sum = two_sum(octaves, -1) + scaled(less_one, octaves);
  return sum.high + sum.low;
}

double tanh(double x) {
  if (x != x || x == 0) return x;
  const double less_one = expm1(-2 * std::fabs(x));
  return std::copysign(less_one / (2 + less_one), x);
}

double log(double x) {
  if (!(x >= 0)) return kNan;
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  return log_of_double(x).high;
}

double log1p(double x) {
  if (!(x >= -1)) return kNan;
  if (x == -1) return -kInfinity;
  if (std::fabs(x) < 0x1p-60 || x == kInfinity) return x;
  return log_of(two_sum(1, x)).high;
}

double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (!(x >= 0) || y != y) return kNan;
  if (x == 0) return y > 0 ? 0 : kInfinity;
  if (x == kInfinity) return y > 0 ? x : 0;
  if (y == kInfinity || y == -kInfinity) return (x > 1) == (y > 0) ? kInfinity : 0;
  const Pair logarithm = log_of_double(x);
  if (y * logarithm.high > 710) return kInfinity;
  if (y * logarithm.high < -746) return 0;
  return exp_of(logarithm * Pair{y});
}

double cos(double x) {
  if (!(std::fabs(x) < kInfinity)) return kNan;
  return cosine_and_sine(x).cosine.high;
}

double sin(double x) {
  if (!(std::fabs(x) < kInfinity)) return kNan;
  return x == 0 ? x : cosine_and_sine(x).sine.high;
}

double atan2(double y, double x) {
  if (y == 0) return x < 0 ? kPi.high : 0;
  const double along = std::fabs(x), across = std::fabs(y);
  // The angle in the first octant, roughly; then Newton's method on its sine, which cubes the error.
  const double least = along < across ? along : across, greatest = along < across ? across : along;
  const double slope = least / greatest;
  Pair angle{slope * (0.7853981633974483 + 0.273 * (1 - slope))};
  const double length = std::sqrt(1 + slope * slope);
  for (int i = 0; i < 3; ++i) {
    const auto [c, s] = on_octant(angle);
    const Pair sine = (Pair{least} * c - Pair{greatest} * s) / Pair{greatest * length};
    angle = angle + sine + Pair{sine.high * sine.high * sine.high / 6};
  }
  if (along < across) angle = scaled(kPi, 0.5) - angle;
  if (x < 0) angle = kPi - angle;
  return y < 0 ? -angle.high : angle.high;
}

}  // namespace krohn::stated
