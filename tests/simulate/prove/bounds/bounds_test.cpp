#include <boost/multiprecision/cpp_int.hpp>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/interval.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/prove/bounds/bounds.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "tests/simulate/formed_networks.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/proving.h"
#include "tests/simulate/random_networks.h"
#include "tests/simulate/reference_evaluator.h"
#include "tests/simulate/replayed_search.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;

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
  const auto certificate = certify_bounds(network, in(arithmetic));
  return certificate && certificate->certificate.is<Proved>();
}

/// The plane turned by m-ths of a turn, at this distance from 0.
Network rotation_at(std::uint32_t m, double radius) {
  Network network = rotation(m, {1});
  network.layers[0].initial *= radius;
  for (Eigen::MatrixXd& codeword : network.layers[0].decoder.codewords) codeword *= radius;
  return network;
}

Network rotation_by_all(std::uint32_t m) { return rotation(m, all_residues(m)); }

Certificate claimed(const LinearHorizon& horizon, ArithmeticName arithmetic) {
  Certificate certificate{.claim = ProvedUpTo{horizon.length}, .arithmetic = arithmetic, .method = "linear horizon"};
  certificate.proof = horizon;
  return certificate;
}

/// Another program establishes the horizon, also out of its file, and neither `greater` nor with a wrong table.
void check_recheck(const LinearHorizon& horizon, ArithmeticName arithmetic, const Network& network,
                   std::uint64_t greater) {
  const auto is_established = [&](const LinearHorizon& other) {
    return recheck(claimed(other, arithmetic), network).established;
  };
  CHECK(is_established(horizon));
  const Certificate certificate = claimed(horizon, arithmetic);
  CHECK(parse_certificate(format_certificate(certificate, network), "text", network).proof == certificate.proof);
  LinearHorizon longer = horizon;
  longer.length = greater;
  CHECK_FALSE(is_established(longer));
  for (std::size_t move = 0; move < horizon.table.moves.size(); ++move) {
    LinearHorizon swapped = horizon;
    std::swap(swapped.table.next[move][0], swapped.table.next[move][1]);
    CHECK_FALSE(is_established(swapped));
  }
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
      const CertifyOptions options = in(Precision::kFp32);
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
  for (const auto& [exponent, claimed_there] :
       {std::pair{-299, true}, {-301, false}, {-540, false}, {298, true}, {300, false}, {520, false}, {0, true}}) {
    CAPTURE(exponent);
    const Network network = rotation_at(5, std::ldexp(1, exponent));
    const auto horizon = linear_horizon(network, Precision::kFp64, Form::kStructured);
    CHECK(horizon.has_value() == claimed_there);
    if (horizon) CHECK(recheck(claimed(*horizon, Precision::kFp64), network).established);
  }
}

TEST_CASE("next to overflow: what a linear horizon claims can be established, or fails no word that is tried") {
  std::uint64_t claims = 0, refusals = 0;
  for (const std::uint32_t m : {5U, 7U, 9U, 11U})
    for (const double radius : {16'000.0, 22'000.0, 23'100.0, 23'200.0, 32'760.0, 46'000.0, 60'000.0, 65'504.0}) {
      CAPTURE(m);
      CAPTURE(radius);
      const Network network = rotation_at(m, radius);
      const auto horizon = linear_horizon(network, Precision::kFp16, Form::kStructured);
      (horizon ? claims : refusals) += 1;
      if (!horizon) continue;
      const Certificate searched = certify_reachable_set(network, in(Precision::kFp16));
      CHECK((!searched.is<Refuted>() || searched.failing_word()->size() > horizon->length));
      CHECK(recheck(claimed(*horizon, Precision::kFp16), network).established);
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

/// True if ‖M‖ ≤ bound: all principal minors of bound² I − MᵀM are at least 0.
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

using random_networks::noise;
using random_networks::uniform;

namespace {

/// The first-order horizon of a rotation, MATH.md §5: what the bounds have to reach.
double first_order_horizon(std::uint32_t m, double unit_roundoff) {
  return std::log(1 + std::sin(std::numbers::pi / m)) / (3 * std::numbers::sqrt2 * unit_roundoff);
}

/// Length that a claim speaks of; proofs for all lengths are longer than every word.
std::uint64_t claimed_length(const Certificate& certificate) {
  return certificate.is<Proved>() ? UINT64_MAX : certificate.length();
}

/// A layer with one action of every structured form, with and without a B.
Layer layer_of_all_forms(std::mt19937_64& random) {
  Layer layer;
  layer.dimension = 5;
  layer.columns = 2;
  layer.initial = Eigen::MatrixXd::Zero(5, 2);
  for (const Matrix& form : formed_networks::one_of_each_form(random)) {
    layer.transitions.push_back({form, {}});
    layer.transitions.push_back({form, noise(random, 5, 2, 1)});
  }
  return layer;
}

double distance_from(const Interval& interval, double number) {
  return std::max({0.0, interval.lower() - number, number - interval.upper()});
}

double norm_of(const StateNorms& norms, Label state, const Eigen::MatrixXd& x) {
  return (norms.factor(state, static_cast<std::size_t>(x.rows())) * x).norm();
}

/// The radius after one letter, by the pieces.
double grown(const std::vector<GrowthPiece>& pieces, double radius) {
  for (const GrowthPiece& piece : pieces)
    if (radius <= piece.to) return piece.value + piece.slope * (radius - piece.from);
  return INFINITY;
}

/// States drawn from the balls around the centres are decoded, and stepped on, as the bound says.
void check_balls(const Network& network, const BoundCertificate& bound, ArithmeticName arithmetic,
                 std::mt19937_64& random) {
  const Layer& layer = network.layers[0];
  const CentreLayer& machine = bound.evidence.machine.layers[0];
  const LayerBound& proved = bound.evidence.layers[0];
  if (proved.pieces.empty()) return;
  const auto model = make_step_model(layer, arithmetic, Form::kStructured);
  const auto n = static_cast<Eigen::Index>(layer.dimension);
  for (int draw = 0; draw < 20; ++draw) {
    const CentreEdge& edge = machine.edges[random() % machine.edges.size()];
    Eigen::MatrixXd direction = noise(random, n, layer.columns, 1);
    direction *= proved.margin * uniform(random, 0, 1) / norm_of(proved.norms, edge.from, direction);
    const Eigen::MatrixXd x = model->rounded(proved.centres[edge.from] + direction);
    const double radius = norm_of(proved.norms, edge.from, x - proved.centres[edge.from]);
    if (radius > proved.margin * (1 - 1e-12)) continue;
    const Eigen::MatrixXd y = model->step(edge.action, x);
    const double reached = norm_of(proved.norms, edge.to, y - proved.centres[edge.to]);
    CHECK(reached <= grown(proved.pieces, radius * (1 + 1e-12)) * (1 + 1e-12));
    if (reached > proved.margin * (1 - 1e-12)) continue;
    const NearestCodeword book(layer, edge.book);
    CHECK(book.reference({y.data(), static_cast<std::size_t>(y.size())}) == machine.labels.shown[edge.to]);
  }
}

}  // namespace

TEST_CASE("one rounded step stays within its bound, for every form and arithmetic") {
  std::mt19937_64 random(12);
  const Layer layer = layer_of_all_forms(random);
  for (const ArithmeticName arithmetic : ArithmeticName::all()) {
    CAPTURE(to_string(arithmetic));
    const auto model = make_step_model(layer, arithmetic, Form::kStructured);
    REQUIRE(model);
    for (Action action = 0; action < model->actions(); ++action)
      for (int draw = 0; draw < 30; ++draw) {
        CAPTURE(action);
        CAPTURE(draw);
        const double size = std::ldexp(1.0, draw % 3 == 0 ? -12 : draw % 3 == 1 ? 0 : -60);
        const Eigen::MatrixXd x = model->rounded(noise(random, 5, 2, size));
        const Eigen::MatrixXd c = x + noise(random, 5, 2, size * 0x1p-4);
        std::vector<double> radii;
        for (Eigen::Index i = 0; i < x.size(); ++i) radii.push_back(std::fabs(x(i) - c(i)));
        const RoundingBound bound = model->rounding(action, c, radii, (x - c).norm() * (1 + 1e-12));
        const Eigen::MatrixXd y = model->step(action, x);
        const IntervalMatrix exact = model->exact_step(action, x);
        double moved = 0, allowed = 0;
        for (std::size_t i = 0; i < radii.size(); ++i) {
          const double error = distance_from(exact.data()[i], y(static_cast<Eigen::Index>(i)));
          if (bound.earlier == 0) CHECK(error <= bound.entries[i]);
          moved += error * error;
          allowed += bound.entries[i] * bound.entries[i];
        }
        CHECK(std::sqrt(moved) <= std::sqrt(allowed) + bound.earlier);
        // And it is no idle bound: 5 dimensions, numbers below 4, at most 2 reflections.
        const double unit = with_arithmetic(arithmetic, [](auto a) { return decltype(a)::unit_roundoff; });
        const double coarsest = arithmetic == ArithmeticName::tf32() ? 0x1p-11 : unit;
        CHECK(std::sqrt(allowed) + bound.earlier <= 200 * coarsest);
      }
  }
}

TEST_CASE("steps that round nothing have no error: gathers, signs and resets") {
  std::mt19937_64 random(3);
  const Layer layer = layer_of_all_forms(random);
  const auto model = make_step_model(layer, Precision::kBf16, Form::kStructured);
  const std::vector<double> radii(10, 0.25);
  const Eigen::MatrixXd c = model->rounded(noise(random, 5, 2, 1));
  for (const Action action : {2U, 12U}) {  // the signed permutation and the zero matrix
    const RoundingBound bound = model->rounding(action, c, radii, 1);
    for (const double entry : bound.entries) CHECK(entry == 0);
    CHECK(bound.earlier == 0);
  }
  CHECK(model->norm(0) == doctest::Approx(std::sqrt(3)));
  CHECK(model->norm(2) == 1);
  CHECK(model->norm(12) == 0);
}

TEST_CASE("weights that overflow are bounded by nothing") {
  Network network = one_hot(counter(3, {1}));
  network.layers[0].transitions[0].a = DenseMatrix{1e6 * Eigen::MatrixXd::Identity(3, 3)};
  const auto bound = certify_bounds(network, in(Precision::kFp16));
  if (bound) CHECK(claimed_length(bound->certificate) == 0);
  network.layers[0].initial *= 1e6;
  CHECK_FALSE(certify_bounds(network, in(Precision::kFp16)));
}

TEST_CASE("spectral norms of interval matrices are bounded from above, and closely") {
  std::mt19937_64 random(5);
  for (int draw = 0; draw < 40; ++draw) {
    const auto rows = static_cast<Eigen::Index>(1 + random() % 6),
               columns = static_cast<Eigen::Index>(1 + random() % 6);
    const Eigen::MatrixXd matrix = noise(random, rows, columns, 1);
    const double norm = singular_values(matrix)(0);
    const double bound = spectral_norm_bound(IntervalMatrix(matrix));
    CHECK(bound >= norm * (1 - 1e-15));
    CHECK(bound <= norm * (1 + 1e-13));
  }
}

TEST_CASE("rotations: horizons reach the first-order ones and stay below the shortest failing words") {
  struct Fact {
    Precision precision;
    std::uint32_t m;
    double unit_roundoff;
    std::uint64_t fails_at;  ///< found by exhaustive search; 0: not known
  };
  for (const auto& [precision, m, u, fails_at] :
       {Fact{Precision::kBf16, 5, 0x1p-8, 249}, Fact{Precision::kBf16, 10, 0x1p-8, 128},
        Fact{Precision::kBf16, 60, 0x1p-8, 19}, Fact{Precision::kFp16, 60, 0x1p-11, 141},
        Fact{Precision::kFp32, 60, 0x1p-24, 0}}) {
    CAPTURE(to_string(precision));
    CAPTURE(m);
    const auto bound = certify_bounds(rotation_by_all(m), in(precision));
    REQUIRE(bound);
    CHECK(bound->certificate.is<ProvedUpTo>());
    CHECK(bound->certificate.method == "horizon bound");
    CHECK(static_cast<double>(bound->certificate.length()) >= 1.5 * first_order_horizon(m, u));
    if (fails_at > 0) CHECK(bound->certificate.length() < fails_at);
  }
}

TEST_CASE("a search for bounds ends when its time is up") {
  CertifyOptions options = in(Precision::kFp32);
  options.max_seconds = 1e-9;
  CHECK_FALSE(certify_bounds(rotation(5, {1}), options).has_value());
  options.max_seconds = 1000;
  const auto bound = certify_bounds(rotation(5, {1}), options);
  REQUIRE(bound.has_value());
  CHECK(bound->certificate.length() == certify_bounds(rotation(5, {1}), in(Precision::kFp32))->certificate.length());
}

TEST_CASE("perturbed constructions: no claim reaches the shortest failing word") {
  std::mt19937_64 random(8);
  const Network plain = rotation(5, {1});
  int open = 0;
  for (int draw = 0; draw < 60; ++draw) {
    Network network = plain;
    for (Transition& transition : network.layers[0].transitions) {
      const Eigen::MatrixXd exact = to_dense(transition.a).cast<double>();
      transition.a = DenseMatrix{exact + noise(random, 2, 2, std::pow(10.0, uniform(random, -3, -1)))};
    }
    const ArithmeticName arithmetic = draw % 2 == 0 ? Precision::kBf16 : Precision::kFp16;
    const auto bound = certify_bounds(network, in(arithmetic));
    const Certificate searched = certify_reachable_set(network, in(arithmetic, 20'000));
    if (!bound || !searched.is<Refuted>()) continue;
    ++open;
    CAPTURE(draw);
    CHECK(claimed_length(bound->certificate) < searched.failing_word()->size());
  }
  CHECK(open > 30);
}

TEST_CASE("a contraction is proved for all lengths, and a Lyapunov norm where the Euclidean one does not contract") {
  // Two flip-flops in one plane: letters that shrink to a quarter and move to (±1, 0). In the skew coordinates (x + 8y,
  // y) the same steps have a Euclidean norm above 4.
  Dfa dfa = automaton(2, {0, 1, 0, 1});
  const auto flip_flop = [&](double skew) {
    Eigen::MatrixXd basis(2, 2);
    basis << 1, skew, 0, 1;
    Eigen::MatrixXd quarter(2, 2);
    quarter << 0.25, 0, 0, -0.25;
    const Eigen::MatrixXd a = basis * quarter * solution(basis, Eigen::MatrixXd::Identity(basis.rows(), basis.rows()));
    Eigen::MatrixXd right(2, 1);
    right << 1, 0;
    std::vector<Eigen::MatrixXd> codewords{basis * right, -(basis * right)};
    Network network = one_layer(dfa, codewords[0], {DenseMatrix{a}, DenseMatrix{a}}, codewords);
    for (int letter = 0; letter < 2; ++letter)
      network.layers[0].transitions[letter].b = (letter == 0 ? 1 : -1) * (basis * right);
    return network;
  };
  for (const double skew : {0.0, 8.0})
    for (const ArithmeticName arithmetic : ArithmeticName::all()) {
      CAPTURE(to_string(arithmetic));
      CAPTURE(skew);
      const auto bound = certify_bounds(flip_flop(skew), in(arithmetic));
      REQUIRE(bound);
      CHECK(bound->certificate.is<Proved>());
      CHECK(bound->certificate.method == "contraction bound");
      const StateNorms& norms = bound->evidence.layers[0].norms;
      CHECK(norms.factors.empty() == (skew == 0));
      CHECK_FALSE(certify_reachable_set(flip_flop(skew), in(arithmetic, 2'000)).is<Refuted>());
    }
}

TEST_CASE("two layers are bounded one on the labels of the other") {
  std::mt19937_64 random(9);
  for (int draw = 0; draw < 20; ++draw) {
    // Constructions that are not exact any more: every matrix dense, with noise.
    Network network = flip_flop_toggle();
    for (Layer& layer : network.layers)
      for (Transition& transition : layer.transitions)
        transition.a = DenseMatrix{to_dense(transition.a).cast<double>() + noise(random, 2, 2, 0.004)};
    const auto bound = certify_bounds(network, in(Precision::kBf16));
    REQUIRE(bound);
    REQUIRE(bound->evidence.layers.size() == 2);
    const Certificate searched = certify_reachable_set(network, in(Precision::kBf16, 20'000));
    CHECK(claimed_length(bound->certificate) >= 10);
    if (searched.is<Refuted>()) CHECK(claimed_length(bound->certificate) < searched.failing_word()->size());
  }
  for (const std::uint32_t m : {3, 5}) {
    const auto bound = certify_bounds(two_reflections(m), in(Precision::kBf16));
    REQUIRE(bound);
    CHECK(claimed_length(bound->certificate) >= 10);
    const Certificate searched = certify_reachable_set(two_reflections(m), in(Precision::kBf16));
    if (searched.is<Refuted>()) CHECK(claimed_length(bound->certificate) < searched.failing_word()->size());
  }
}

TEST_CASE("random networks: every claim is confirmed by exhaustive search") {
  // KROHN_RANDOM_NETWORKS=5000 test_simulate -s -tc='random networks*' prints how often each certificate wins.
  const char* wanted = std::getenv("KROHN_RANDOM_NETWORKS");
  const int draws = wanted ? std::atoi(wanted) : 240;
  std::mt19937_64 random(2026);
  struct Tally {
    int drawn = 0, closed = 0, contraction = 0, searched = 0, horizon = 0, refuted = 0, both = 0;
  };
  Tally tallies[random_networks::kKinds];
  for (int draw = 0; draw < draws; ++draw) {
    const auto kind = static_cast<random_networks::Kind>(draw % random_networks::kKinds);
    const Network network = random_networks::draw(random, kind);
    const auto arithmetics = ArithmeticName::all();
    const ArithmeticName arithmetic =
        arithmetics[static_cast<std::size_t>(draw / random_networks::kKinds) % arithmetics.size()];
    CAPTURE(draw);
    CAPTURE(random_networks::name_of(kind));
    CAPTURE(to_string(arithmetic));
    Tally& tally = tallies[static_cast<int>(kind)];
    ++tally.drawn;
    const auto bound = certify_bounds(network, in(arithmetic));
    const Certificate searched = certify_reachable_set(network, in(arithmetic, 3'000));
    const bool is_refuted = searched.is<Refuted>();
    const bool is_contraction = bound && bound->certificate.is<Proved>();
    tally.refuted += is_refuted;
    tally.closed += certify_closed_codewords(network, in(arithmetic)).has_value();
    tally.contraction += is_contraction;
    tally.searched += searched.is<Proved>();
    tally.both += is_contraction && searched.is<Proved>();
    tally.horizon += !is_refuted && !is_contraction && !searched.is<Proved>() && bound &&
                     bound->certificate.length() > searched.length();
    if (!bound) continue;
    if (is_refuted) REQUIRE(claimed_length(bound->certificate) < searched.failing_word()->size());
    check_balls(network, *bound, arithmetic, random);
    if (draw % 40 != 0) continue;
    // The search shares its evaluator with the prover's steps; this one shares nothing.
    const ReplayedSearch plain = replayed_search(network, arithmetic, Form::kStructured, 200);
    if (plain.failing_word) CHECK(claimed_length(bound->certificate) < plain.failing_word->size());
  }
  int proved = 0;
  for (int kind = 0; kind < random_networks::kKinds; ++kind) {
    const Tally& tally = tallies[kind];
    INFO(std::string(random_networks::name_of(static_cast<random_networks::Kind>(kind))), ": ", tally.drawn, " drawn, ",
         tally.refuted, " refuted, ", tally.closed, " closed codewords, ", tally.contraction, " contraction, ",
         tally.searched, " closed reachable set (3,000 pairs), ", tally.both, " both, ", tally.horizon,
         " with a horizon beyond the search");
    CHECK(tally.drawn > 0);
    proved += tally.contraction;
  }
  CHECK(proved > draws / 20);
}

// Linear horizons: claimed by one program, established by another in rational arithmetic, and never past a failing
// word.
TEST_CASE("horizons of rotations lie below the shortest failing word, and are established") {
  struct Fact {
    ArithmeticName arithmetic;
    std::uint32_t m;
    std::uint64_t least, failing;  ///< 0: not known
  };
  for (const Fact& fact : {Fact{Precision::kBf16, 5, 20, 249},
                           {Precision::kBf16, 10, 10, 128},
                           {Precision::kBf16, 60, 2, 19},
                           {Precision::kFp16, 60, 20, 141},
                           {ArithmeticName::fused(Precision::kBf16), 5, 20, 0},
                           {Precision::kFp32, 60, 200'000, 0},
                           {Precision::kFp64, 7, 1'000'000'000'000, 0}}) {
    CAPTURE(to_string(fact.arithmetic));
    CAPTURE(fact.m);
    const Network network = rotation_by_all(fact.m);
    const auto horizon = linear_horizon(network, fact.arithmetic, Form::kStructured);
    REQUIRE(horizon.has_value());
    CHECK(horizon->length >= fact.least);
    if (fact.failing > 0) CHECK(horizon->length < fact.failing);
    CertifyOptions options = in(fact.arithmetic, 1000);
    options.long_letters = 0;  // the length of the search is asked for
    CHECK(horizon->length <= std::max<std::uint64_t>(certify(network, options).length(), fact.failing));
    // Bounds of double's own rounding, computed in double, leave a margin that rational arithmetic does not need.
    const std::uint64_t length = horizon->length;
    check_recheck(*horizon, fact.arithmetic, network,
                  fact.arithmetic == ArithmeticName(Precision::kFp64) ? 10 * length : length + length / 50 + 2);
    // Forged: a length that the proof does not have, another arithmetic, a move twice, another start.
    Certificate certificate = claimed(*horizon, fact.arithmetic);
    certificate.claim = ProvedUpTo{certificate.length() + 1};
    CHECK_FALSE(recheck(certificate, network).established);
    CHECK_FALSE(recheck(claimed(*horizon, ArithmeticName::accumulated_in_fp32(Precision::kBf16)), network).established);
    LinearHorizon twice = *horizon;
    twice.table.moves.push_back(twice.table.moves[0]);
    twice.table.next.push_back(twice.table.next[0]);
    CHECK_FALSE(recheck(claimed(twice, fact.arithmetic), network).established);
    LinearHorizon other_start = *horizon;
    std::swap(other_start.table.codewords[0], other_start.table.codewords[1]);
    CHECK_FALSE(recheck(claimed(other_start, fact.arithmetic), network).established);
  }
}

TEST_CASE("a lower precision's horizon is not established by a higher one's certificate") {
  const Network network = rotation_by_all(60);
  const auto horizon = linear_horizon(network, Precision::kFp32, Form::kStructured);
  REQUIRE(horizon.has_value());
  CHECK_FALSE(recheck(claimed(*horizon, Precision::kFp16), network).established);
  CHECK_FALSE(recheck(claimed(*horizon, Precision::kBf16), network).established);
  CHECK(recheck(claimed(*horizon, Precision::kFp64), network).established);
}

TEST_CASE("wrong weights shorten the horizon to what exhaustive search allows") {
  // One letter's angle is off by a fiftieth of a turn's step; the other letters are right.
  Network network = rotation_by_all(5);
  for (const double off : {0.01, 0.05, 0.2}) {
    CAPTURE(off);
    Eigen::MatrixXd a(2, 2);
    const double angle = 2 * 3.14159265358979323846 * (1 + off) / 5;
    a << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
    network.layers[0].transitions[1].a = DenseMatrix{a};
    const Certificate searched = certify_reachable_set(network, in(Precision::kFp32));
    REQUIRE(searched.is<Refuted>());
    const auto horizon = linear_horizon(network, Precision::kFp32, Form::kStructured);
    if (!horizon) continue;
    CHECK(horizon->length < searched.failing_word()->size());
    CHECK(recheck(claimed(*horizon, Precision::kFp32), network).established);
  }
}

TEST_CASE("reflections by normalised keys, the paper's, hold up to a horizon below their shortest failing word") {
  struct Fact {
    const char* language;
    ArithmeticName arithmetic;
    std::uint64_t least;
  };
  LanguageOptions swaps{.generators = "transpositions"};
  for (const Fact& fact : {Fact{"S3", Precision::kBf16, 2},
                           {"S3", Precision::kFp16, 20},
                           {"S5", Precision::kFp32, 100'000},
                           {"S4", ArithmeticName::fused(Precision::kFp32), 100'000},
                           {"S4", Precision::kFp64, 10'000'000'000'000}}) {
    CAPTURE(fact.language);
    CAPTURE(to_string(fact.arithmetic));
    const Network network = build_permutation_base(named_language(fact.language, swaps), {.keys = KeyStyle::kUnit});
    const auto horizon = linear_horizon(network, fact.arithmetic, Form::kStructured);
    REQUIRE(horizon.has_value());
    CHECK(horizon->length >= fact.least);
    const Certificate searched = certify_reachable_set(network, in(fact.arithmetic, 3000));
    CHECK((!searched.is<Refuted>() || horizon->length < searched.failing_word()->size()));
    check_recheck(*horizon, fact.arithmetic, network, 10 * horizon->length);
    Network weaker = network;  // which half-projects where it should reflect
    for (Transition& transition : weaker.layers[0].transitions)
      if (auto* product = std::get_if<ReflectionProduct>(&transition.a))
        for (Reflection& factor : product->factors) factor.beta /= 2;
    CHECK_FALSE(recheck(claimed(*horizon, fact.arithmetic), weaker).established);
  }
}

TEST_CASE("what is neither a sum of products nor reflections, or rounds to several formats, has no linear horizon") {
  CHECK_FALSE(linear_horizon(rotation_by_all(5), ArithmeticName::tf32(), Form::kStructured).has_value());
  CHECK(linear_horizon(rotation_by_all(5), Precision::kFp32, Form::kDense).has_value());
}
