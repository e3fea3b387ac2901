// Integer bases of representations: found where there are some, in any basis and with noise, and nowhere else.

#include "krohn/simulate/closing/integer_code.h"
#include "krohn/groups/linear/decompositions.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "krohn/simulate/closing/lattice_coordinates.h"
#include "krohn/simulate/learned/linear_systems.h"

using namespace krohn;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

MatrixXd random_matrix(Index rows, Index columns, std::mt19937& random) {
  std::normal_distribution<double> normal;
  MatrixXd numbers(rows, columns);
  for (double& x : numbers.reshaped()) x = normal(random);
  return numbers;
}

/// The orbit of a vector under matrices, in another basis, with noise in the matrices.
LearnedCode learned(const std::vector<MatrixXd>& letters, const VectorXd& first, double noise, std::mt19937& random) {
  const MatrixXd basis = random_matrix(first.size(), first.size(), random),
                 back = solution(basis, MatrixXd::Identity(first.size(), first.size()));
  std::vector<VectorXd> points{first};
  LearnedCode code;
  for (std::size_t i = 0; i < points.size() && points.size() < 500; ++i)
    for (std::size_t letter = 0; letter < letters.size(); ++letter) {
      const VectorXd image = letters[letter] * points[i];
      auto found = std::ranges::find_if(points, [&](const VectorXd& p) { return (p - image).norm() < 1e-6; });
      if (found == points.end()) points.push_back(image), found = points.end() - 1;
      code.moves.push_back({static_cast<Index>(i), letter, found - points.begin()});
    }
  code.points.resize(first.size(), static_cast<Index>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) code.points.col(static_cast<Index>(i)) = basis * points[i];
  for (const MatrixXd& letter : letters)
    code.letters.push_back(basis * (letter + noise * random_matrix(first.size(), first.size(), random)) * back);
  return code;
}

MatrixXd permutation(const std::vector<int>& images) {
  MatrixXd matrix = MatrixXd::Zero(static_cast<Index>(images.size()), static_cast<Index>(images.size()));
  for (std::size_t i = 0; i < images.size(); ++i) matrix(images[i], static_cast<Index>(i)) = 1;
  return matrix;
}

MatrixXd rotation(int order) {
  const double angle = 2 * std::numbers::pi / order;
  MatrixXd matrix(2, 2);
  matrix << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  return matrix;
}

MatrixXd twice(const MatrixXd& a) {
  MatrixXd both = MatrixXd::Zero(2 * a.rows(), 2 * a.cols());
  both.topLeftCorner(a.rows(), a.cols()) = both.bottomRightCorner(a.rows(), a.cols()) = a;
  return both;
}

void check_exact(const IntegerCode& code, const LearnedCode& given) {
  for (const MatrixXd& letter : code.letters) CHECK(letter == nearest_integers(letter));
  for (const auto& [from, letter, to] : given.moves)
    CHECK(code.letters[letter] * code.points.col(from) == code.points.col(to));
  CHECK((code.basis * code.points - given.points).cwiseAbs().maxCoeff() < 0.1 * given.points.cwiseAbs().maxCoeff());
}

}  // namespace

TEST_CASE("a rotation has an integer basis where its trace is an integer, and nowhere else") {
  std::mt19937 random(3);
  for (int order = 1; order <= 12; ++order) {
    CAPTURE(order);
    const LearnedCode code = learned({rotation(order)}, VectorXd::Unit(2, 0), 0, random);
    const bool is_integral = order <= 4 || order == 6;
    const auto found = integer_code(code, 2);
    CHECK(found.has_value() == is_integral);
    if (found) check_exact(*found, code);
  }
}

TEST_CASE("permutations and maps that forget are found in any basis, and with noise") {
  std::mt19937 random(7);
  MatrixXd reset = MatrixXd::Zero(4, 4);
  reset.row(2).setOnes();
  const std::vector<std::vector<MatrixXd>> machines{
      {permutation({1, 2, 3, 4, 0})},
      {permutation({1, 0, 2}), permutation({1, 2, 0})},
      {permutation({1, 2, 3, 0}), permutation({1, 0, 2, 3}), reset},
  };
  for (const auto& letters : machines)
    for (const double noise : {0.0, 0.003}) {
      VectorXd first = VectorXd::Unit(letters[0].rows(), 0);
      const LearnedCode code = learned(letters, first, noise, random);
      const auto found = integer_code(code, letters[0].rows());
      REQUIRE(found);
      CHECK(found->rank() == letters[0].rows());
      check_exact(*found, code);
    }
}

TEST_CASE("copies of a representation and a vector in general position: the classes of its states have a lattice") {
  std::mt19937 random(13);
  // S_4 on three dimensions, as it turns a cube; two copies, where three would make the orbit itself a lattice.
  MatrixXd turn(3, 3), other(3, 3);
  turn << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  other << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  for (int round = 0; round < 5; ++round) {
    const VectorXd first = random_matrix(6, 1, random);
    const LearnedCode code = learned({twice(turn), twice(other)}, first, 0, random);
    REQUIRE(code.points.cols() == 24);
    const auto found = integer_code(code, 6);
    REQUIRE(found);
    check_exact(*found, code);
    CHECK(found->points != nearest_integers(found->points));  // on a grid
  }
}

TEST_CASE("a coordinate may be off by a third, not by more than 0.35") {
  for (const double off : {0.34, 0.36}) {
    LearnedCode code{MatrixXd::Identity(2, 2), {MatrixXd(permutation({1, 0}))}, {{0, 0, 1}, {1, 0, 0}}};
    code.letters[0](1, 0) += off;
    const auto found = integer_code(code, 2);
    const bool has_both = found && found->rank() == 2;
    CHECK(has_both == (off < 0.35));
    if (has_both) CHECK(found->moved == doctest::Approx(off));
  }
}

TEST_CASE("lattices with and without a basis of points among them") {
  // Integers, and the point of halves: the basis is none of four points among these.
  MatrixXd points = MatrixXd::Zero(2, 4);
  points.col(0) << 1, 0;
  points.col(1) << 0, 1;
  points.col(2) << 0.5, 0.5;
  points.col(3) << 0.5, -0.5;
  for (const double unit : {1.0, 0.3}) {
    const auto found = lattice_coordinates(unit * points);
    REQUIRE(found);
    CHECK((found->basis * found->points - unit * points).cwiseAbs().maxCoeff() < 1e-12);
    CHECK(singular_values(found->basis).prod() == doctest::Approx(unit * unit / 2));
  }
  // Of two integers the greatest common divisor, where the greater is one, two or three times it: coordinates within a
  // quarter of an integer are taken for that.
  for (int a = 1; a <= 12; ++a)
    for (int b = 1; b <= 12; ++b) {
      if (std::max(a, b) > 3 * std::gcd(a, b)) continue;
      MatrixXd pair(1, 2);
      pair << a, b;
      const auto found = lattice_coordinates(pair);
      REQUIRE(found);
      CHECK(std::abs(found->basis(0, 0)) == doctest::Approx(std::gcd(a, b)));
    }
}
