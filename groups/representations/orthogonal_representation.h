// groups/representations/orthogonal_representation.h — the smallest orthogonal representation of a permutation group
// that tells the points apart (MATH.md §6).
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <vector>

#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

// The real irreducible blocks of permutation representations,
// numerically.

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

/// Matrices for the generators and a start vector v whose images name the points: the codeword of a group element g is
/// v·g, and the point start·g depends on the codeword alone.
struct OrthogonalRepresentation {
  std::vector<std::uint32_t> blocks;        ///< dimensions of the irreducible blocks, in order
  std::vector<Eigen::MatrixXd> generators;  ///< one per generator, n×n orthogonal; products act from the left
  std::vector<std::uint32_t> reflections;   ///< per generator: rank(M − I), the codimension of its fixed space
  std::vector<Eigen::VectorXd> codewords;   ///< distinct unit vectors; the first is v
  std::vector<Point> point_of;              ///< codeword ↦ point
  double least_distance = 0;                ///< between codewords of different points

  std::uint32_t dimension() const {
    std::uint32_t n = 0;
    for (const std::uint32_t block : blocks) n += block;
    return n;
  }
};

struct RepresentationOptions {
  std::uint64_t max_order = 10'000;      ///< of the group; LimitError beyond
  std::uint32_t max_eigenproblem = 400;  ///< permutation representations of a larger degree are not decomposed
  std::uint64_t seed = 1;                ///< of the random commutant element and of the search for v
};

/// The real irreducible blocks come from random symmetric elements of the commutant of three permutation
/// representations: on the points, on ordered pairs of points, on the group (the latter two within `max_eigenproblem`).
/// Among the sets of at most three blocks with trivial joint kernel, the least total dimension wins; then v is searched
/// for the greatest least distance, in the space fixed by Stab(start), else by its cyclic subgroups, else anywhere. A
/// vector works iff its stabiliser lies in Stab(start). Only the orbit of `start` counts. Throws InputError when no set
/// of blocks is faithful on that orbit, LimitError past `max_order`.
OrthogonalRepresentation smallest_separating_representation(const PermutationGroup& group, Point start,
                                                            const RepresentationOptions& options = {});

}  // namespace krohn
