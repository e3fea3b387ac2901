// Roots whose reflections binary arithmetic computes exactly: counts, products and closure as root systems have them.

#include "krohn/simulate/closing/dyadic_roots.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "krohn/simulate/learned/linear_systems.h"

using namespace krohn;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

MatrixXd random_rotation(Eigen::Index size, std::mt19937& random) {
  std::normal_distribution<double> normal;
  MatrixXd numbers(size, size);
  for (double& x : numbers.reshaped()) x = normal(random);
  return orthonormal_basis(numbers);
}

/// The swaps of five points as unit vectors (e_i − e_j)/√2, in eight dimensions.
MatrixXd swaps_of_five() {
  MatrixXd vectors = MatrixXd::Zero(8, 10);
  Eigen::Index column = 0;
  for (Eigen::Index i = 0; i < 5; ++i)
    for (Eigen::Index j = i + 1; j < 5; ++j, ++column)
      vectors(i, column) = std::sqrt(0.5), vectors(j, column) = -std::sqrt(0.5);
  return vectors;
}

}  // namespace

TEST_CASE("dyadic roots: as many as root systems have, and closed under their own reflections") {
  struct Fact {
    Eigen::Index dimensions;
    std::size_t count;
  };
  for (const auto& [dimensions, count] :
       {Fact{1, 2}, Fact{3, 6}, Fact{4, 24}, Fact{6, 60}, Fact{7, 126}, Fact{8, 240}}) {
    CAPTURE(dimensions);
    const std::vector<VectorXd> roots = dyadic_roots(dimensions);
    CHECK(roots.size() == count);
    std::set<std::vector<double>> known;
    for (const VectorXd& root : roots) known.emplace(root.begin(), root.end());
    CHECK(known.size() == count);
    bool is_closed = true;
    for (const VectorXd& a : roots)
      for (const VectorXd& b : roots) {
        const VectorXd image = b - 2 * a * a.dot(b);
        is_closed = is_closed && known.contains(std::vector<double>(image.begin(), image.end()));
      }
    CHECK(is_closed);
  }
}

TEST_CASE("nearest roots have the angles of turned and disturbed swaps, within the tolerance and not past it") {
  std::mt19937 random(5);
  const MatrixXd exact = swaps_of_five();
  const MatrixXd products = exact.transpose() * exact;
  for (int round = 0; round < 5; ++round) {
    MatrixXd given = random_rotation(8, random) * exact;
    std::uniform_real_distribution<double> noise(-0.01, 0.01);
    for (double& x : given.reshaped()) x += noise(random);
    const auto roots = nearest_roots(given, 0.2);
    REQUIRE(roots);
    CHECK((roots->transpose() * *roots - products).cwiseAbs().maxCoeff() < 1e-12);
  }
  // One angle at the tolerance, and past it: cos = ½ + t.
  for (const double t : {0.099, 0.101}) {
    MatrixXd pair = MatrixXd::Zero(4, 2);
    pair(0, 0) = 1;
    pair(0, 1) = 0.5 + t;
    pair(1, 1) = std::sqrt(1 - pair(0, 1) * pair(0, 1));
    CHECK(nearest_roots(pair, 0.1).has_value() == (t < 0.1));
  }
  // Sixty degrees need four dimensions.
  for (const Eigen::Index dimensions : {3, 4}) {
    MatrixXd pair = MatrixXd::Zero(dimensions, 2);
    pair(0, 0) = 1;
    pair(0, 1) = 0.5;
    pair(1, 1) = std::sqrt(0.75);
    CHECK(nearest_roots(pair, 0.2).has_value() == (dimensions == 4));
  }
}

TEST_CASE("the nearest dyadic unit vector is of norm exactly 1, and in three dimensions the nearest of all") {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  for (const Eigen::Index dimensions : {1, 2, 3, 5, 16})
    for (int round = 0; round < 30; ++round) {
      VectorXd direction(dimensions);
      for (double& x : direction) x = normal(random);
      const VectorXd unit = nearest_dyadic_unit(direction);
      CAPTURE(direction);
      CHECK(unit.squaredNorm() == 1);
      CHECK((8 * unit).array().round().matrix() == 8 * unit);
      if (dimensions != 3) continue;
      double nearest = INFINITY;
      for (int a = -8; a <= 8; ++a)
        for (int b = -8; b <= 8; ++b)
          for (int c = -8; c <= 8; ++c)
            if (a * a + b * b + c * c == 64)
              nearest = std::min(nearest, (Eigen::Vector3d(a, b, c) / 8 - direction.normalized()).norm());
      CHECK((unit - direction.normalized()).norm() >= nearest - 1e-12);
    }
}
