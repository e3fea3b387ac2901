// groups/representations/irreducible_blocks.h — the real irreducible blocks of permutation representations,
// numerically.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "krohn/groups/permutations/group_elements.h"

namespace krohn {

/// One real irreducible representation: orthogonal matrices of the generators, and its character.
struct IrreducibleBlock {
  std::uint32_t dimension = 0;
  std::vector<Eigen::MatrixXd> generators;
  std::vector<double> character;  ///< by element of GroupElements
};

/// All blocks, up to isomorphism (equal characters), of the permutation representations on points, on ordered pairs and
/// on the group itself, each only when its degree is at most `max_degree`; by increasing dimension. A block is left out
/// when |G| · dimension² passes 2^26. O(degree³) for each eigenproblem, O(|G| · dimension³) for characters.
std::vector<IrreducibleBlock> irreducible_blocks(const GroupElements& elements, std::uint32_t max_degree,
                                                 std::uint64_t seed);

/// The matrix of every element, from those of the generators: matrix(e·g) = generator(g) · matrix(e).
std::vector<Eigen::MatrixXd> element_matrices(const GroupElements& elements,
                                              const std::vector<Eigen::MatrixXd>& generators);

}  // namespace krohn
