// simulate/closing/cells/threshold_unit.h — weights by which a unit is above 0 at some points and below it at others.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace krohn {

/// For each point: 1, −1, or 0 where either will do.
using Sides = std::vector<std::int8_t>;

/// Moves the weights until wᵀ x is at least 1 on the wanted side of every point (a column): from each point that lacks,
/// one after another, to half as far again behind its plane and a little more, as the relaxation of Agmon and of
/// Motzkin & Schoenberg (1954) does. It ends where such weights are; after 100 rounds it is taken that there are none.
/// Returns the points that lacked in the last round: 0 where all are right.
std::size_t take_sides(Eigen::VectorXd& weights, const Eigen::MatrixXd& points, const Sides& sides);

}  // namespace krohn
