// Copies of representations: as many as were learned, none of what training left over, each in a basis of its own in
// which the letters are integers; and no copy where there is no lattice.

#include "krohn/simulate/closing/learned_copies.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "krohn/simulate/learned/linear_systems.h"

using namespace krohn;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Move = LearnedCode::Move;

/// The six elements of S_3 as images of 0, 1, 2, and what follows each by one of two swaps.
std::vector<Move> moves_of_s3() {
  const std::vector<std::vector<int>> elements{{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}},
      swaps{{1, 0, 2}, {0, 2, 1}};
  std::vector<Move> moves;
  for (std::size_t q = 0; q < elements.size(); ++q)
    for (std::size_t letter = 0; letter < swaps.size(); ++letter) {
      std::vector<int> image;
      for (const int x : elements[q]) image.push_back(swaps[letter][static_cast<std::size_t>(x)]);
      for (std::size_t to = 0; to < elements.size(); ++to)
        if (elements[to] == image) moves.push_back({static_cast<Index>(q), letter, static_cast<Index>(to)});
    }
  return moves;
}

std::vector<Move> moves_of_counter(Index states) {
  std::vector<Move> moves;
  for (Index q = 0; q < states; ++q) moves.push_back({q, 0, (q + 1) % states});
  return moves;
}

MatrixXd random_matrix(Index rows, Index columns, std::mt19937& random) {
  std::normal_distribution<double> normal;
  MatrixXd numbers(rows, columns);
  for (double& x : numbers.reshaped()) x = normal(random);
  return numbers;
}

/// The one matrix that takes every point along the letter's moves, which has to exist and to be of integers.
void check_letters(const LearnedCopies& copies, const std::vector<Move>& moves, std::size_t letters) {
  for (std::size_t letter = 0; letter < letters; ++letter) {
    MatrixXd to = copies.points;
    for (const Move& move : moves)
      if (move.letter == letter) to.col(move.from) = copies.points.col(move.to);
    const MatrixXd matrix = least_squares(copies.points.transpose(), to.transpose()).transpose();
    CHECK((matrix * copies.points - to).cwiseAbs().maxCoeff() < 1e-9);
    CHECK((matrix.array() - matrix.array().round()).abs().maxCoeff() < 1e-6);
  }
}

}  // namespace

TEST_CASE("a state of S_3 in general position: all copies with their lattices, the two of two dimensions apart") {
  std::mt19937 random(3);
  for (int round = 0; round < 10; ++round) {
    const MatrixXd points = random_matrix(8, 6, random);
    const std::vector<Move> moves = moves_of_s3();
    const auto found = learned_copies(points, moves, 2);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front().basis.cols() == 6);
    CHECK(found.front().points.cwiseAbs().maxCoeff() < 2);
    CHECK((found.front().basis * found.front().points - points).cwiseAbs().maxCoeff() < 1e-9);
    for (const LearnedCopies& copies : found) check_letters(copies, moves, 2);
  }
}

TEST_CASE("what is smaller by more than a factor of 1.5 than the copy above it may be left out, otherwise not") {
  // The trivial representation of Z_2 at size 1, and the sign at 1 / factor.
  for (const double factor : {1.49, 1.51}) {
    MatrixXd points(2, 2);
    points << 1, 1, 1 / factor, -1 / factor;
    const auto found = learned_copies(points, moves_of_counter(2), 1);
    REQUIRE(found.size() == (factor > 1.5 ? 2 : 1));
    CHECK(found.front().basis.cols() == 2);
    CHECK(found.back().basis.cols() == (factor > 1.5 ? 1 : 2));
  }
  // A thousandth of the greatest is noise, and a copy has to be as far above that.
  for (const double size : {0.00149, 0.00151}) {
    MatrixXd points(2, 2);
    points << 1, 1, size, -size;
    CHECK(learned_copies(points, moves_of_counter(2), 1).front().basis.cols() == (size < 0.0015 ? 1 : 2));
  }
}

TEST_CASE("a fifth of a turn has no lattice alone, both fifths have one together") {
  MatrixXd points(4, 5);
  for (Index q = 0; q < 5; ++q)
    for (Index k = 0; k < 2; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(q * (k + 1)) / 5, size = k == 0 ? 1 : 0.9;
      points.col(q).segment(2 * k, 2) << size * std::cos(angle), size * std::sin(angle);
    }
  CHECK(learned_copies(points.topRows(2), moves_of_counter(5), 1).empty());
  const auto found = learned_copies(points, moves_of_counter(5), 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].basis.cols() == 4);
  check_letters(found[0], moves_of_counter(5), 1);
}

TEST_CASE("a copy that has no lattice counts as left out: beside a greater one no smaller is a candidate") {
  for (const double constant : {0.5, 4.0}) {
    MatrixXd points(3, 5);
    for (Index q = 0; q < 5; ++q) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(q) / 5;
      points.col(q) << constant, std::cos(angle), std::sin(angle);
    }
    const auto found = learned_copies(points, moves_of_counter(5), 1);
    REQUIRE(found.size() == (constant > 1 ? 1 : 0));
    if (constant > 1) CHECK(found[0].basis.cols() == 1);
  }
}

TEST_CASE("letters that are no permutations have no copies, and neither have more than 200 points") {
  std::vector<Move> moves = moves_of_counter(3);
  CHECK_FALSE(learned_copies(MatrixXd::Identity(3, 3), moves, 1).empty());
  std::vector<Move> resets = moves;
  for (Index q = 0; q < 3; ++q) resets.push_back({q, 1, 0});
  CHECK(learned_copies(MatrixXd::Identity(3, 3), resets, 2).empty());
  moves.pop_back();  // known of two points alone
  CHECK(learned_copies(MatrixXd::Identity(3, 3), moves, 1).empty());
  for (const Index count : {200, 201}) {
    std::vector<Move> still;
    for (Index q = 0; q < count; ++q) still.push_back({q, 0, q});
    CHECK(learned_copies(MatrixXd::Ones(1, count), still, 1).empty() == (count > 200));
  }
}

TEST_CASE("a state before every word is taken for the one that moves like it, and where none does there is nothing") {
  for (const Index like : {0, 1, 2}) {
    std::vector<Move> moves = moves_of_counter(3);
    moves.push_back({3, 0, (like + 1) % 3});
    MatrixXd points = MatrixXd::Zero(3, 4);
    points.leftCols(3).setIdentity();
    points.col(3) << 0.3, 0.1, 0.2;  // says nothing
    const auto found = learned_copies(points, moves, 1);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front().points.col(3) == found.front().points.col(like));
    check_letters(found.front(), moves, 1);
    // A second letter, by which it moves otherwise.
    for (Index q = 0; q < 3; ++q) moves.push_back({q, 1, q});
    moves.push_back({3, 1, (like + 1) % 3});
    CHECK(learned_copies(points, moves, 2).empty());
  }
}
