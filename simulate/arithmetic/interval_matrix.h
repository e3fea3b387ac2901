// simulate/arithmetic/interval_matrix.h — matrices of intervals: products, triangular inverses, and bounds of the
// spectral norm.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "krohn/simulate/arithmetic/interval.h"

namespace krohn {

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
