// simulate/closing/class_basis.h — a basis of a learned representation from the classes of its states.
//
// A group's representation may be rational where the additive group that one orbit generates is no lattice: three
// copies of a representation of five dimensions, and a vector in general position. The means over the classes of a
// congruence move like fewer points, and where no irreducible representation stands twice in that permutation, they
// generate a lattice, whichever vector it was.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "krohn/simulate/closing/integer_code.h"

namespace krohn {

/// Columns that span the space of the points, which has as many dimensions as they have coordinates, each group of them
/// a basis of the lattice that the class means of one congruence generate, less what the earlier ones span. Nothing
/// where letters do not permute the points, where there are more than 200, or where the congruences that two pairs
/// generate do not suffice.
std::optional<Eigen::MatrixXd> basis_of_classes(const Eigen::MatrixXd& points,
                                                const std::vector<LearnedCode::Move>& moves, std::size_t letters);

}  // namespace krohn
