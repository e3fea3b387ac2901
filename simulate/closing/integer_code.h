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
#include <cstdint>
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
/// there is none. The basis is one of the lattice that the points generate, or
/// where that is none, of lattices copy by copy. O(rank · letters · numbers³).
std::optional<IntegerCode> integer_code(
    const LearnedCode& learned, Eigen::Index most_rank,
    const std::function<bool(const IntegerCode&)>& fits = [](const IntegerCode&) { return true; });

inline constexpr std::uint32_t kNoPoint = UINT32_MAX;

struct PointMoves {
  std::vector<std::vector<std::uint32_t>> next;  ///< next[letter][point], kNoPoint where no move is known
  /// Itself, where some letter leads to the point. Of the others, such as the state before a word where the empty word
  /// is not asked about, the first point that some letter leads to and that every letter moves alike; kNoPoint where
  /// there is none.
  std::vector<std::uint32_t> like;

  /// No letter leads to it, and another point says all that it does.
  bool is_repeated(std::size_t point) const { return like[point] != point && like[point] != kNoPoint; }
};

/// O(letters · points²).
PointMoves point_moves(const std::vector<LearnedCode::Move>& moves, std::size_t letters, std::size_t points);

// Which copies of a group's irreducible representations were learned, and how large.
//
// Where letters permute the points they act on R^points by permutations, and the mean of the points' Gram matrix over
// that group commutes with them. Its eigenspaces are the copies of irreducible representations that were learned, and
// the roots of its eigenvalues say how large each was learned: what training left over is small copies.

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
/// another moves like none of these, or there are more than 200.
/// O(points³ + 1000 · letters · points²).
std::optional<GroupCopies> group_copies(const Eigen::MatrixXd& points, const std::vector<LearnedCode::Move>& moves,
                                        std::size_t letters);

/// A basis, and integers: basis · points is about the points that were asked about.
struct LatticeCoordinates {
  Eigen::MatrixXd basis, points;
};

/// For points given by `pivots`, which are as many of them as there are dimensions, and by coordinates in these. The
/// basis is the pivots, where the others are integer combinations of them; otherwise it consists of fractions of them
/// by 2 to 12 (Hermite's normal form; Cohen 1993, §2.4.2). Multiples within a quarter of
/// an integer are taken for that. Nothing where no such fractions serve.
std::optional<LatticeCoordinates> lattice_coordinates(const Eigen::MatrixXd& pivots, const Eigen::MatrixXd& in_pivots);

/// The same of points (columns) that span their space, the pivots chosen among them by QR.
std::optional<LatticeCoordinates> lattice_coordinates(const Eigen::MatrixXd& points);

/// The nearest integer to every entry, +0 for 0.
Eigen::MatrixXd nearest_integers(const Eigen::MatrixXd& numbers);

// A learned representation of a group, copy by copy of its irreducible parts, each
// with a lattice that the group keeps.
//
// A representation that stands there several times, its copies in general position, generates no lattice; one copy
// does, wherever some subgroup fixes one direction of it: the class means of that subgroup's congruence are an orbit of
// a rational vector.

/// Copies side by side: point q lies about at basis · points.col(q). In this basis the group's letters are exactly
/// integers, and no coordinate of a point passes 2.
struct LearnedCopies {
  Eigen::MatrixXd basis, points;
};

/// The copies above every gap of more than a factor of 1.5 between the least copy and the greatest left out, or a
/// thousandth of the greatest of all, most copies first. Those without a lattice (the turn by a fifth alone) are left
/// out unless they have one together. None where the points have no copies. O(points³) beside those.
std::vector<LearnedCopies> learned_copies(const Eigen::MatrixXd& points, const std::vector<LearnedCode::Move>& moves,
                                          std::size_t letters);

}  // namespace krohn
