#include <Eigen/Core>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/base/decompositions.h"
#include "krohn/simulate/closing/close_reflections.h"
#include "krohn/simulate/closing/integer_code.h"
#include "krohn/simulate/closing/proof_rounds.h"
#include "krohn/simulate/learned/initialise_model.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "tests/testing.h"

using namespace krohn;

// Roots whose reflections binary arithmetic computes exactly: counts, products and closure as root systems have them.

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::mt19937& random) {
  std::normal_distribution<double> normal;
  MatrixXd numbers(rows, columns);
  for (double& x : numbers.reshaped()) x = normal(random);
  return numbers;
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
    MatrixXd given = orthonormal_basis(random_matrix(8, 8, random)) * exact;
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

// Sizes of learned copies: what counts as one size and as two, copies that no lattice has, and which points say the
// same.

using Eigen::Index;
using Move = LearnedCode::Move;

namespace {

/// Z_2 × Z_2 on itself, and its four characters at sizes that are given by half: a column of ±s has norm 2s.
std::vector<GroupCopies::Copy> copies_of_four(double a, double b, double c, double d) {
  MatrixXd points(4, 4);
  points << a, a, a, a, b, b, -b, -b, c, -c, c, -c, d, -d, -d, d;
  std::vector<Move> moves;
  for (Index q = 0; q < 4; ++q) {
    moves.push_back({q, 0, q ^ 1});
    moves.push_back({q, 1, q ^ 2});
  }
  const auto found = group_copies(points, moves, 2);
  REQUIRE(found);
  CHECK((found->vectors.transpose() * found->vectors - MatrixXd::Identity(4, 4)).cwiseAbs().maxCoeff() < 1e-12);
  return found->copies;
}

}  // namespace

TEST_CASE("two sizes are one within a millionth of the greater, wherever they stand, and two past that") {
  for (const double size : {1.0, 0.1, 0.01})
    for (const double apart : {0.9e-6, 1.1e-6}) {
      CAPTURE(size);
      const auto copies = copies_of_four(2, size, size * (1 - apart), 0);
      REQUIRE(copies.size() == (apart < 1e-6 ? 3 : 4));
      CHECK(copies[1].count == (apart < 1e-6 ? 2 : 1));
      CHECK(copies[0].size == doctest::Approx(4));
      CHECK(copies[1].size == doctest::Approx(2 * size));
    }
  // Roundings move the squares of small ones: 1e-11 of the greatest is no difference.
  for (const double apart : {0.9e-11, 1.1e-11}) {
    const double square = 2.25e-6;
    CHECK(copies_of_four(1, std::sqrt(square), std::sqrt(square - apart), 0).size() == (apart < 1e-11 ? 3 : 4));
  }
}

TEST_CASE("a constant and one fifth of a turn are two copies, of which one has no lattice") {
  MatrixXd points(3, 5);
  std::vector<Move> moves;
  for (Index q = 0; q < 5; ++q) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(q) / 5;
    points.col(q) << 1, std::cos(angle), std::sin(angle);
    moves.push_back({q, 0, (q + 1) % 5});
  }
  const auto found = group_copies(points, moves, 1);
  REQUIRE(found);
  REQUIRE(found->copies.size() == 3);  // the third: the two fifths that are not there
  CHECK(found->copies[0].count == 1);
  CHECK(found->copies[0].size == doctest::Approx(std::sqrt(5)));
  CHECK(found->copies[1].count == 2);
  CHECK(found->copies[1].size == doctest::Approx(std::sqrt(2.5)));
  CHECK(found->copies[2].size < 1e-6);
}

TEST_CASE("a point that no letter leads to is like the first that all letters move alike, and others like none") {
  // 0 and 1 are swapped by letter 0 and stay by letter 1; 2 begins.
  const std::vector<Move> swap{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 1, 1}};
  struct Fact {
    Index by0, by1;
    std::uint32_t like;
  };
  for (const auto& [by0, by1, like] : {Fact{1, 0, 0}, Fact{0, 1, 1}, Fact{0, 0, kNoPoint}, Fact{1, 1, kNoPoint}}) {
    std::vector<Move> moves = swap;
    moves.push_back({2, 0, by0});
    moves.push_back({2, 1, by1});
    const PointMoves found = point_moves(moves, 2, 3);
    CHECK(found.like[0] == 0);
    CHECK(found.like[1] == 1);
    CHECK(found.like[2] == like);
    CHECK_FALSE(found.is_repeated(0));
    CHECK(found.is_repeated(2) == (like != kNoPoint));
    CHECK(group_copies(MatrixXd::Identity(3, 3), moves, 2).has_value() == (like != kNoPoint));
  }
  // A letter that is known of one of them alone is no likeness.
  std::vector<Move> fewer = swap;
  fewer.push_back({2, 0, 1});
  CHECK(point_moves(fewer, 2, 3).like[2] == kNoPoint);
}

// Integer bases of representations: found where there are some, in any basis and with noise, and nowhere else.

namespace {

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

// Training that ends in a proof: by family, to a model of the same architecture that brute force finds right; and what
// is not right, or cannot be exact, is not proved.

namespace {

TrainOptions steady(LengthRange lengths, double rate, std::uint64_t steps) {
  TrainOptions options{.lengths = lengths, .smoothing = 0.1, .stop_at = 0, .seed = 1000};
  options.optimiser.learning_rate = rate;
  options.optimiser.schedule = Schedule::kCosine;
  options.optimiser.steps = steps;
  options.optimiser.clip = 1;
  return options;
}

Network built(const char* language, const char* construction) {
  return build(named_language(language), BuildOptions{.construction = construction});
}

/// Every answer of a sample, by the kernels that train and measure models, which know nothing of the proof.
bool is_right(const SequenceModel<float>& model, const Task& task, std::uint64_t length, std::uint64_t words) {
  const ModelAccuracy at = evaluate_model(model, task, length, EvaluateModelOptions{.words = words, .threads = 1});
  return at.right == at.targets;
}

}  // namespace

TEST_CASE("trained models become proved models of the same architecture, right far past the lengths of training") {
  struct Fact {
    const char *task, *model;
    TrainOptions options;
  };
  for (const auto& [task_name, name, options] :
       {Fact{"parity", "bilinear:full,hidden=8,inputs=4,spread=0.05", steady({2, 10}, 3e-3, 1500)},
        Fact{"modadd3", "bilinear:full,hidden=12,inputs=8,spread=0.05", steady({2, 8}, 3e-3, 2000)},
        Fact{"parity", "bilinear:diagonal,hidden=8,inputs=4", steady({2, 10}, 1e-2, 1500)},
        Fact{"parity", "fan:blocks=1,size=8,norm=1.2", steady({2, 10}, 3e-3, 1500)},
        Fact{"parity", "deltaproduct:signed,plain,width=16,heads=1,mlp=0", steady({2, 24}, 1e-2, 1500)},
        Fact{"parity", "rnn:hidden=16,inputs=4", steady({1, 10}, 3e-3, 1500)},
        Fact{"modadd3", "rnn:hidden=32,inputs=8", steady({1, 10}, 3e-3, 2000)},
        Fact{"rsm:m=3,seed=1", "gru:hidden=32,inputs=8", steady({1, 10}, 3e-3, 2000)},
        Fact{"S3/swaps", "lstm:hidden=32,one-hot,unbiased", steady({1, 10}, 3e-3, 2000)}}) {
    CAPTURE(task_name);
    CAPTURE(name);
    const auto task = make_task(task_name);
    const CertifiedRun run = train_to_proof(*task, name, options);
    CAPTURE(run.rounds.why_not());
    REQUIRE(run.rounds.is_proved());
    const Closing& closing = run.rounds.last()->closing;
    CHECK(closing.model->name() == make_model<float>(name, *task, 0)->name());
    CHECK(closing.moved <= 0.75);
    CHECK(run.rounds.last()->certificate.pairs < 100);
    for (const std::uint64_t length : {1, 2, 3, 5, 1000}) CHECK(is_right(*closing.model, *task, length, 50));
  }
}

TEST_CASE("cells that are trained to contract are proved with the numbers that they were trained to") {
  for (const auto& [task_name, name] :
       {std::pair("parity", "rnn:hidden=16"), std::pair("regex:(a|b)*abb", "gru:layers=2,hidden=8"),
        std::pair("regex:(a|b)*abb", "lstm:hidden=16")}) {
    CAPTURE(task_name);
    CAPTURE(name);
    const auto task = make_task(task_name);
    TrainOptions options = steady({1, 20}, 1e-2, 1500);
    options.smoothing = 0;
    options.contract = 3;
    const CertifiedRun run = train_to_proof(*task, name, options);
    CAPTURE(run.rounds.why_not());
    REQUIRE(run.rounds.is_proved());
    const ProvedClosing& proved = *run.rounds.last();
    CHECK(proved.closing.kept == 0);
    CHECK_FALSE(proved.closing.moves_numbers());
    CHECK((proved.certificate.pairs > 100 || proved.certificate.method == "closed regions"));
    for (const std::uint64_t length : {1, 2, 3, 5, 1000}) CHECK(is_right(*proved.closing.model, *task, length, 50));
    CHECK(measured_contraction(*proved.closing.model, *task).after_24 < 1e-6);
  }
}

TEST_CASE("models whose scale is free are settled before they are rounded, at every validation, and keep no bias") {
  const auto task = make_task("modadd3");
  const char* const name = "bilinear:full,hidden=16,inputs=8,spread=0.3,scale-free";
  TrainOptions options = steady({2, 10}, 3e-3, 3000);
  const CertifiedRun run = train_to_proof(*task, name, options);
  CAPTURE(run.rounds.why_not());
  REQUIRE(run.rounds.is_proved());
  CHECK(run.record.steps < 3000);
  const SequenceModel<float>& proved = *run.rounds.last()->closing.model;
  CHECK(proved.begin_of("readout_bias") == proved.parameters().size());
  for (const std::uint64_t length : {1, 2, 3, 5, 1000}) CHECK(is_right(proved, *task, length, 50));

  // A read-out that tells nothing is trained on, without the bias that there is none of.
  const auto blank = make_model<float>(name, *task, 0);
  std::ranges::copy(proved.parameters(), blank->parameters().begin());
  std::fill(blank->parameters().begin() + static_cast<std::ptrdiff_t>(blank->begin_of("readout")),
            blank->parameters().end(), 0.0F);
  const ProvedClosing again = close_and_prove(*blank, *task, options);
  CAPTURE(again.why_not());
  CHECK(again.is_proved());
  CHECK(again.closing.readout_steps > 0);
}

TEST_CASE("where nothing rounds, a model whose scale is free may owe it to that") {
  const auto task = make_task("modadd3");
  for (const char* rest : {"", ",scale-free"}) {
    const auto model = make_model<float>(std::string("bilinear:full,hidden=6,inputs=4") + rest, *task, 1);
    const ProvedClosing none = close_and_prove(*model, *task, steady({2, 10}, 3e-3, 10));
    REQUIRE(none.closing.model == nullptr);
    CHECK(test::contains(none.why_not(), "leave out scale-free") == model->settles());
  }
}

TEST_CASE("cells that were trained on words of one letter have not learned a machine, and are not made one") {
  const auto task = make_task("rsm:m=3,seed=1");
  for (const char* name : {"rnn:hidden=32,inputs=8", "gru:hidden=32,inputs=8", "lstm:hidden=32,inputs=8"}) {
    const CertifiedRun run = train_to_proof(*task, name, steady({1, 1}, 3e-3, 500));
    CAPTURE(name);
    CAPTURE(run.rounds.why_not());
    CHECK(run.rounds.count() > 0);  // the validation, of words of one letter, is answered
    CHECK_FALSE(run.rounds.is_proved());
    CHECK(test::contains(run.rounds.why_not(), "what is not learned is not rounded"));
  }
}

TEST_CASE("blocks whose states depend on each other get a coordinate for each, and the model is proved") {
  const auto task = make_task("sum5");
  const CertifiedRun run = train_to_proof(*task, "fan:blocks=4,size=8,norm=1.2", steady({2, 20}, 3e-3, 4000));
  CAPTURE(run.rounds.why_not());
  REQUIRE(run.rounds.is_proved());
  const Closing& closing = run.rounds.last()->closing;
  CHECK(closing.by_states > 0);
  CHECK(closing.by_states <= closing.kept);
  CHECK(closing.share > 0);
  CHECK(closing.share <= 0.35);
  CHECK(test::contains(closing.what, "with one for every state that it tells apart"));
  for (const std::uint64_t length : {1, 2, 3, 5, 1000}) CHECK(is_right(*closing.model, *task, length, 50));
}

TEST_CASE("turns by fifths become five vertices that four reflections permute, and the model is proved") {
  TrainOptions options = steady({2, 16}, 1e-2, 1500);
  options.optimiser.warm_up = 100;
  options.validate_every = 500;
  const auto task = make_task("Z5");
  const CertifiedRun run = train_to_proof(
      *task, "deltaproduct:signed,plain,reflections=4,width=32,heads=16,keys=8,values=4,mlp=64", options);
  CAPTURE(run.rounds.why_not());
  REQUIRE(run.rounds.is_proved());
  const Closing& closing = run.rounds.last()->closing;
  CHECK(closing.kept == 1);
  CHECK(closing.by_states == 1);
  CHECK(closing.dropped == 15);
  CHECK(closing.share <= 0.35);
  CHECK(test::contains(closing.what, "simplex"));
  for (const std::uint64_t length : {1, 2, 3, 5, 1000}) CHECK(is_right(*closing.model, *task, length, 50));
}

TEST_CASE("a construction in other coordinates and with noise is rounded back, and proved without a step of training") {
  const auto task = make_task("S3");
  const Network network = built("S3", "permutation");
  for (const double noise : {0.0, 0.01}) {
    auto model = make_model<float>("bilinear:full,hidden=8,inputs=8", *task, 1);
    initialise_from(*model, network, *task);
    perturb(*model, noise, 3);
    const ProvedClosing closing = close_and_prove(*model, *task, TrainOptions{});
    CAPTURE(closing.why_not());
    CHECK(closing.is_proved());
  }
}

TEST_CASE("what is untrained, or a rotation by a third of a turn in floats, is not proved, and the reason is given") {
  struct Fact {
    const char *task, *model, *why;
  };
  for (const auto& [task_name, name, why] :
       {Fact{"parity", "bilinear:full,hidden=8,inputs=4", "integers"},
        Fact{"Z3", "deltaproduct:signed,plain,width=16,heads=1,mlp=0,conv=2", "convolution"},
        Fact{"Z3", "deltaproduct:signed,width=16,heads=1,mlp=0", "plain"},
        Fact{"Z3", "deltaproduct:signed,plain,width=16,heads=1,mlp=0,layers=2", "one layer"},
        Fact{"parity", "diagonal:signed,width=16", "linear recurrence"},
        Fact{"Z3", "deltaproduct:signed,plain,width=4,heads=1,mlp=0", "width"}}) {
    CAPTURE(name);
    const auto task = make_task(task_name);
    const ProvedClosing closing = close_and_prove(*make_model<float>(name, *task, 1), *task, TrainOptions{});
    CHECK_FALSE(closing.is_proved());
    CAPTURE(closing.why_not());
    CHECK(test::contains(closing.why_not(), why));
  }
  // A rotation that is exact in real numbers: the construction that only floats spoil.
  const auto task = make_task("modadd3");
  auto model = make_model<float>("bilinear:rotations,hidden=8,inputs=8", *task, 1);
  initialise_from(*model, built("Z3", "rotation"), *task);
  const ProvedClosing closing = close_and_prove(*model, *task, TrainOptions{});
  CHECK_FALSE(closing.is_proved());
  CHECK(test::contains(closing.why_not(), "rotates pairs"));
}

TEST_CASE("a round without a proof pulls letters half of the way, and without nearly right answers there is none") {
  const auto task = make_task("Z5");
  const Network network = built("Z5", "rotation");  // one fifth of a turn: nothing to round
  TrainOptions options = steady({2, 10}, 1e-30, 10);
  options.validate_every = 1;
  for (const bool is_right : {true, false}) {
    Trainer trainer(*task, "bilinear:full,hidden=2,inputs=8", options, [&](SequenceModel<float>& model) {
      initialise_from(model, network, *task);
      perturb(model, is_right ? 0.01 : 0.3, 1);
    });
    ProofRounds rounds;
    rounds.before_step(trainer, *task);
    CHECK(rounds.count() == 0);  // before any step
    trainer.step();
    const std::vector<float> before(trainer.model().parameters().begin(), trainer.model().parameters().end());
    const LearnedStates seen = learned_states(*trained_machine(trainer.model(), *task, Precision::kFp64), *task,
                                              tracked_automaton(*task, input_machine(*task).automaton));
    const std::vector<float> half = pulled_letters(trainer.model(), *task, seen, 0.5);
    REQUIRE(half != before);
    rounds.before_step(trainer, *task);
    CHECK(rounds.count() == (is_right ? 1 : 0));
    CHECK_FALSE(rounds.is_proved());
    CHECK(std::ranges::equal(trainer.model().parameters(), is_right ? half : before));
  }
}

TEST_CASE("a run without a proof goes on twice, each time for all its steps") {
  const CertifiedRun run =
      train_to_proof(*make_task("Z5"), "bilinear:rotations,hidden=2,inputs=2", steady({2, 4}, 1e-3, 7));
  CHECK_FALSE(run.rounds.is_proved());
  CHECK(run.record.steps == 3 * 7);
  CHECK(run.record.seed == 1000);
}

// The pull toward a finite monoid: letters come as much nearer as was asked for to moving the mean states as the
// automaton does, the rest of the model stays, and other families are left alone.

namespace {

using Word = std::vector<Letter>;

/// h after the special tokens and the word, by the letters' matrices alone.
std::vector<double> state_after(const LinearModel& view, const Word& word) {
  std::vector<double> state(view.initial.begin(), view.initial.end());
  for (const Letter letter : word) {
    std::vector<double> next(view.hidden, 0);
    for (std::size_t row = 0; row < view.hidden; ++row)
      for (std::size_t column = 0; column < view.hidden; ++column)
        next[row] += double{view.matrices[(letter * view.hidden + row) * view.block + column]} * state[column];
    state = next;
  }
  return state;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

LearnedStates seen_of(const SequenceModel<float>& model, const Task& task) {
  return learned_states(*trained_machine(model, task, Precision::kFp64), task,
                        tracked_automaton(task, input_machine(task).automaton));
}

/// The change that a whole step makes to every letter's matrix.
double greatest_pull(const SequenceModel<float>& model, const Task& task) {
  const std::vector<float> all = pulled_letters(model, task, seen_of(model, task), 1);
  REQUIRE(all.size() == model.parameters().size());
  double greatest = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    greatest = std::max(greatest, std::abs(double{all[i]} - double{model.parameters()[i]}));
  return greatest;
}

/// A model of one block whose letters and first state are these.
std::unique_ptr<SequenceModel<float>> made_of(const std::string& name, const Task& task,
                                              const std::vector<Eigen::MatrixXd>& letters,
                                              const Eigen::VectorXd& first) {
  auto model = make_model<float>(name, task, 1);
  LinearTarget target{letters, std::vector<Eigen::VectorXd>(letters.size(), Eigen::VectorXd::Zero(first.size())), first,
                      Eigen::MatrixXd::Ones(model->labels(), first.size()), Eigen::VectorXd::Zero(model->labels())};
  write_linear(*model, target);
  return model;
}

}  // namespace

TEST_CASE("a constant and one fifth of a turn have no lattice together, and the pull leaves them as they are") {
  const auto task = make_task("Z5");
  std::vector<Eigen::MatrixXd> letters;
  for (Letter letter = 0; letter < task->alphabet().size(); ++letter) {
    const double angle = 2 * std::numbers::pi * letter / 5;
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(3, 3);
    if (letter < 5)
      matrix.bottomRightCorner(2, 2) << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
    letters.push_back(matrix);
  }
  for (const double constant : {0.1, 1.0, 10.0}) {
    const auto model = made_of("bilinear:full,hidden=3,inputs=8", *task, letters, Eigen::Vector3d(constant, 1, 0));
    CHECK(greatest_pull(*model, *task) < 1e-5);
  }
}

TEST_CASE("constructions in full matrices, blocks and diagonals, with and without additions, are left as they are") {
  struct Fact {
    const char *task, *construction, *model;
  };
  for (const auto& [task_name, construction, name] :
       {Fact{"Z3", "permutation", "bilinear:full,hidden=3,inputs=8"},
        Fact{"Z3", "permutation", "bilinear:full,hidden=6,inputs=8,bias,input-bias"},
        Fact{"S3", "permutation", "bilinear:full,hidden=6,inputs=8"},
        Fact{"Z5", "rotation", "bilinear:block=2,hidden=2,inputs=8"},
        Fact{"Z5", "rotation", "bilinear:block=2,hidden=4,inputs=8,bias,input-bias"},
        Fact{"parity", "parity-scalar", "bilinear:diagonal,hidden=2,inputs=4"}}) {
    CAPTURE(task_name);
    CAPTURE(name);
    const auto task = make_task(task_name);
    auto model = make_model<float>(name, *task, 1);
    initialise_from(*model, built(task_name, construction), *task);
    CHECK(greatest_pull(*model, *task) < 1e-4);
  }
}

namespace {

/// The matrices of letters 0 and 1 after a whole pull, row after row, of a model of two numbers for parity in which
/// their last entries are `even` and `odd`, and which begins in (1, size). Its means are those of a model that is
/// exact.
std::vector<float> pulled_pair(double even, double odd, double size, double length) {
  const auto task = make_task("parity");
  std::vector<Eigen::MatrixXd> letters(task->alphabet().size(), Eigen::MatrixXd::Identity(2, 2));
  letters[0](1, 1) = even, letters[1](1, 1) = odd;
  const auto model = made_of("bilinear:full,hidden=2,inputs=8", *task, letters, Eigen::Vector2d(1, size));
  LearnedStates seen = seen_of(*model, *task);
  for (std::size_t i = 0; i < seen.wanted.size(); ++i)
    seen.means.col(static_cast<Eigen::Index>(i)) << length, (i == 0 || seen.wanted[i] == seen.wanted[2] ? size : -size);
  auto pulled = make_model<float>(model->name(), *task, 1);
  std::ranges::copy(pulled_letters(*model, *task, seen, 1), pulled->parameters().begin());
  const LinearModel view = *pulled->linear_view();
  return {view.matrices.begin(), view.matrices.begin() + 8};
}

}  // namespace

TEST_CASE("a part that is moved off by half its own length dies out, by a little less it is put right") {
  for (const double share : {0.49, 0.51}) {
    const std::vector<float> found = pulled_pair(1 - share, -1 + share, 1, 2);
    CHECK(found[7] == doctest::Approx(share < 0.5 ? -1 : 0).epsilon(1e-4));
    CHECK(found[3] == doctest::Approx(share < 0.5 ? 1 : 0).epsilon(1e-4));
    CHECK(found[4] == doctest::Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("a part of a thousandth of the greatest is noise and dies out, a hundredth more of it is put right") {
  for (const double size : {0.99e-3, 1.01e-3}) {
    const std::vector<float> found = pulled_pair(0.9, -0.9, size, 1);
    CHECK(found[7] == doctest::Approx(size > 1e-3 ? -1 : 0).epsilon(1e-4));
    CHECK(found[3] == doctest::Approx(size > 1e-3 ? 1 : 0).epsilon(1e-4));
    CHECK(found[0] == doctest::Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("a letter keeps what it does to a direction that it alone moves off by half its length") {
  for (const double share : {0.49, 0.51}) {
    const std::vector<float> found = pulled_pair(1, -1 + share, 1, 2);  // the part as a whole is off by this over √2
    CHECK(found[3] == doctest::Approx(1).epsilon(1e-4));
    CHECK(found[7] == doctest::Approx(share < 0.5 ? -1 : -1 + share).epsilon(1e-4));
  }
}

TEST_CASE("pulled letters of a disturbed counter have order 3 on its states, half of the way half as nearly") {
  const auto task = make_task("Z3");
  auto model = make_model<float>("bilinear:full,hidden=6,inputs=8", *task, 1);
  initialise_from(*model, built("Z3", "permutation"), *task);
  perturb(*model, 0.05, 3);
  // After three letters 1 the states are where three more, or many, leave them.
  const auto drift = [&](const SequenceModel<float>& of, int turns) {
    Word word;
    for (const TaskToken& token : task->sample(task->info().least_length, 1, 0))
      if (!token.target) word.push_back(token.letter);
    word.insert(word.end(), 3, 1);
    const LinearModel view = *of.linear_view();
    const std::vector<double> start = state_after(view, word);
    for (int i = 0; i < 3 * turns; ++i) word.push_back(1);
    return distance(state_after(view, word), start) / distance(start, std::vector<double>(start.size(), 0));
  };
  const double before = drift(*model, 1);
  REQUIRE(before > 0.01);
  const LearnedStates seen = seen_of(*model, *task);
  const std::vector<float> all = pulled_letters(*model, *task, seen, 1),
                           half = pulled_letters(*model, *task, seen, 0.5),
                           none = pulled_letters(*model, *task, seen, 0);
  CHECK(std::ranges::equal(none, model->parameters()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float now = model->parameters()[i];
    CHECK(half[i] == doctest::Approx((now + all[i]) / 2).epsilon(1e-4));
  }
  auto pulled = make_model<float>(model->name(), *task, 1);
  std::ranges::copy(all, pulled->parameters().begin());
  CHECK(drift(*pulled, 1) < 1e-5);
  CHECK(drift(*pulled, 100) < 1e-3);
  // The read-out, h_0 and the embedding are the model's own.
  const std::size_t first = model->begin_of("weights"), last = model->begin_of("initial");
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i < first || i >= last) CHECK(all[i] == model->parameters()[i]);
  CHECK_THROWS_AS(model->begin_of("weight"), InputError);
}

TEST_CASE("families whose matrices are not linear in the embedding are left alone") {
  const auto task = make_task("Z3");
  for (const char* name : {"bilinear:rotations,hidden=8,inputs=8", "bilinear:rank=4,hidden=4,inputs=8",
                           "fan:blocks=1,size=8", "deltaproduct:signed,plain,width=16,heads=1,mlp=0"})
    CHECK(pulled_letters(*make_model<float>(name, *task, 1), *task, LearnedStates{}, 0.5).empty());
}
