// constructions/build/build_orthogonal.h — a group automaton in the smallest orthogonal representation (MATH.md §6).
#pragma once

#include <Eigen/Core>

#include "krohn/constructions/network/network.h"

namespace krohn {

/// H ∈ R^n moves by the orthogonal matrices of groups/representations/orthogonal_representation.h; codewords are the
/// orbit of H_0, and several may stand for one state. A_5 takes 3 dimensions (rotations of the icosahedron), S_n takes
/// n − 1. Not bit-exact in general: the entries are irrational. Throws InputError naming the letter that is not a
/// bijection, LimitError past 10,000 group elements.
Network build_orthogonal(const Dfa& automaton);

/// The matrix of an eigensolver with entries that are within 1e-12 of a multiple of ½ made so.
Eigen::MatrixXd without_noise(const Eigen::MatrixXd& matrix);

}  // namespace krohn
