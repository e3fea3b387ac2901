// simulate/arithmetic/interval.h — sums, products, quotients and roots of doubles that are rounded outward, for bounds
// that a certificate claims. The processor's rounding mode stays as it is: compilers move operations across changes of
// it. Instead the sign of the rounding error is found by an error-free transformation (Knuth's two-sum, a fused
// multiply-add for the rest), and the nearest double is moved one place only when it lies on the wrong side. Exact
// results stay exact, so that 1·1 is 1 and not a little more. Every NaN is an InputError; infinities are bounds.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "krohn/groups/base/error.h"

namespace krohn {

namespace directed {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Below this the error of a product is not a double, above its inverse an intermediate result might overflow: such
/// results are moved outward without asking.
inline constexpr double kSmall = 0x1p-900;

inline double below(double x) { return std::nextafter(x, -kInfinity); }
inline bool is_tame(double x) { return std::fabs(x) > kSmall && std::fabs(x) < 1 / kSmall; }

/// −1, 0 or 1 times something: whether the exact sum is less than, equal to or greater than fl(a + b). a, b finite.
inline double sum_error(double a, double b, double sum) {
  const double b_part = sum - a, a_part = sum - b_part;
  return (a - a_part) + (b - b_part);
}

/// The sign of √a − fl(√a) times something; a tame.
inline double root_error(double a, double root) { return std::fma(-root, root, a); }

/// The greatest double that is at most the exact result, for a result `nearest` whose error has the sign of `error`.
inline double down(double nearest, double error, bool is_error_known) {
  return is_error_known && error >= 0 ? nearest : below(nearest);
}

}  // namespace directed

/// The greatest double ≤ the exact result (or, near underflow and overflow, the one before). Arguments may be infinite
/// where the result is defined; throws InputError otherwise (∞ − ∞, 0·∞, x/0, the root of a negative number, NaN).
inline double add_down(double a, double b) {
  const double sum = a + b;
  if (std::isnan(sum)) throw InputError("a bound is not a number: the sum of opposite infinities");
  if (std::isinf(a) || std::isinf(b)) return sum;
  const bool known = std::fabs(sum) < 1 / directed::kSmall && std::fabs(a) < 1 / directed::kSmall;
  return directed::down(sum, known ? directed::sum_error(a, b, sum) : 0, known);
}

inline double multiply_down(double a, double b) {
  const double product = a * b;
  if (std::isnan(product)) throw InputError("a bound is not a number: zero times infinity");
  if (a == 0 || b == 0 || std::isinf(a) || std::isinf(b)) return product;
  const bool known = directed::is_tame(product);
  return directed::down(product, known ? std::fma(a, b, -product) : 0, known);
}

inline double divide_down(double a, double b) {
  if (b == 0 || std::isnan(b)) throw InputError("a bound is not a number: a division by zero");
  const double quotient = a / b;
  if (std::isnan(quotient)) throw InputError("a bound is not a number: a quotient of infinities");
  if (a == 0 || std::isinf(a)) return quotient;
  if (std::isinf(b)) return (a < 0) == (b < 0) ? 0.0 : directed::below(0);
  const bool known = directed::is_tame(quotient) && directed::is_tame(a) && directed::is_tame(b);
  const double rest = known ? std::fma(-quotient, b, a) : 0;  // a/b − quotient = rest/b
  return directed::down(quotient, b < 0 ? -rest : rest, known);
}

inline double root_down(double a) {
  if (!(a >= 0)) throw InputError("a bound is not a number: the root of a negative number");
  const double root = std::sqrt(a);
  if (a == 0 || std::isinf(a)) return root;
  return directed::down(root, directed::root_error(a, root), directed::is_tame(a));
}

/// The least double ≥ the exact result, likewise.
inline double add_up(double a, double b) { return -add_down(-a, -b); }
inline double multiply_up(double a, double b) { return -multiply_down(-a, b); }
inline double divide_up(double a, double b) { return -divide_down(-a, b); }
inline double root_up(double a) {
  if (!(a >= 0)) return root_down(a);  // which throws
  const double root = std::sqrt(a);
  if (a == 0 || std::isinf(a) || (directed::is_tame(a) && directed::root_error(a, root) <= 0)) return root;
  return std::nextafter(root, directed::kInfinity);
}

/// All real numbers from lower to upper; either may be infinite. The result of an operation holds every result on
/// numbers of the operands.
class Interval {
 public:
  constexpr Interval() = default;
  /// Exactly this number. Throws InputError when it is not finite.
  Interval(double number) : Interval(between(number, number)) {  // NOLINT: a number is an interval
    if (std::isinf(number)) throw InputError("an infinity is not a number; it can only bound an interval");
  }
  /// Throws InputError when lower > upper, or one is not a number.
  static Interval between(double lower, double upper) {
    if (!(lower <= upper)) throw InputError("the lower end of an interval is above its upper end");
    return {lower, upper};
  }

  double lower() const { return lower_; }
  double upper() const { return upper_; }
  /// The greatest |x|.
  double magnitude() const { return std::max(std::fabs(lower_), std::fabs(upper_)); }
  bool is_bounded() const { return std::isfinite(lower_) && std::isfinite(upper_); }
  bool contains(double number) const { return lower_ <= number && number <= upper_; }

  Interval operator-() const { return {-upper_, -lower_}; }
  friend Interval operator+(Interval a, Interval b) {
    return {add_down(a.lower_, b.lower_), add_up(a.upper_, b.upper_)};
  }
  friend Interval operator-(Interval a, Interval b) { return a + -b; }
  friend Interval operator*(Interval a, Interval b) {
    return {std::min({end_down(a.lower_, b.lower_), end_down(a.lower_, b.upper_), end_down(a.upper_, b.lower_),
                      end_down(a.upper_, b.upper_)}),
            std::max({end_up(a.lower_, b.lower_), end_up(a.lower_, b.upper_), end_up(a.upper_, b.lower_),
                      end_up(a.upper_, b.upper_)})};
  }
  /// Throws InputError when b holds 0.
  friend Interval operator/(Interval a, Interval b) {
    if (b.contains(0)) throw InputError("a division by an interval that holds zero");
    if (!a.is_bounded() || !b.is_bounded()) return a * Interval{divide_down(1, b.upper_), divide_up(1, b.lower_)};
    return {std::min({divide_down(a.lower_, b.lower_), divide_down(a.lower_, b.upper_), divide_down(a.upper_, b.lower_),
                      divide_down(a.upper_, b.upper_)}),
            std::max({divide_up(a.lower_, b.lower_), divide_up(a.lower_, b.upper_), divide_up(a.upper_, b.lower_),
                      divide_up(a.upper_, b.upper_)})};
  }
  friend bool operator==(const Interval&, const Interval&) = default;

  friend Interval abs(Interval a) {
    if (a.lower_ >= 0) return a;
    return a.upper_ <= 0 ? -a : Interval{0, a.magnitude()};
  }
  friend Interval max(Interval a, Interval b) { return {std::max(a.lower_, b.lower_), std::max(a.upper_, b.upper_)}; }
  friend Interval min(Interval a, Interval b) { return {std::min(a.lower_, b.lower_), std::min(a.upper_, b.upper_)}; }
  /// The roots of the members that are not negative. Throws InputError when all are.
  friend Interval sqrt(Interval a) { return {root_down(std::max(0.0, a.lower_)), root_up(a.upper_)}; }

 private:
  constexpr Interval(double lower, double upper) : lower_(lower), upper_(upper) {}
  /// An infinite end is not a member, so that zero times it is zero.
  static double end_down(double a, double b) { return a == 0 || b == 0 ? 0 : multiply_down(a, b); }
  static double end_up(double a, double b) { return a == 0 || b == 0 ? 0 : multiply_up(a, b); }

  double lower_ = 0, upper_ = 0;
};

// Matrices of intervals: products, triangular inverses, and bounds of the
// spectral norm.

/// Column-major, as the states of a network are.
class IntervalMatrix {
 public:
  IntervalMatrix() = default;
  IntervalMatrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), entries_(rows * columns) {}
  /// Points; they must be finite.
  explicit IntervalMatrix(const Eigen::MatrixXd& points);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  Interval& operator()(std::size_t i, std::size_t j) { return entries_[j * rows_ + i]; }
  const Interval& operator()(std::size_t i, std::size_t j) const { return entries_[j * rows_ + i]; }
  Interval* data() { return entries_.data(); }
  const Interval* data() const { return entries_.data(); }

 private:
  std::size_t rows_ = 0, columns_ = 0;
  std::vector<Interval> entries_;
};

/// Shapes must fit. O(n³) operations.
IntervalMatrix operator*(const IntervalMatrix& a, const IntervalMatrix& b);
IntervalMatrix operator-(const IntervalMatrix& a, const IntervalMatrix& b);
IntervalMatrix transpose(const IntervalMatrix& a);
Eigen::MatrixXd middle(const IntervalMatrix& a);

/// A number inside, near the middle. The interval is bounded.
inline double middle(const Interval& x) { return x.lower() + (x.upper() - x.lower()) / 2; }
inline Interval square(const Interval& x) { return abs(x) * abs(x); }
inline bool is_point(const Interval& x) { return x.lower() == x.upper(); }

/// The inverse of an upper triangular matrix, by back substitution. Throws InputError where the diagonal may be 0.
IntervalMatrix inverse_of_upper_triangular(const IntervalMatrix& r);

/// An upper bound of ‖M‖_F, over all matrices M of the enclosure.
double frobenius_norm_bound(const IntervalMatrix& m);

/// An upper bound of ‖M‖₂, over all matrices M of the enclosure: infinite when an entry has no bounds. With V the
/// approximate eigenvectors of MᵀM, ‖M‖² ≤ λ_max(Vᵀ MᵀM V) / λ_min(VᵀV); both are bounded by Gershgorin's circles, and
/// both matrices are nearly diagonal. Within about n² units of double's roundoff of the truth. O(n³); above 64 rows
/// √(‖M‖₁ ‖M‖_∞) instead, O(n²).
double spectral_norm_bound(const IntervalMatrix& m);

}  // namespace krohn
