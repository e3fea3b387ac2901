#include "krohn/simulate/closing/cells/threshold_unit.h"

namespace krohn {

std::size_t take_sides(Eigen::VectorXd& weights, const Eigen::MatrixXd& points, const Sides& sides) {
  constexpr int kMostRounds = 100;
  constexpr double kMargin = 1, kPast = 1.5, kMore = 0.1;
  const Eigen::VectorXd squares = points.colwise().squaredNorm();
  std::size_t lacking = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    lacking = 0;
    for (Eigen::Index i = 0; i < points.cols(); ++i) {
      const double side = sides[static_cast<std::size_t>(i)];
      if (side == 0) continue;
      const double lack = kMargin - side * points.col(i).dot(weights);
      if (lack <= 0) continue;
      ++lacking;
      if (squares(i) > 0) weights += side * kPast * (lack + kMore) / squares(i) * points.col(i);
    }
    if (lacking == 0) break;
  }
  return lacking;
}

}  // namespace krohn
