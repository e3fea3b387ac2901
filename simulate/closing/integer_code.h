// simulate/closing/integer_code.h — a basis in which what a trained recurrence does is a matter of integers.
//
// Words move the mean states of a trained linear recurrence among one another, so that its letters are a
// representation of the automaton's monoid on the space that the means span, up to what training left over. Where the
// additive group that the means generate is a lattice, the letters have integer matrices in a basis of it, and a matrix
// that is off by less than 1/2 is rounded to the right one. A rotation by a fifth of a turn alone has no such basis:
// its trace is irrational. All the rotations by k fifths together have one (the permutation of five points).
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace krohn {

/// Points of a space, matrices that move them, and what is known of that.
struct LearnedCode {
  struct Move {
    Eigen::Index from = 0;
    std::size_t letter = 0;
    Eigen::Index to = 0;
  };
  Eigen::MatrixXd points;  ///< numbers × points
  std::vector<Eigen::MatrixXd> letters;
  std::vector<Move> moves;  ///< letters[letter] · point `from` is about point `to`
};

/// Letters have integer entries, points are multiples of a power of two, integers where it is 1; and every move holds
/// exactly: letters[letter] · points[from] = points[to].
struct IntegerCode {
  Eigen::MatrixXd basis;   ///< numbers × rank; point q lies about at basis · points[q]
  Eigen::MatrixXd points;  ///< rank × points
  std::vector<Eigen::MatrixXd> letters;
  /// The farthest that a coordinate which the trained letters give to a known move was from the rounded one. Of entries
  /// that no move needs nothing is said.
  double moved = 0;

  Eigen::Index rank() const { return basis.cols(); }
};

/// The code of greatest rank, up to `most_rank`, that rounding to the nearest gives and that `fits`; nothing where
/// there is none. The basis is one of the lattice that the points generate (simulate/closing/lattice_coordinates.h), or
/// where that is none, of lattices copy by copy (simulate/closing/learned_copies.h). O(rank · letters · numbers³).
std::optional<IntegerCode> integer_code(
    const LearnedCode& learned, Eigen::Index most_rank,
    const std::function<bool(const IntegerCode&)>& fits = [](const IntegerCode&) { return true; });

}  // namespace krohn
