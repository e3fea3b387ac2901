#include "krohn/simulate/check/recheck_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "krohn/groups/error.h"
#include "krohn/simulate/check/recheck_cosine.h"

namespace krohn {
namespace {

constexpr int kDoubleDigits = std::numeric_limits<double>::digits;

/// Of an inexact result the neighbour whose last bit is 1, so that a second rounding to fewer bits sees that something
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
  const std::string storage = name.substr(0, name.find_first_of("+/")), rest = name.substr(storage.size());
  stored_ = summed_ = format_of(storage == "tf32" ? "fp32" : storage);
  if (storage == "tf32") factor_ = {11, -126, 127};
  fused_ = rest == "+fma";
  const bool is_half = storage == "fp16" || storage == "bf16";
  if (rest == "/fp32") summed_ = format_of("fp32");
  if (!rest.empty() && !(fused_ && storage != "tf32") && !(rest == "/fp32" && is_half))
    throw InputError(fmt::format("unknown arithmetic \"{}\"", name));
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
  const auto nearest = static_cast<double>(value);
  if (stored_.digits == kDoubleDigits) return nearest;
  return rounded(to_odd(nearest, value > nearest ? 1 : value < nearest ? -1 : 0), stored_);
}

double DeterministicArithmetic::cosine(std::int64_t p, std::int64_t q) const {
  return nearest_cosine(p, q, stored_.digits, stored_.least);
}

double DeterministicArithmetic::product(double a, double b) const {
  if (factor_.digits > 0) a = rounded(a, factor_), b = rounded(b, factor_);
  return rounded(a * b, summed_);  // exact before, but in fp64: 2 · 24 bits and exponents fit a double
}

double DeterministicArithmetic::sum(double a, double b) const {
  return summed_.digits == kDoubleDigits ? a + b : rounded(odd_sum(a, b), summed_);
}

double DeterministicArithmetic::sum_of_product(double sum_so_far, double a, double b) const {
  if (!fused_) return sum(sum_so_far, product(a, b));
  return summed_.digits == kDoubleDigits ? std::fma(a, b, sum_so_far) : rounded(odd_sum(a * b, sum_so_far), summed_);
}

double DeterministicArithmetic::store(double value) const { return rounded(value, stored_); }

}  // namespace krohn
