#include "krohn/constructions/network/matrix.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "krohn/groups/error.h"

using namespace krohn;

TEST_CASE("turns: the exact values are exact, the others are right to an ulp or two") {
  for (const std::int64_t q : {1, 2, 3, 4, 6, 12, 24})
    for (std::int64_t p = -2 * q; p <= 2 * q; ++p) {
      const Turn turn{p, q};
      if (4 * p % q == 0 || (6 * p % q == 0 && 12 % q == 0)) {
        const long double twice = 2 * turn.cosine();
        const bool rational = std::abs(std::cos(2 * M_PI * double(p) / double(q)) * 2 -
                                       std::round(std::cos(2 * M_PI * double(p) / double(q)) * 2)) < 1e-9;
        if (rational) CHECK(twice == std::round(twice));
      }
    }
  for (std::int64_t q = 1; q <= 300; ++q)
    for (std::int64_t p = 0; p < q; p += 1 + q / 40) {
      const Turn turn{p, q};
      const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(p) / q;
      CHECK(std::abs(turn.cosine() - std::cos(angle)) < 1e-18L);
      CHECK(std::abs(turn.sine() - std::sin(angle)) < 1e-18L);
      CHECK(Turn{p - 3 * q, q}.cosine() == turn.cosine());
    }
  CHECK(Turn{-1, 4}.normalised() == Turn{3, 4});
  CHECK(Turn{10, 60}.normalised() == Turn{1, 6});
  CHECK(Turn{1, 6}.cosine() == 0.5L);
  CHECK(Turn{5, 12}.sine() == 0.5L);
  CHECK(Turn{1, 4}.cosine() == 0);
  CHECK_THROWS_AS((Turn{1, 0}.normalised()), InputError);
}

namespace {

Reflection key(std::vector<Reflection::Entry> entries, double beta) {
  Reflection reflection;
  reflection.entries = std::move(entries);
  reflection.beta = beta;
  return reflection;
}

Eigen::MatrixXd matrix(std::initializer_list<std::initializer_list<double>> rows) { return Eigen::MatrixXd(rows); }

}  // namespace

TEST_CASE("dense forms and reflection counts") {
  struct Fact {
    Matrix matrix;
    Eigen::MatrixXd dense;
    std::int64_t reflections;
  };
  const std::vector<Fact> facts{
      {MapMatrix{Transformation::from_images({1, 0})}, matrix({{0, 1}, {1, 0}}), 1},
      {MapMatrix{Transformation::from_images({1, 1})}, matrix({{0, 0}, {1, 1}}), -1},
      {SignedPermutationMatrix{Permutation::from_images({1, 0}), {1, -1}}, matrix({{0, -1}, {1, 0}}), 2},
      {SignedPermutationMatrix{Permutation::from_images({1, 0}), {-1, -1}}, matrix({{0, -1}, {-1, 0}}), 1},
      {ReflectionProduct{2, {key({{0, 1}, {1, -1}}, 1)}}, matrix({{0, 1}, {1, 0}}), 1},
      {ReflectionProduct{2, {key({{0, 1}}, 2), key({{0, 1}, {1, -1}}, 1)}}, matrix({{0, 1}, {-1, 0}}), 2},
      {RotationBlocks{{{false, {1, 4}}, {true, {1, 2}}}}, matrix({{0, -1, 0}, {1, 0, 0}, {0, 0, -1}}), 3},
      {DiagonalMatrix{{1, -1, 0.5}}, matrix({{1, 0, 0}, {0, -1, 0}, {0, 0, 0.5}}), 2},
      {DiagonalMatrix{{2}}, matrix({{2}}), -1},
      {ZeroMatrix{2}, matrix({{0, 0}, {0, 0}}), 2},
      {DenseMatrix{matrix({{0, 1}, {1, 0}})}, matrix({{0, 1}, {1, 0}}), 1},
      {DenseMatrix{matrix({{0, -1}, {1, 0}})}, matrix({{0, -1}, {1, 0}}), 2},
      {FactoredMatrix{2, {{0}, {1}}, {{1}, {0}}, {0, 1}}, matrix({{0, 1}, {1, 0}}), 1},
      {DenseMatrix{matrix({{1, 1}, {0, 1}})}, matrix({{1, 1}, {0, 1}}), -1},
      {BlockDiagonalMatrix{{matrix({{-1}}), matrix({{0, 1}, {1, 0}})}}, matrix({{-1, 0, 0}, {0, 0, 1}, {0, 1, 0}}), 2},
      {FactoredMatrix{2, {{0}, {1}}, {{0, 1}, {0}}, {0}}, matrix({{1, 1}, {0, 0}}), -1}};
  for (std::size_t i = 0; i < facts.size(); ++i) {
    CAPTURE(i);
    CAPTURE(form_name(facts[i].matrix));
    CHECK(to_dense(facts[i].matrix) == LongMatrix(facts[i].dense.cast<long double>()));
    CHECK(reflection_count(facts[i].matrix) == facts[i].reflections);
    CHECK(dimension(facts[i].matrix) == facts[i].dense.rows());
    CHECK_NOTHROW(validate(facts[i].matrix, dimension(facts[i].matrix), "here"));
    CHECK_THROWS_AS(validate(facts[i].matrix, dimension(facts[i].matrix) + 1, "here"), InputError);
  }
}

TEST_CASE("faults of matrices are named") {
  const double nan = std::nan("");
  const std::vector<Matrix> bad{SignedPermutationMatrix{Permutation::identity(2), {1}},
                                SignedPermutationMatrix{Permutation::identity(2), {1, 0}},
                                ReflectionProduct{2, {key({{0, 1}, {1, -1}}, 2)}},  // eigenvalue −3
                                ReflectionProduct{2, {key({{1, 1}, {0, -1}}, 1)}},
                                ReflectionProduct{2, {key({{2, 1}}, 1)}},
                                ReflectionProduct{2, {key({{0, 1}}, nan)}},
                                ReflectionProduct{1, {key({}, 2)}},
                                RotationBlocks{{{true, {1, 3}}, {true, {0, 1}}}},
                                RotationBlocks{{{false, {1, 0}}}},
                                DiagonalMatrix{{1, nan}},
                                DenseMatrix{Eigen::MatrixXd::Zero(2, 3)},
                                BlockDiagonalMatrix{{Eigen::MatrixXd::Constant(2, 2, nan)}},
                                FactoredMatrix{2, {{0}}, {}, {}},
                                FactoredMatrix{2, {{2}}, {{0}}, {0}},
                                FactoredMatrix{2, {{0}}, {{0}}, {1}}};
  for (std::size_t i = 0; i < bad.size(); ++i) {
    CAPTURE(i);
    CHECK_THROWS_AS(validate(bad[i], 2, "layer 1"), InputError);
  }
}
