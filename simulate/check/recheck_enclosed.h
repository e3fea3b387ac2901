// simulate/check/recheck_enclosed.h — numbers that any runtime in fp32 may compute, for the re-checker of certificates
// alone: the rules of docs/reference/certificate-file.md, "closed regions", every bound rounded outward.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "krohn/simulate/check/recheck_arithmetic.h"

namespace krohn {

/// A format that a runtime may round to besides fp32: how many roundings to fp32 err as much as one to it, what
/// underflow adds to that, and the bound of all numbers, so that none overflows.
struct CoarseFormat {
  std::uint32_t roundings;
  double underflow, greatest;
};
inline constexpr CoarseFormat kNoCoarser{0, 0, 0x1p126}, kAlsoBf16{1U << 16, 0x1p-126, 0x1p126},
    kAlsoFp16{1U << 13, 0x1p-24, 0x1p15};

/// A number as a polynomial of others: its exact values, and what bounds its errors.
class Enclosed {
 public:
  Enclosed() = default;
  explicit Enclosed(double number) : Enclosed(leaf(number, number)) {}
  static Enclosed leaf(double lower, double upper) {
    Enclosed made;
    made.lower_ = lower, made.upper_ = upper;
    made.size_ = std::max(std::fabs(lower), std::fabs(upper));
    return made;
  }

  double lower() const { return lower_; }
  double upper() const { return upper_; }
  void narrow(double lower, double upper) { lower_ = lower, upper_ = upper; }

  /// The greatest error of any evaluation of the polynomial.
  double error() const {
    if (roundings_ == 0) return 0;
    const double relative = up(roundings_ * kUnit);
    return up(up(up(relative / down(1 - relative)) * size_) + 2 * tiny_);
  }
  /// The computed number, as it goes into functions, products of sums and the memory; below 2^−126 it may be 0.
  Enclosed as_leaf() const {
    const double by = error();
    const double lower = by == 0 ? lower_ : down(lower_ - by), upper = by == 0 ? upper_ : up(upper_ + by);
    return leaf(lower > 0 && lower < 0x1p-126 ? 0 : lower, upper < 0 && upper > -0x1p-126 ? 0 : upper);
  }
  /// The same where it may be rounded to the coarse format too, so many times.
  Enclosed rounded_to(const CoarseFormat& format, std::uint32_t times) const {
    if (format.roundings == 0) return *this;
    Enclosed rounded = *this;
    rounded.roundings_ = std::min(roundings_ + times * format.roundings, 1U << 30);
    rounded.tiny_ = up(tiny_ + times * format.underflow);
    return rounded;
  }
  void require_below(double greatest) const {
    require(roundings_ <= 1U << 20 && size_ + error() < greatest, "a number may overflow");
  }

  friend Enclosed operator+(const Enclosed& a, const Enclosed& b) {
    Enclosed sum = leaf(down(a.lower_ + b.lower_), up(a.upper_ + b.upper_));
    sum.bound(up(a.size_ + b.size_), up(a.tiny_ + b.tiny_), a, b);
    return sum;
  }
  friend Enclosed operator-(const Enclosed& a, Enclosed b) {
    b.narrow(-b.upper_, -b.lower_);
    return a + b;
  }
  friend Enclosed operator*(const Enclosed& a, const Enclosed& b) {
    const auto [least, greatest] =
        std::minmax({a.lower_ * b.lower_, a.lower_ * b.upper_, a.upper_ * b.lower_, a.upper_ * b.upper_});
    Enclosed product = leaf(down(least), up(greatest));
    product.bound(up(a.size_ * b.size_), up(up(up(a.tiny_ * b.size_) + up(b.tiny_ * a.size_)) + up(a.tiny_ * b.tiny_)),
                  a, b);
    return product;
  }
  friend Enclosed operator/(const Enclosed& a, const Enclosed& b) {
    const Enclosed x = a.as_leaf(), y = b.as_leaf();
    const double least = std::min(std::fabs(y.lower_), std::fabs(y.upper_));
    require((y.lower_ > 0 || y.upper_ < 0) && least >= 0x1p-60, "a division by 0");
    const auto [low, high] =
        std::minmax({x.lower_ / y.lower_, x.lower_ / y.upper_, x.upper_ / y.lower_, x.upper_ / y.upper_});
    const Enclosed quotient = leaf(down(low), up(high));
    return quotient.widened(up(up(0x1p-22 * quotient.size_) + up(0x1p-125 * up(1 + up(1 / least)))));
  }
  friend Enclosed sqrt(const Enclosed& a) {
    const Enclosed x = a.as_leaf();
    require(x.lower_ >= 0, "the root of a negative number");
    const Enclosed root = leaf(down(std::sqrt(x.lower_)), up(std::sqrt(x.upper_)));
    return root.widened(up(up(0x1p-22 * root.size_) + 0x1p-62));
  }
  friend Enclosed max(const Enclosed& a, const Enclosed& b) {
    const Enclosed x = a.as_leaf(), y = b.as_leaf();
    return leaf(std::max(x.lower_, y.lower_), std::max(x.upper_, y.upper_)).widened(0x1p-126);
  }
  /// The interval of a rising function that `function` gives to 2^−45 of its value.
  template <class Function>
  static Enclosed of_function(const Enclosed& a, const Function& function) {
    const Enclosed x = a.as_leaf();
    const double lower = function(x.lower_), upper = function(x.upper_);
    return with_error(leaf(lower - 0x1p-45 * std::fabs(lower), upper + 0x1p-45 * std::fabs(upper)));
  }
  /// The error that a function may have.
  static Enclosed with_error(const Enclosed& x) { return x.widened(0x1p-21 * std::max(1.0, x.size_)); }

  /// The least and the greatest double that a rounded result can stand for.
  static double down(double x) { return std::nextafter(x, -std::numeric_limits<double>::infinity()); }
  static double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

 private:
  static constexpr double kUnit = 0x1p-24;

  Enclosed widened(double by) const { return leaf(down(lower_ - by), up(upper_ + by)); }
  void bound(double size, double tiny, const Enclosed& a, const Enclosed& b) {
    size_ = size;
    tiny_ = up(tiny + 0x1p-126);
    roundings_ = std::min(a.roundings_ + b.roundings_ + 1, 1U << 30);
  }

  double lower_ = 0, upper_ = 0;
  double size_ = 0, tiny_ = 0x1p-126;  ///< of the sum of all terms' absolute values; of what underflow adds
  std::uint32_t roundings_ = 0;        ///< on the way to it
};

}  // namespace krohn
