// A coordinate for every class of states: where there is one, how far off it may be, and what it then is.

#include "krohn/simulate/closing/state_code.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>
#include <vector>

#include "krohn/simulate/learned/linear_systems.h"

using namespace krohn;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Points at the corners of a regular polygon, which the letter turns by one; `copies` points at every corner.
LearnedCode polygon(Index corners, Index copies = 1) {
  const double angle = 2 * std::numbers::pi / static_cast<double>(corners);
  MatrixXd turn(2, 2);
  turn << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  LearnedCode code{MatrixXd(2, corners * copies), {turn}, {}};
  for (Index q = 0; q < corners * copies; ++q) {
    code.points.col(q) << std::cos(angle * static_cast<double>(q)), std::sin(angle * static_cast<double>(q));
    code.moves.push_back({q, 0, (q + 1) % (corners * copies)});
  }
  return code;
}

/// Points +1 and −1, which the letter takes to each other but for `lack`.
LearnedCode sign(double lack) {
  LearnedCode code{MatrixXd(1, 2), {MatrixXd::Constant(1, 1, -1 + lack)}, {{0, 0, 1}, {1, 0, 0}}};
  code.points << 1, -1;
  return code;
}

/// Logits that tell every number, and mean 0.
MatrixXd all_of(const LearnedCode& learned) {
  const Index numbers = learned.points.rows();
  MatrixXd reads(2 * numbers, numbers);
  reads << MatrixXd::Identity(numbers, numbers), -MatrixXd::Identity(numbers, numbers);
  return reads;
}

std::optional<StateCode> of_sign(double lack) { return state_code(sign(lack), all_of(sign(lack)), 2); }

void check_exact(const IntegerCode& code, const LearnedCode& learned) {
  for (const auto& [from, letter, to] : learned.moves)
    CHECK(code.letters[letter] * code.points.col(from) == code.points.col(to));
  for (const MatrixXd& letter : code.letters) {
    CHECK((letter.array() == 0 || letter.array() == 1).all());
    CHECK((letter.colwise().sum().array() == 1).all());
  }
}

}  // namespace

TEST_CASE("a turn by a fifth, which no integer matrix is, permutes five coordinates") {
  const LearnedCode learned = polygon(5);
  const auto code = state_code(learned, all_of(learned), 5);
  REQUIRE(code);
  CHECK(code->code.rank() == 5);
  CHECK(code->share < 1e-12);
  CHECK(code->code.basis.isApprox(learned.points, 1e-12));
  CHECK(code->code.points == MatrixXd::Identity(5, 5));
  check_exact(code->code, learned);
  CHECK(!state_code(learned, all_of(learned), 4));  // five is prime: a coarser congruence has one class
}

TEST_CASE("points in one place are one state of the block") {
  for (const Index copies : {2, 3}) {
    const LearnedCode learned = polygon(3, copies);
    for (const Index most : {3, 5, 40}) {
      const auto code = state_code(learned, all_of(learned), most);
      REQUIRE(code);
      CHECK(code->code.rank() == 3);
      for (Index q = 0; q < 3 * copies; ++q) CHECK(code->code.points(q % 3, q) == 1);
      check_exact(code->code, learned);
    }
    CHECK(!state_code(learned, all_of(learned), 2));
  }
  LearnedCode all_in_one = polygon(3);
  all_in_one.points.setOnes();
  CHECK(!state_code(all_in_one, all_of(all_in_one), 3));
}

TEST_CASE("a letter may be off by 0.35 of the distance to the next class, and by no more") {
  const auto nearly = of_sign(0.699);
  REQUIRE(nearly);
  CHECK(nearly->share == doctest::Approx(0.3495));
  CHECK(!of_sign(0.701));
  CHECK(of_sign(-0.699));
  CHECK(!of_sign(-0.701));
}

TEST_CASE("a point may be as far from its class") {
  // Two pairs at ±1, the letter swaps the pairs; a pair's points are `spread` from its mean, which the letter forgets:
  // that is seen once, the first number thirteen times, at 0 to 12 letters ahead.
  const double most = 0.35 * 2 * std::sqrt(13);
  for (const auto& [spread, is_found] : {std::pair{most - 0.01, true}, std::pair{most + 0.01, false}}) {
    LearnedCode learned{MatrixXd(2, 4), {MatrixXd(2, 2)}, {{0, 0, 2}, {1, 0, 2}, {2, 0, 0}, {3, 0, 1}}};
    learned.letters[0] << -1, 0, 0, 0;
    learned.points << 1, 1, -1, -1, spread, -spread, 0, 0;
    const auto code = state_code(learned, all_of(learned), 2);
    CHECK(code.has_value() == is_found);
    if (code) check_exact(code->code, learned);
  }
}

TEST_CASE("what no answer shows, now or later, is not looked at") {
  // A sign, and beside it a number that the letter changes at will: it is read by nobody, by answers alike, or later.
  LearnedCode learned{MatrixXd(2, 4), {MatrixXd(2, 2)}, {{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {3, 0, 0}}};
  learned.letters[0] << -1, 0, 0, -3;
  learned.points << 1, -1, 1, -1, 0.1, 5, -2, 7;
  MatrixXd reads(2, 2);
  reads << 1, 0, -1, 0;
  const auto code = state_code(learned, reads, 4);
  REQUIRE(code);
  CHECK(code->code.rank() == 2);
  check_exact(code->code, learned);
  reads.col(1).setConstant(4);  // of both answers
  CHECK(state_code(learned, reads, 4));
  reads << 1, 1, -1, 0;
  CHECK(!state_code(learned, reads, 4));
  reads << 1, 0, -1, 0;
  learned.letters[0](0, 1) = 1;  // into what is read
  CHECK(!state_code(learned, reads, 4));
  CHECK(!state_code(learned, MatrixXd::Zero(2, 2), 4));
}

TEST_CASE("a move that no point is known to make stays, and numbers that are none are refused") {
  LearnedCode learned = polygon(3);
  learned.moves.pop_back();
  learned.letters.push_back(MatrixXd::Identity(2, 2));  // of which nothing is known
  const auto code = state_code(learned, all_of(learned), 3);
  REQUIRE(code);
  CHECK(code->code.letters[1] == MatrixXd::Identity(3, 3));
  CHECK(code->code.letters[0].col(2) == VectorXd::Unit(3, 2));
  learned.points(0, 1) = std::nan("");
  CHECK(!state_code(learned, all_of(learned), 3));
  CHECK(!state_code({}, MatrixXd(2, 0), 3));
}

TEST_CASE("the classes that are too far off are merged, and no others") {
  // A at 0 and B beside it answer differently; two places of C lie far from them and from each other, and every letter
  // that leads there leads between the two.
  LearnedCode learned{MatrixXd(3, 4), {}, {}};
  learned.points << 0, 1, 0, 5, 0, 0, 12, 12, 1, 1, 1, 1;
  const std::vector<VectorXd> goals{learned.points.col(0), learned.points.col(1),
                                    (learned.points.col(2) + learned.points.col(3)) / 2};
  for (std::size_t letter = 0; letter < 3; ++letter) {
    learned.letters.push_back(MatrixXd::Zero(3, 3));
    learned.letters[letter].col(2) = goals[letter];
    for (Index q = 0; q < 4; ++q) learned.moves.push_back({q, letter, static_cast<Index>(letter)});
  }
  MatrixXd reads = MatrixXd::Zero(4, 3);
  reads.col(0) << 1, -1, 0, 0;
  reads.col(1) << 0, 0, 1, -1;
  const auto code = state_code(learned, reads, 4);
  REQUIRE(code);
  CHECK(code->code.rank() == 3);
  CHECK(code->code.points.col(2) == code->code.points.col(3));
  CHECK(code->share == doctest::Approx(2.5 / std::hypot(1.5, 12)));
  check_exact(code->code, learned);
}

TEST_CASE("no more than 4096 points are compared") {
  for (const auto& [copies, is_found] : {std::pair{Index{2048}, true}, std::pair{Index{2049}, false}}) {
    const LearnedCode learned = polygon(2, copies);
    CHECK(state_code(learned, all_of(learned), 8).has_value() == is_found);
  }
}

TEST_CASE("what does not fit together is refused") {
  LearnedCode learned = polygon(3);
  CHECK(state_code(learned, all_of(learned), 3));
  CHECK(!state_code(learned, all_of(learned), 1));
  CHECK(!state_code(learned, MatrixXd::Ones(2, 3), 3));
  learned.letters[0](0, 1) = std::nan("");
  CHECK(!state_code(learned, all_of(learned), 3));
  learned.letters[0] = MatrixXd::Identity(3, 3);
  CHECK(!state_code(learned, all_of(learned), 3));
}

namespace {

/// |S δ| by the definition: what δ makes of the logits behind every word of up to twelve letters.
double seen(const VectorXd& difference, const LearnedCode& learned, const MatrixXd& reads) {
  double sum = 0;
  std::vector<VectorXd> after{difference};
  for (int length = 0; length <= 12; ++length) {
    double squares = 0;
    std::vector<VectorXd> next;
    for (const VectorXd& d : after) {
      const VectorXd logits = reads * d;
      squares += (logits.array() - logits.mean()).square().sum();
      for (const MatrixXd& letter : learned.letters) next.push_back(letter * d);
    }
    sum += squares / static_cast<double>(after.size());
    after = std::move(next);
  }
  return std::sqrt(sum);
}

/// The greatest share of a code, from its points alone.
double share_of(const IntegerCode& code, const LearnedCode& learned, const MatrixXd& reads) {
  const MatrixXd means =
      learned.points * code.points.transpose() * code.points.rowwise().sum().cwiseInverse().asDiagonal();
  double worst = 0;
  const auto look = [&](const VectorXd& found, const VectorXd& own) {
    Index c = 0;
    own.maxCoeff(&c);
    double apart = INFINITY;
    for (Index other = 0; other < means.cols(); ++other)
      if (other != c) apart = std::min(apart, seen(means.col(other) - means.col(c), learned, reads));
    worst = std::max(worst, seen(found - means.col(c), learned, reads) / apart);
  };
  for (Index q = 0; q < learned.points.cols(); ++q) look(learned.points.col(q), code.points.col(q));
  for (const auto& [from, letter, to] : learned.moves)
    look(learned.letters[letter] * means * code.points.col(from), code.points.col(to));
  return worst;
}

}  // namespace

TEST_CASE("random codes: exact, as far off as is said, and all points apart wherever that fits") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  int found = 0, apart = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const Index points = 2 + static_cast<Index>(random() % 5), places = 1 + static_cast<Index>(random() % points);
    // Points of few places, nearly; one letter that maps places, by least squares, and one that forgets.
    LearnedCode learned{MatrixXd(3, points), {}, {}};
    MatrixXd place(3, places);
    for (double& x : place.reshaped()) x = normal(random);
    for (Index q = 0; q < points; ++q) learned.points.col(q) = place.col(q % places);
    for (double& x : learned.points.reshaped()) x += 0.1 * normal(random);
    MatrixXd images(3, places);
    for (Index p = 0; p < places; ++p) {
      const auto to = static_cast<Index>(random() % static_cast<unsigned>(places));
      images.col(p) = place.col(to);
      for (Index q = p; q < points; q += places) learned.moves.push_back({q, 0, to});
    }
    const MatrixXd gram = place.transpose() * place + 1e-9 * MatrixXd::Identity(places, places);
    learned.letters.push_back(images * solution(gram, place.transpose()));
    const MatrixXd reads = all_of(learned);
    const auto code = state_code(learned, reads, points);
    const IntegerCode own{learned.points, MatrixXd::Identity(points, points), {}, 0};
    if (share_of(own, learned, reads) < 0.35 - 1e-9) {
      ++apart;
      REQUIRE(code);
      CHECK(code->code.rank() == points);
    }
    if (!code) continue;
    ++found;
    CHECK(code->share <= 0.35);
    CHECK(code->share == doctest::Approx(share_of(code->code, learned, reads)).epsilon(1e-3));
    check_exact(code->code, learned);
  }
  CHECK(found > 1000);
  CHECK(apart > 500);
}
