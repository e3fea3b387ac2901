#include "krohn/groups/permutations/permutation.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <numeric>
#include <random>

#include "krohn/groups/error.h"
#include "krohn/groups/linear/decompositions.h"

using namespace krohn;

namespace {

std::vector<Permutation> random_permutations(unsigned seed, int count, Point degree) {
  std::mt19937 random(seed);
  std::vector<Permutation> result;
  for (int i = 0; i < count; ++i) {
    std::vector<Point> images(degree);
    std::iota(images.begin(), images.end(), Point{0});
    std::shuffle(images.begin(), images.end(), random);
    result.push_back(Permutation::from_images(images));
  }
  return result;
}

/// Independent of cycles: the rank of P − I.
Point codimension_of_fixed_space(const Permutation& p) {
  Eigen::MatrixXd m = -Eigen::MatrixXd::Identity(p.degree(), p.degree());
  for (Point point = 0; point < p.degree(); ++point) m(p[point], point) += 1;
  return static_cast<Point>(numerical_rank(m, 1e-9));
}

}  // namespace

TEST_CASE("cycles are read, multiplied left to right, and printed") {
  CHECK(to_string(parse_cycles("(1 2 3)(4 5)", 5)) == "(1 2 3)(4 5)");
  CHECK(to_string(parse_cycles("(3,1,2)", 4)) == "(1 2 3)");
  CHECK(parse_cycles("()", 3).is_identity());
  CHECK(to_string(parse_cycles("(1 2)(2 3)", 3)) == "(1 3 2)");  // 1→2→3, 2→1, 3→2
}

TEST_CASE("bad cycles are refused with the column") {
  for (const char* text : {"", "(1 2", "1 2", "(1 2 2)", "(6)", "(0 1)", "(1 x)", "(99999999999999999999)"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_cycles(text, 5), InputError);
  }
}

TEST_CASE("reflection length is the codimension of the fixed space") {
  for (const Permutation& p : random_permutations(7, 200, 9)) {
    CAPTURE(to_string(p));
    CHECK(p.reflection_length() == codimension_of_fixed_space(p));
  }
}

TEST_CASE("products act first f, then g; inverses and orders agree with repeated products") {
  const auto ps = random_permutations(11, 100, 8);
  for (std::size_t i = 0; i + 1 < ps.size(); ++i) {
    const Permutation product = ps[i] * ps[i + 1];
    for (Point q = 0; q < 8; ++q) CHECK(product[q] == ps[i + 1][ps[i][q]]);
    CHECK((ps[i] * ps[i].inverse()).is_identity());
    Permutation power = ps[i];
    std::uint64_t k = 1;
    for (; !power.is_identity(); ++k) power = power * ps[i];
    CHECK(k == ps[i].order());
  }
}

TEST_CASE("images that are no bijection are refused") {
  CHECK_THROWS_AS(Permutation::from_images({0, 0}), InputError);
  CHECK_THROWS_AS(Permutation::from_images({0, 2}), InputError);
  CHECK_THROWS_AS(Permutation::identity(3) * Permutation::identity(4), InputError);
}
