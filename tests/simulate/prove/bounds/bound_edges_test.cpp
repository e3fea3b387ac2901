// The inequalities of the bounds, the linear horizon and the certificate of networks that snap (MATH.md §5), each with
// networks on both sides of it. Whether a network is right is decided by plain arithmetic on the one number that
// matters, or by reading the word in question.
//
//   margin      the decoder's fp64 finds the nearest codeword strictly nearer             `a reset beside the middle`
//               no squared distance overflows, with one codeword too                      `one codeword far away`
//   contraction start ≤ e, L e + ε ≤ e, e ≤ margin                                        `a fixed point at the margin`
//   snapping    max(‖H_0 − c‖, ‖codeword − c‖) (1 + growth) + ε Σ ≤ margin                `blocks of every length`
//   horizon     2^−300 < distance of codewords < 2^300                                    `scales`
//               no sum reaches the format's greatest number                               `next to overflow`
//   norm        ‖M‖² ≤ λ_max(VᵀMᵀMV)/λ_min(VᵀV)                                           `spectral norms`
#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

#include "krohn/simulate/arithmetic/interval_matrix.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/bounds/bounds.h"
#include "krohn/simulate/prove/bounds/linear_horizon.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/certify_snapped.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"
#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

Eigen::MatrixXd number(double value) { return Eigen::MatrixXd::Constant(1, 1, value); }

/// H ← a H + b for each letter, one number, codewords for two labels; every word leads to state 0.
Network line(double initial, const std::vector<std::pair<double, double>>& letters, std::vector<double> codewords) {
  std::vector<Matrix> actions;
  std::vector<Eigen::MatrixXd> points;
  for (const auto& [a, b] : letters) actions.push_back(DiagonalMatrix{{a}});
  for (const double codeword : codewords) points.push_back(number(codeword));
  Dfa dfa = automaton(static_cast<Letter>(letters.size()), std::vector<State>(letters.size() * codewords.size(), 0));
  Network network = one_layer(std::move(dfa), number(initial), std::move(actions), std::move(points));
  for (std::size_t i = 0; i < letters.size(); ++i) network.layers[0].transitions[i].b = number(letters[i].second);
  return network;
}

bool bounds_prove(const Network& network, ArithmeticName arithmetic = Precision::kFp64) {
  CertifyOptions options;
  options.arithmetic = arithmetic;
  const auto certificate = certify_bounds(network, options);
  return certificate && certificate->certificate.is<Proved>();
}

}  // namespace

TEST_CASE("a reset beside the middle of two codewords: proved only where the decoder can tell") {
  std::uint64_t proved = 0;
  for (const double middle : {1.0, 0x1p-200, 0x1p200, 3.0, 1e5}) {
    for (int place = -60; place <= 60; ++place) {
      double value = middle;
      for (int i = 0; i < std::abs(place); ++i) value = std::nextafter(value, place < 0 ? -HUGE_VAL : HUGE_VAL);
      const double near = value * value, far = (value - 2 * middle) * (value - 2 * middle);
      const bool claim = bounds_prove(line(0, {{0, value}}, {0, 2 * middle}));
      if (claim) CHECK(near < far);
      proved += claim;
    }
    CHECK(bounds_prove(line(0, {{0, middle * (1 - 0x1p-40)}}, {0, 2 * middle})));
    CHECK_FALSE(bounds_prove(line(0, {{0, middle}}, {0, 2 * middle})));
  }
  CHECK(proved > 20);
}

TEST_CASE("one codeword far away: nothing is proved of a state whose squared distance overflows") {
  for (const double scale : {1.0, 1e100, 0x1p500})
    CHECK(bounds_prove(line(scale, {{0, 1.5 * scale}, {0.5, scale}}, {0})));
  for (const double scale : {0x1p510, 1e154}) CHECK_FALSE(bounds_prove(line(scale, {{0, 1.5 * scale}}, {0})));
  // With two codewords the bounds themselves overflow: nothing is claimed, and nothing thrown.
  CHECK(bounds_prove(line(1e149, {{0, 1e149}}, {0, 1e150})));
  for (const double scale : {1e155, 1e200, 1e300})
    CHECK_FALSE(bounds_prove(line(scale / 10, {{0, scale / 10}}, {0, scale})));
  const Network wrong = line(1e154, {{0, 1.5e154}}, {0});
  CHECK(reference_evaluator(wrong, Precision::kFp64)->step(0) == std::nullopt);
}

TEST_CASE("a fixed point at the margin: contraction is proved up to it and not from it on") {
  // H ← H/2 ± b tends to 2b, and the decoder's half-way line is 1.
  for (const ArithmeticName arithmetic :
       {ArithmeticName(Precision::kFp64), ArithmeticName(Precision::kFp32), ArithmeticName(Precision::kBf16),
        ArithmeticName::tf32(), ArithmeticName::fused(Precision::kFp16)}) {
    CAPTURE(to_string(arithmetic));
    std::uint64_t proved = 0;
    for (int eighths = -40; eighths <= 8; ++eighths) {
      const double b = 0.5 * (1 + eighths * 0x1p-8);
      const Network network = line(0, {{0.5, b}, {0.5, -b}}, {0, 2});
      const bool claim = bounds_prove(network, arithmetic);
      proved += claim;
      if (!claim) continue;
      const auto evaluator = reference_evaluator(network, arithmetic);
      for (int t = 0; t < 300; ++t) REQUIRE(evaluator->step(0) == State{0});
    }
    CHECK(proved > 0);
    CHECK_FALSE(bounds_prove(line(0, {{0.5, 0.5}, {0.5, -0.5}}, {0, 2}), arithmetic));
  }
  CHECK(bounds_prove(line(0, {{0.5, 0.5 * (1 - 0x1p-30)}, {0.5, -0.25}}, {0, 2})));
  CHECK_FALSE(bounds_prove(line(0, {{0.5, 0.5 * (1 + 0x1p-50)}, {0.5, -0.25}}, {0, 2})));
}

TEST_CASE("blocks of every length, from H_0 at every distance: snapping is proved when the farther start lasts") {
  // H ← H + 1/16, from j/16 at first and from the codeword 0 after every snap; half-way is 16/16.
  constexpr int kHalfWay = 16;
  for (int j = -15; j <= 15; ++j)
    for (std::uint64_t every = 1; every <= 17; ++every) {
      CAPTURE(j);
      CAPTURE(every);
      Network network = line(j / 16.0, {{1, 1 / 16.0}}, {0, 2});
      network.snap_every = every;
      const int reached = std::max(j, 0) + static_cast<int>(every);
      CertifyOptions options;
      options.arithmetic = Precision::kFp32;
      const bool claim = certify_snapped(network, options).has_value();
      if (reached >= kHalfWay) CHECK_FALSE(claim);
      // An H_0 farther from its codeword than that is given a centre of its own, which no later block starts at.
      if (std::abs(j) <= 10 && std::abs(j) + static_cast<int>(every) < kHalfWay) CHECK(claim);
      const auto evaluator = reference_evaluator(network, Precision::kFp32);
      bool right = true;
      for (int t = 0; t < 60; ++t) right = right && evaluator->step(0) == State{0};
      CHECK(right == (reached < kHalfWay));
      CHECK((certify(network, options).is<Proved>()) == right);
    }
}

TEST_CASE("scales: a linear horizon is claimed where the decoder's squares are far from the ends of fp64") {
  for (const auto& [exponent, claimed] :
       {std::pair{-299, true}, {-301, false}, {-540, false}, {298, true}, {300, false}, {520, false}, {0, true}}) {
    CAPTURE(exponent);
    Network network = rotation(5, {1});
    const double scale = std::ldexp(1, exponent);
    network.layers[0].initial *= scale;
    for (Eigen::MatrixXd& codeword : network.layers[0].decoder.codewords) codeword *= scale;
    const auto horizon = linear_horizon(network, Precision::kFp64, Form::kStructured);
    CHECK(horizon.has_value() == claimed);
    if (!horizon) continue;
    Certificate certificate;
    certificate.claim = ProvedUpTo{horizon->length};
    certificate.arithmetic = Precision::kFp64;
    certificate.proof = *horizon;
    CHECK(recheck(certificate, network).established);
  }
}

TEST_CASE("next to overflow: what a linear horizon claims can be established, or fails no word that is tried") {
  std::uint64_t claims = 0, refusals = 0;
  for (const std::uint32_t m : {5U, 7U, 9U, 11U})
    for (const double radius : {16'000.0, 22'000.0, 23'100.0, 23'200.0, 32'760.0, 46'000.0, 60'000.0, 65'504.0}) {
      CAPTURE(m);
      CAPTURE(radius);
      Network network = rotation(m, {1});
      network.layers[0].initial *= radius;
      for (Eigen::MatrixXd& codeword : network.layers[0].decoder.codewords) codeword *= radius;
      const auto horizon = linear_horizon(network, Precision::kFp16, Form::kStructured);
      (horizon ? claims : refusals) += 1;
      if (!horizon) continue;
      CertifyOptions options;
      options.arithmetic = Precision::kFp16;
      const Certificate searched = certify_reachable_set(network, options);
      CHECK((!searched.is<Refuted>() || searched.failing_word()->size() > horizon->length));
      Certificate certificate;
      certificate.claim = ProvedUpTo{horizon->length};
      certificate.arithmetic = Precision::kFp16;
      certificate.proof = *horizon;
      CHECK(recheck(certificate, network).established);
    }
  CHECK(claims > 4);
  CHECK(refusals > 4);
}

namespace {

using Rational = boost::multiprecision::cpp_rational;
using Rows = std::vector<std::vector<Rational>>;

Rational determinant(Rows m) {
  Rational product = 1;
  for (std::size_t k = 0; k < m.size(); ++k) {
    std::size_t pivot = k;
    while (pivot < m.size() && m[pivot][k] == 0) ++pivot;
    if (pivot == m.size()) return 0;
    if (pivot != k) product = -product;
    std::swap(m[pivot], m[k]);
    product *= m[k][k];
    for (std::size_t i = k + 1; i < m.size(); ++i) {
      const Rational factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j < m.size(); ++j) m[i][j] -= factor * m[k][j];
    }
  }
  return product;
}

/// Whether ‖M‖ ≤ bound: all principal minors of bound² I − MᵀM are at least 0.
bool is_norm_bound(const Eigen::MatrixXd& m, double bound) {
  const auto n = static_cast<std::size_t>(m.cols());
  for (unsigned set = 1; set < 1U << n; ++set) {
    std::vector<Eigen::Index> in;
    for (unsigned i = 0; i < n; ++i)
      if ((set >> i & 1U) != 0) in.push_back(i);
    Rows minor;
    for (const Eigen::Index i : in) {
      minor.emplace_back();
      for (const Eigen::Index j : in) {
        Rational entry = i == j ? Rational(bound) * Rational(bound) : Rational(0);
        for (Eigen::Index k = 0; k < m.rows(); ++k) entry -= Rational(m(k, i)) * Rational(m(k, j));
        minor.back().push_back(entry);
      }
    }
    if (determinant(minor) < 0) return false;
  }
  return true;
}

/// All square matrices with entries from `values` times `scale`.
void check_norms(Eigen::Index n, const std::vector<double>& values, double scale) {
  std::vector<std::size_t> digits(static_cast<std::size_t>(n * n), 0);
  for (;;) {
    Eigen::MatrixXd m(n, n);
    for (Eigen::Index i = 0; i < n * n; ++i) m(i) = values[digits[static_cast<std::size_t>(i)]] * scale;
    const double bound = spectral_norm_bound(IntervalMatrix(m));
    REQUIRE(is_norm_bound(m, bound));
    if (bound > 0) REQUIRE_FALSE(is_norm_bound(m, bound * (1 - 1e-12)));
    std::size_t at = 0;
    while (at < digits.size() && ++digits[at] == values.size()) digits[at++] = 0;
    if (at == digits.size()) return;
  }
}

}  // namespace

TEST_CASE("spectral norms of all small matrices are bounded from above, and nearly met") {
  check_norms(1, {-3, -0.1, 0, 0.7, 1}, 1);
  check_norms(2, {-1, -0.1, 0, 1, 3}, 1);
  check_norms(2, {-1, 0, 1e-9, 1}, 0x1p-100);
  check_norms(3, {-1, 0, 1}, 1);
}
