#include "krohn/simulate/check/recheck_arithmetic.h"

#include <fmt/format.h>
#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <limits>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

using Integer = boost::multiprecision::cpp_int;

/// A positive real number between two multiples of 2^-bits.
struct Bounds {
  Integer low, high;
};

Integer over(const Integer& a, const Integer& b) { return (a + b - 1) / b; }  // rounded up

/// 48 arctan 1/18 + 32 arctan 1/57 − 20 arctan 1/239 (Gauss).
Bounds pi(unsigned bits) {
  Integer sum = 0, lost = 0;
  const auto add = [&](int factor, unsigned n) {
    Integer power = (Integer(1) << bits) / n;
    for (int k = 1; power != 0; k += 2, factor = -factor, power /= n * n) {
      sum += factor * Integer(power / k);
      lost += 3 * std::abs(factor);  // one by each of the two divisions, and what is left of those before
    }
    lost += std::abs(factor);  // the terms that are not summed
  };
  add(48, 18), add(32, 57), add(-20, 239);
  return {sum - lost, sum + lost};
}

/// cos(2π·p/q) for 0 < p/q < ¼: the terms of the series, each between its bounds, until they vanish.
Bounds cosine(const Integer& p, const Integer& q, unsigned bits) {
  const Bounds half_turn = pi(bits);
  const Bounds x{half_turn.low * 2 * p / q, over(half_turn.high * 2 * p, q)};
  const Integer one = Integer(1) << bits;
  const Bounds square{x.low * x.low / one, over(x.high * x.high, one)};
  Bounds term{one, one}, sum = term;
  for (unsigned n = 2; term.high > 1; n += 2) {
    term = {term.low * square.low / (one * (n * (n - 1))), over(term.high * square.high, one * (n * (n - 1)))};
    if (n % 4 == 2)
      sum = {sum.low - term.high, sum.high - term.low};
    else
      sum = {sum.low + term.low, sum.high + term.high};
  }
  return {sum.low - term.high, sum.high + term.high};  // the rest alternates and falls
}

/// Nearest to value · 2^-bits, whichever of two that are equally near: the true value is never between two.
double nearest(const Integer& value, unsigned bits, int digits, int least_exponent) {
  const int exponent = static_cast<int>(msb(value)) - static_cast<int>(bits);
  const int quantum = std::max(exponent, least_exponent) + 1 - digits;
  const auto cut = static_cast<unsigned>(static_cast<int>(bits) + quantum);
  const Integer rounded = (value + (Integer(1) << (cut - 1))) >> cut;
  return std::ldexp(rounded.convert_to<double>(), quantum);
}

}  // namespace

double nearest_cosine(std::int64_t p, std::int64_t q, int digits, int least_exponent) {
  Integer numerator = Integer(p) % q, denominator = q;
  if (numerator < 0) numerator += denominator;
  if (2 * numerator > denominator) numerator = denominator - numerator;
  const bool is_negative = 4 * numerator > denominator;
  if (is_negative) numerator = denominator - 2 * numerator, denominator *= 2;
  const double sign = is_negative ? -1 : 1;
  if (numerator == 0) return sign;
  if (4 * numerator == denominator) return 0;
  if (6 * numerator == denominator) return sign / 2;
  for (unsigned bits = 256;; bits *= 2) {
    const Bounds value = cosine(numerator, denominator, bits);
    if (value.low <= 0) continue;
    const double low = nearest(value.low, bits, digits, least_exponent);
    if (low == nearest(value.high, bits, digits, least_exponent)) return sign * low;
  }
}

namespace {

constexpr int kDoubleDigits = std::numeric_limits<double>::digits;

/// For an inexact result the neighbour whose last bit is 1, so that a second rounding to fewer bits sees that something
/// was cut off (rounding to odd). `remainder` is the exact result less `nearest`, or has its sign.
double to_odd(double nearest, double remainder) {
  if (!(remainder != 0) || !std::isfinite(nearest) || (std::bit_cast<std::uint64_t>(nearest) & 1) != 0) return nearest;
  return std::nextafter(nearest, std::copysign(std::numeric_limits<double>::infinity(), remainder));
}

/// a + b, rounded to odd; the remainder is exact (Knuth).
double odd_sum(double a, double b) {
  const double sum = a + b, b_part = sum - a;
  return to_odd(sum, (a - (sum - b_part)) + (b - b_part));
}

}  // namespace

DeterministicArithmetic::DeterministicArithmetic(const std::string& name) {
  if (read_integers(name)) return;
  const std::string storage = name.substr(0, name.find_first_of("+/")), rest = name.substr(storage.size());
  stored_ = summed_ = format_of(storage == "tf32" ? "fp32" : storage);
  if (storage == "tf32") factor_ = {11, -126, 127};
  fused_ = rest == "+fma";
  const bool is_half = storage == "fp16" || storage == "bf16";
  if (rest == "/fp32") summed_ = format_of("fp32");
  if (!rest.empty() && !(fused_ && storage != "tf32") && !(rest == "/fp32" && is_half))
    throw InputError(fmt::format("unknown arithmetic \"{}\"", name));
}

bool DeterministicArithmetic::read_integers(const std::string& name) {
  const std::string type = name.substr(0, name.find('-'));
  for (const int bits : {8, 16, 32})
    if (type == fmt::format("u{}", bits) || type == fmt::format("i{}", bits))
      integers_ = {bits, type[0] == 'i', name == type + "-saturating"};
  return integers_.bits > 0 && (integers_.saturates || name == type);
}

double DeterministicArithmetic::brought_to_type(Wide exact) const {
  const auto& [bits, is_signed, saturates] = integers_;
  const Wide values = Wide{1} << bits, least = is_signed ? -values / 2 : 0, most = least + values - 1;
  if (saturates) return static_cast<double>(exact < least ? least : exact > most ? most : exact);
  const Wide low_bits = exact & (values - 1);
  return static_cast<double>(low_bits > most ? low_bits - values : low_bits);
}

DeterministicArithmetic::Format DeterministicArithmetic::format_of(const std::string& name) {
  if (name == "fp64") return {kDoubleDigits, -1022, 1023};
  if (name == "fp32") return {24, -126, 127};
  if (name == "fp16") return {11, -14, 15};
  if (name == "bf16") return {8, -126, 127};
  throw InputError(fmt::format("unknown arithmetic \"{}\"", name));
}

/// Adding and taking away 1½ · 2^52 quanta leaves a multiple of the quantum, the nearest one.
double DeterministicArithmetic::rounded(double value, const Format& format) {
  if (format.digits == kDoubleDigits || value == 0 || !std::isfinite(value)) return value;
  const int quantum = std::max(std::ilogb(value), format.least) + 1 - format.digits;
  const double shift = std::ldexp(1.5, kDoubleDigits - 1 + quantum);
  const double nearest = (value + shift) - shift;
  if (std::fabs(nearest) < std::ldexp(1.0, format.greatest + 1)) return nearest;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

double DeterministicArithmetic::weight(long double value) const {
  if (integers_.bits > 0) {
    const auto number = static_cast<double>(value);
    require(std::fabs(number) <= 0x1p32 && number == value && std::trunc(number) == number &&
                brought_to_type(static_cast<Wide>(number)) == number,
            "a weight is none of the arithmetic's integers");
    return number;
  }
  const auto nearest = static_cast<double>(value);
  if (stored_.digits == kDoubleDigits) return nearest;
  return rounded(to_odd(nearest, value > nearest ? 1 : value < nearest ? -1 : 0), stored_);
}

double DeterministicArithmetic::cosine(std::int64_t p, std::int64_t q) const {
  if (integers_.bits > 0) require(4 * p % q == 0, "a weight is none of the arithmetic's integers");
  const Format format = integers_.bits > 0 ? format_of("fp64") : stored_;
  return weight(nearest_cosine(p, q, format.digits, format.least));
}

double DeterministicArithmetic::product(double a, double b) const {
  if (integers_.bits > 0) return sum_of_product(0, a, b);
  if (factor_.digits > 0) a = rounded(a, factor_), b = rounded(b, factor_);
  return rounded(a * b, summed_);  // exact before, but in fp64: 2 · 24 bits and exponents fit a double
}

double DeterministicArithmetic::sum(double a, double b) const {
  if (integers_.bits > 0) return sum_of_product(a, 1, b);
  return summed_.digits == kDoubleDigits ? a + b : rounded(odd_sum(a, b), summed_);
}

double DeterministicArithmetic::sum_of_product(double sum_so_far, double a, double b) const {
  if (integers_.bits > 0)
    return brought_to_type(static_cast<Wide>(sum_so_far) + static_cast<Wide>(a) * static_cast<Wide>(b));
  if (!fused_) return sum(sum_so_far, product(a, b));
  return summed_.digits == kDoubleDigits ? std::fma(a, b, sum_so_far) : rounded(odd_sum(a * b, sum_so_far), summed_);
}

double DeterministicArithmetic::store(double value) const {
  return integers_.bits > 0 ? sum_of_product(value, 0, 0) : rounded(value, stored_);
}

}  // namespace krohn
