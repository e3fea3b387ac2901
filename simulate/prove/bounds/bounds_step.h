// simulate/prove/bounds/bounds_step.h — one letter of one layer as bounds see it: the exact linear map of the rounded
// weights, and how far rounding can take a step from it (MATH.md §5, "One rounded step").
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/form.h"
#include "krohn/simulate/arithmetic/interval_matrix.h"

namespace krohn {

/// What rounding adds to the exact A H + B on its way: at most `entries[i]` to entry i by the operations at the end,
/// and a matrix of at most that Frobenius norm by earlier ones (the reflections before the last). Infinite: may
/// overflow.
struct RoundingBound {
  std::vector<double> entries;
  double earlier = 0;
};

/// The steps of one layer, its weights rounded to an arithmetic. A is the product over real numbers of what is stored.
class StepModel {
 public:
  virtual ~StepModel() = default;
  std::size_t dimension() const { return dimension_; }
  std::size_t columns() const { return columns_; }
  std::size_t actions() const { return matrices_.size(); }
  const IntervalMatrix& matrix(Action action) const { return matrices_[action]; }
  /// An upper bound of ‖A‖₂, by the form of A where that is sharper than the entries.
  double norm(Action action) const { return norms_[action]; }
  /// B, or an empty matrix.
  const IntervalMatrix& addition(Action action) const { return additions_[action]; }
  /// H_0 as it is stored.
  const Eigen::MatrixXd& initial() const { return initial_; }
  /// The numbers of the storage format nearest to `entries`.
  virtual Eigen::MatrixXd rounded(const Eigen::MatrixXd& entries) const = 0;
  /// A c + B over real numbers, enclosed.
  virtual IntervalMatrix exact_step(Action action, const Eigen::MatrixXd& c) const = 0;
  /// The letter as it is evaluated, from numbers of the storage format.
  virtual Eigen::MatrixXd step(Action action, const Eigen::MatrixXd& state) const = 0;
  /// Over all states H of the storage format with |H − c|_i ≤ radii[i] and ‖H − c‖_F ≤ radius. Costs about 40 times the
  /// step.
  virtual RoundingBound rounding(Action action, const Eigen::MatrixXd& c, std::span<const double> radii,
                                 double radius) const = 0;
  /// Operations of one step, roughly.
  virtual std::uint64_t work(Action action) const = 0;

 protected:
  std::size_t dimension_ = 0, columns_ = 0;
  std::vector<IntervalMatrix> matrices_, additions_;
  std::vector<double> norms_;
  Eigen::MatrixXd initial_;
};

/// The model of a layer in an arithmetic other than `exact`; null when H_0 or a B overflows in its storage format, or
/// actions · n² is above 4·10^6. O(actions · n² · cost of a column).
std::unique_ptr<StepModel> make_step_model(const Layer& layer, ArithmeticName arithmetic, Form form);

}  // namespace krohn
