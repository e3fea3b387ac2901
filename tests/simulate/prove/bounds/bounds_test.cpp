#include "krohn/simulate/prove/bounds/bounds.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"
#include "krohn/simulate/learned/linear_systems.h"
#include "krohn/simulate/prove/bounds/bounds_step.h"
#include "krohn/simulate/prove/certify_codewords.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/random_networks.h"
#include "tests/simulate/replayed_search.h"

using namespace krohn;
using namespace krohn::hand_built;
using random_networks::noise;
using random_networks::uniform;

namespace {

CertifyOptions in(ArithmeticName arithmetic, std::uint64_t max_pairs = 20'000'000) {
  CertifyOptions options;
  options.arithmetic = arithmetic;
  options.max_pairs = max_pairs;
  return options;
}

/// The first-order horizon of a rotation, MATH.md §5: what the bounds have to reach.
double first_order_horizon(std::uint32_t m, double unit_roundoff) {
  return std::log(1 + std::sin(std::numbers::pi / m)) / (3 * std::numbers::sqrt2 * unit_roundoff);
}

/// Length that a claim speaks of; proofs for all lengths are longer than every word.
std::uint64_t claimed_length(const Certificate& certificate) {
  return certificate.is<Proved>() ? UINT64_MAX : certificate.length();
}

/// A layer with one action of every structured form, all in four dimensions and two columns.
Layer layer_of_all_forms(std::mt19937_64& random) {
  Layer layer;
  layer.dimension = 4;
  layer.columns = 2;
  layer.initial = Eigen::MatrixXd::Zero(4, 2);
  ReflectionProduct reflections{4, {}};
  for (const auto& [i, j] : {std::pair{0, 1}, {1, 3}, {2, 3}})
    reflections.factors.push_back(std::get<ReflectionProduct>(swap_matrix(4, i, j, Swap::kUnit)).factors[0]);
  Reflection turned;
  turned.plane = 1;
  turned.angle = Turn{1, 7};
  turned.beta = 1.5;
  reflections.factors.push_back(turned);
  const Eigen::MatrixXd dense = noise(random, 4, 4, 1);
  std::vector<Matrix> forms{MapMatrix{Transformation::from_images({1, 1, 3, 1})},
                            SignedPermutationMatrix{Permutation::from_images({2, 0, 1, 3}), {1, -1, 1, -1}},
                            reflections,
                            RotationBlocks{{{false, Turn{1, 5}}, {true, Turn{1, 2}}, {true, Turn{}}}},
                            DiagonalMatrix{{0.3, -1, 0, 0.9}},
                            ZeroMatrix{4},
                            DenseMatrix{dense},
                            BlockDiagonalMatrix{{dense.topLeftCorner(3, 3), dense.bottomRightCorner(1, 1)}},
                            FactoredMatrix{4, {{0, 1}, {2}, {3, 1}}, {{0, 3}, {1, 2, 3}, {2}}, {0, 1, 2}}};
  for (Matrix& form : forms) {
    layer.transitions.push_back({form, {}});
    layer.transitions.push_back({std::move(form), noise(random, 4, 2, 1)});
  }
  return layer;
}

double distance_from(const Interval& interval, double number) {
  return std::max({0.0, interval.lower() - number, number - interval.upper()});
}

double norm_of(const StateNorms& norms, Label state, const Eigen::MatrixXd& x) {
  return (norms.factor(state, static_cast<std::size_t>(x.rows())) * x).norm();
}

/// What one letter makes of a radius, by the pieces.
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
        const Eigen::MatrixXd x = model->rounded(noise(random, 4, 2, size));
        const Eigen::MatrixXd c = x + noise(random, 4, 2, size * 0x1p-4);
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
        // And it is no idle bound: 4 dimensions, numbers below 4, at most 4 reflections.
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
  const std::vector<double> radii(8, 0.25);
  const Eigen::MatrixXd c = model->rounded(noise(random, 4, 2, 1));
  for (const Action action : {2U, 10U}) {  // the signed permutation and the zero matrix
    const RoundingBound bound = model->rounding(action, c, radii, 1);
    for (const double entry : bound.entries) CHECK(entry == 0);
    CHECK(bound.earlier == 0);
  }
  CHECK(model->norm(0) == doctest::Approx(std::sqrt(3)));
  CHECK(model->norm(2) == 1);
  CHECK(model->norm(10) == 0);
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
    const auto bound = certify_bounds(rotation(m, all_residues(m)), in(precision));
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
