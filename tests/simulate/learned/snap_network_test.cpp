// Snapping finds the representation that was learned, whatever its basis.

#include "krohn/simulate/learned/snap_network.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <random>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/build_rotation.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/learned/linear_systems.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/prove/certify.h"

using namespace krohn;

namespace {

/// The network in another basis, with a little noise in every entry: what training might leave.
Network disguised(Network network, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Layer& layer = network.layers[0];
  Eigen::MatrixXd basis(layer.dimension, layer.dimension);
  for (double& x : basis.reshaped()) x = normal(random);
  const Eigen::MatrixXd turn = orthonormal_basis(basis);
  for (Transition& transition : layer.transitions) {
    Eigen::MatrixXd a = turn * to_dense(transition.a).cast<double>() * turn.transpose();
    for (double& x : a.reshaped()) x += noise * normal(random);
    transition.a = DenseMatrix{a};
  }
  std::vector<Eigen::MatrixXd> codewords;
  for (std::size_t i = 0; i < codeword_count(layer); ++i) codewords.push_back(turn * codeword(layer, i));
  layer.decoder.codewords = codewords;
  layer.decoder.unit_copies = 0;
  layer.initial = turn * layer.initial;
  validate(network);
  return network;
}

const SnapChoice& choice(const SnapResult& result, const std::string& name) {
  for (const SnapChoice& row : result.choices)
    if (row.construction == name) return row;
  FAIL("no row " << name);
  return result.choices[0];
}

}  // namespace

TEST_CASE("the learned representation decides, and the snapped network is proved") {
  const Dfa five = load_language("name:Z5");
  const std::vector<AbelianStructure::Element> second{{2}};
  const Network learned = disguised(build_harmonics(five, second), 1e-4, 3);
  const StateCentres centres = state_centres(learned, five, Precision::kFp32);
  CHECK(centres.is_scaled);
  for (const LetterError& error : letter_errors(learned, five, centres)) {
    CHECK(error.distance < 0.02);
    CHECK(error.scale == doctest::Approx(1).epsilon(0.01));
  }
  const SnapResult snapped = snap_network(five, centres);
  CHECK(choice(snapped, "harmonics").explained > 0.99);
  CHECK(choice(snapped, "harmonics").state_numbers == 2);
  CHECK(choice(snapped, "rotation").explained < 0.1);  // harmonic 1 is another representation
  CHECK(choice(snapped, "permutation").explained > 0.99);
  const SnapChoice& taken = snapped.choices[snapped.chosen];
  CHECK(taken.is_exact);
  CertifyOptions options;
  CHECK(certify(snapped.network, options).is<Proved>());

  SnapOptions harmonics;
  harmonics.construction = "harmonics";
  const Network planes = snap_network(five, centres, harmonics).network;
  CertifyOptions few;
  few.arithmetic = Precision::kFp64;
  few.max_pairs = 10'000;
  CHECK(planes.provenance.note == "transition group Z_5, harmonics (2)");
  CHECK(certify(planes, few).is<ProvedUpTo>());
  harmonics.construction = "magic";
  CHECK_THROWS_AS(snap_network(five, centres, harmonics), InputError);
}

TEST_CASE("automata that are no groups snap to one-hot codes") {
  for (const char* language : {"regex:(a|b)*abb", "name:random:m=5,seed=1", "name:S3"}) {
    CAPTURE(language);
    const Dfa dfa = load_language(language);
    BuildOptions wishes;
    wishes.construction = "one-hot";
    const Network learned = disguised(build(dfa, wishes), 1e-5, 5);
    const SnapResult snapped = snap_network(dfa, state_centres(learned, dfa, Precision::kFp32));
    CHECK(snapped.choices[snapped.chosen].explained > 0.99);
    CHECK(certify(snapped.network, {}).is<Proved>());
  }
}

TEST_CASE("harmonics that do not tell states apart are refused") {
  const Dfa six = load_language("name:Z6");
  const std::vector<AbelianStructure::Element> second{{2}};
  CHECK_THROWS_WITH_AS(build_harmonics(six, second), doctest::Contains("apart"), InputError);
  const std::vector<AbelianStructure::Element> both{{2}, {3}};
  const Network network = build_harmonics(six, both);
  CHECK(network.layers[0].dimension == 3);
  CertifyOptions few;
  few.arithmetic = Precision::kFp64;
  few.max_pairs = 10'000;
  CHECK(certify(network, few).is<ProvedUpTo>());
}

TEST_CASE("a linear image explains a code; half of it half") {
  Eigen::MatrixXd code(2, 4);
  code << 1, -1, 0, 0, 0, 0, 1, -1;
  Eigen::MatrixXd map(3, 2);
  map << 1, 2, 3, 4, 5, 7;
  CHECK(explained_share(map * code, code) == doctest::Approx(1));
  CHECK(explained_share(code, code.topRows(1)) == doctest::Approx(0.5));
  CHECK(explained_share(Eigen::MatrixXd::Ones(2, 4), code) == 1);
}

TEST_CASE("eigenvalues, planes and nearest turns") {
  const Dfa six = load_language("name:Z6");
  const std::vector<AbelianStructure::Element> harmonics{{1}, {2}};
  const Spectrum found = spectrum(build_harmonics(six, harmonics));
  REQUIRE(found.planes.size() == 2);
  const Dfa& group = six;
  for (Letter letter = 0; letter < group.letters(); ++letter) {
    CHECK(found.letters[letter].spectral_radius == doctest::Approx(1));
    CHECK(found.letters[letter].orthogonality_defect < 1e-12);
    for (const Mode& mode : found.letters[letter].modes) {
      const Turn turn = nearest_exact_turn(group.letter_map(letter), mode.turn());
      CHECK(turn_distance(mode.turn(), double(turn.numerator) / double(turn.denominator)) < 1e-9);
    }
  }
  // A disguise changes no eigenvalue but by the noise.
  const Spectrum same = spectrum(disguised(build_harmonics(six, harmonics), 1e-6, 1));
  CHECK(same.blocks.size() == 1);
  for (Letter letter = 0; letter < group.letters(); ++letter)
    for (const Mode& mode : same.letters[letter].modes) CHECK(mode.modulus() == doctest::Approx(1).epsilon(1e-4));

  struct Fact {
    std::vector<Point> images;
    double turn;
    Turn nearest;
  };
  for (const auto& [images, turn, nearest] :
       {Fact{{1, 2, 3, 4, 0}, -0.39, {3, 5}}, Fact{{1, 2, 3, 4, 0}, 0.02, {0, 1}}, Fact{{1, 0, 2}, 0.49, {1, 2}},
        Fact{{0, 0, 0}, 0.3, {0, 1}}, Fact{{1, 0, 3, 4, 2}, -0.34, {2, 3}}}) {
    CAPTURE(turn);
    CHECK(nearest_exact_turn(Transformation::from_images(images), turn) == nearest);
  }
}
