// Weights that take sides: for every function of up to four signs, beside the known numbers of those that a threshold
// unit computes; and on points where a margin, a choice or a contradiction decides.

#include "krohn/simulate/closing/cells/threshold_unit.h"

#include <doctest/doctest.h>

#include <cstdint>

using namespace krohn;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// All words of signs, with a constant below.
MatrixXd cube(Index signs) {
  MatrixXd points(signs + 1, Index{1} << signs);
  for (Index i = 0; i < points.cols(); ++i) {
    for (Index j = 0; j < signs; ++j) points(j, i) = (i >> j & 1) != 0 ? 1 : -1;
    points(signs, i) = 1;
  }
  return points;
}

void check_sides(const VectorXd& weights, const MatrixXd& points, const Sides& sides) {
  for (Index i = 0; i < points.cols(); ++i)
    if (const int side = sides[static_cast<std::size_t>(i)]; side != 0) CHECK(side * points.col(i).dot(weights) >= 1);
}

}  // namespace

TEST_CASE("of the functions of signs exactly those are computed that a threshold computes") {
  // Muroga, Threshold Logic and Its Applications, 1971.
  constexpr std::uint64_t kThresholdFunctions[] = {2, 4, 14, 104, 1882};
  for (Index signs = 0; signs <= 4; ++signs) {
    CAPTURE(signs);
    const MatrixXd points = cube(signs);
    std::uint64_t found = 0;
    for (std::uint64_t function = 0; function >> points.cols() == 0; ++function) {
      Sides sides;
      for (Index i = 0; i < points.cols(); ++i) sides.push_back((function >> i & 1) != 0 ? 1 : -1);
      VectorXd weights = VectorXd::Zero(points.rows());
      if (take_sides(weights, points, sides) > 0) continue;
      ++found;
      check_sides(weights, points, sides);
    }
    CHECK(found == kThresholdFunctions[signs]);
  }
}

TEST_CASE("weights that are right already stay to the bit, at the margin too, and just below it they move") {
  const MatrixXd points = cube(2);
  const Sides first{1, -1, 1, -1};  // the first sign alone, with a minus
  for (const double size : {1.0, 1.5}) {
    VectorXd weights = VectorXd::Zero(3);
    weights(0) = -size;
    const VectorXd before = weights;
    CHECK(take_sides(weights, points, first) == 0);
    CHECK(weights == before);
  }
  VectorXd below = VectorXd::Zero(3);
  below(0) = -std::nextafter(1.0, 0.0);
  const VectorXd before = below;
  CHECK(take_sides(below, points, first) == 0);
  CHECK(below != before);
  check_sides(below, points, first);
}

TEST_CASE("either side is right where none is wanted, and contradictions and the zero point are told") {
  const MatrixXd points = cube(2);
  VectorXd weights = VectorXd::Zero(3);
  CHECK(take_sides(weights, points, {0, 0, 0, 0}) == 0);
  CHECK(weights.isZero(0));
  CHECK(take_sides(weights, points, {1, -1, -1, 0}) == 0);  // a parity, but for one place
  weights.setZero();
  CHECK(take_sides(weights, points, {1, -1, -1, 1}) > 0);
  MatrixXd twice(1, 2);
  twice << 1, 1;
  VectorXd one = VectorXd::Zero(1);
  CHECK(take_sides(one, twice, {1, -1}) > 0);
  const MatrixXd zero = MatrixXd::Zero(1, 1);
  CHECK(take_sides(one, zero, {1}) == 1);
  CHECK(take_sides(one, zero, {0}) == 0);
}
