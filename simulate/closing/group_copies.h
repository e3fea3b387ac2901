// simulate/closing/group_copies.h — which copies of a group's irreducible representations were learned, and how large.
//
// Where letters permute the points they act on R^points by permutations, and the mean of the points' Gram matrix over
// that group commutes with them. Its eigenspaces are the copies of irreducible representations that were learned, and
// the roots of its eigenvalues say how large each was learned: what training left over is small copies.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/simulate/closing/integer_code.h"

namespace krohn {

struct GroupCopies {
  /// Eigenvectors of one size; of two copies of the same size together.
  struct Copy {
    Eigen::Index first = 0, count = 0;  ///< columns of `vectors`
    double size = 0;
  };
  std::vector<Eigen::Index> points;              ///< those that are permuted
  std::vector<std::uint32_t> at;                 ///< point ↦ its place, or that of its like, among them
  std::vector<std::vector<std::uint32_t>> next;  ///< next[letter][place]
  Eigen::MatrixXd vectors;                       ///< orthonormal, a row a place
  std::vector<Copy> copies;                      ///< size falling
};

/// Two sizes are one where they agree to a millionth of the greater, or their squares to 1e-11 of the greatest square,
/// which is how far roundings may part them. Nothing where letters do not permute the points that some letter leads to,
/// another moves like none of these (simulate/closing/point_moves.h), or there are more than 200.
/// O(points³ + 1000 · letters · points²).
std::optional<GroupCopies> group_copies(const Eigen::MatrixXd& points, const std::vector<LearnedCode::Move>& moves,
                                        std::size_t letters);

}  // namespace krohn
