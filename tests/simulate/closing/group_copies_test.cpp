// Sizes of learned copies: what counts as one size and as two, copies that no lattice has, and which points say the
// same.

#include "krohn/simulate/closing/group_copies.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "krohn/simulate/closing/point_moves.h"

using namespace krohn;
using Eigen::Index;
using Eigen::MatrixXd;
using Move = LearnedCode::Move;

namespace {

/// Z_2 × Z_2 on itself, and its four characters at sizes that are given by half: a column of ±s has norm 2s.
std::vector<GroupCopies::Copy> copies_of_four(double a, double b, double c, double d) {
  MatrixXd points(4, 4);
  points << a, a, a, a, b, b, -b, -b, c, -c, c, -c, d, -d, -d, d;
  std::vector<Move> moves;
  for (Index q = 0; q < 4; ++q) {
    moves.push_back({q, 0, q ^ 1});
    moves.push_back({q, 1, q ^ 2});
  }
  const auto found = group_copies(points, moves, 2);
  REQUIRE(found);
  CHECK((found->vectors.transpose() * found->vectors - MatrixXd::Identity(4, 4)).cwiseAbs().maxCoeff() < 1e-12);
  return found->copies;
}

}  // namespace

TEST_CASE("two sizes are one within a millionth of the greater, wherever they stand, and two past that") {
  for (const double size : {1.0, 0.1, 0.01})
    for (const double apart : {0.9e-6, 1.1e-6}) {
      CAPTURE(size);
      const auto copies = copies_of_four(2, size, size * (1 - apart), 0);
      REQUIRE(copies.size() == (apart < 1e-6 ? 3 : 4));
      CHECK(copies[1].count == (apart < 1e-6 ? 2 : 1));
      CHECK(copies[0].size == doctest::Approx(4));
      CHECK(copies[1].size == doctest::Approx(2 * size));
    }
  // Of small ones roundings move the squares: 1e-11 of the greatest is no difference.
  for (const double apart : {0.9e-11, 1.1e-11}) {
    const double square = 2.25e-6;
    CHECK(copies_of_four(1, std::sqrt(square), std::sqrt(square - apart), 0).size() == (apart < 1e-11 ? 3 : 4));
  }
}

TEST_CASE("a constant and one fifth of a turn are two copies, of which one has no lattice") {
  MatrixXd points(3, 5);
  std::vector<Move> moves;
  for (Index q = 0; q < 5; ++q) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(q) / 5;
    points.col(q) << 1, std::cos(angle), std::sin(angle);
    moves.push_back({q, 0, (q + 1) % 5});
  }
  const auto found = group_copies(points, moves, 1);
  REQUIRE(found);
  REQUIRE(found->copies.size() == 3);  // the third: the two fifths that are not there
  CHECK(found->copies[0].count == 1);
  CHECK(found->copies[0].size == doctest::Approx(std::sqrt(5)));
  CHECK(found->copies[1].count == 2);
  CHECK(found->copies[1].size == doctest::Approx(std::sqrt(2.5)));
  CHECK(found->copies[2].size < 1e-6);
}

TEST_CASE("a point that no letter leads to is like the first that all letters move alike, and others like none") {
  // 0 and 1 are swapped by letter 0 and stay by letter 1; 2 begins.
  const std::vector<Move> swap{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 1, 1}};
  struct Fact {
    Index by0, by1;
    std::uint32_t like;
  };
  for (const auto& [by0, by1, like] : {Fact{1, 0, 0}, Fact{0, 1, 1}, Fact{0, 0, kNoPoint}, Fact{1, 1, kNoPoint}}) {
    std::vector<Move> moves = swap;
    moves.push_back({2, 0, by0});
    moves.push_back({2, 1, by1});
    const PointMoves found = point_moves(moves, 2, 3);
    CHECK(found.like[0] == 0);
    CHECK(found.like[1] == 1);
    CHECK(found.like[2] == like);
    CHECK_FALSE(found.is_repeated(0));
    CHECK(found.is_repeated(2) == (like != kNoPoint));
    CHECK(group_copies(MatrixXd::Identity(3, 3), moves, 2).has_value() == (like != kNoPoint));
  }
  // A letter that is known of one of them alone is no likeness.
  std::vector<Move> fewer = swap;
  fewer.push_back({2, 0, 1});
  CHECK(point_moves(fewer, 2, 3).like[2] == kNoPoint);
}
