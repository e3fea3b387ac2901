#include <Eigen/Core>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/learned/snap_network.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/released_model.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trainer.h"
#include "tests/automata/random_automata.h"
#include "tests/simulate/plain_model.h"
#include "tests/simulate/proving.h"
#include "tests/testing.h"

using namespace krohn;

// Verdicts about a trained model hold of its own read-out: states that grow, ties, and margins along a word.

namespace {

/// Sets numbers of a part of the model.
void set(SequenceModel<float>& model, const std::string& part, const std::vector<float>& values) {
  TensorFile file = model.tensors();
  Tensor& tensor = file.tensors.at(part);
  REQUIRE(tensor.bytes.size() == values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  model.load(file);
}

std::unique_ptr<SequenceModel<float>> model_of(const Task& task, const char* name,
                                               const std::vector<std::pair<std::string, std::vector<float>>>& values) {
  auto model = make_model<float>(name, task, 1);
  for (const auto& [part, numbers] : values) set(*model, part, numbers);
  return model;
}

/// Parity whose state is ±`growth`^t after t letters, + for even words, with `bias` for odd ones.
std::unique_ptr<SequenceModel<float>> growing(const Task& task, float growth, float bias = 0) {
  const Dfa automaton = input_machine(task).automaton;
  const Output even = automaton.output(automaton.initial());
  std::vector<float> readout(2, -1), biases(2, bias);
  readout[even] = 1, biases[even] = 0;
  return model_of(task, "bilinear:diagonal,hidden=1,inputs=2",
                  {{"embedding", {1, 0, 0, 1}},
                   {"weights", {growth, -growth}},
                   {"initial", {1}},
                   {"readout", readout},
                   {"readout_bias", biases}});
}

bool network_is_right(const Network& network, const Word& word) {
  const auto evaluator = make_evaluator(network, ArithmeticName::parse("fp32"));
  State state = network.automaton.initial();
  evaluator->reset();
  bool is_right = true;
  for (const Letter letter : word) {
    state = network.automaton.next(state, letter);
    is_right = evaluator->step(letter) == state;
  }
  return is_right;
}

}  // namespace

TEST_CASE("a state that doubles is read rightly until it overflows, not until nearest codewords tie") {
  const auto task = make_task("parity");
  const auto model = growing(*task, 2);
  const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
  // 2^127 is the last power of two of fp32, 2^1023 of fp64. Two memories a letter: the search of pairs reads them all.
  struct Fact {
    Precision precision;
    std::size_t wrong;
  };
  for (const auto& [precision, wrong] : {Fact{Precision::kFp32, 128}, Fact{Precision::kFp64, 1024}}) {
    const auto reader = trained_machine(*model, *task, precision);
    const Certificate certificate = ask_reader(*reader, tracked, precision);
    CHECK(certificate.is<Refuted>());
    CHECK(certificate.is_shortest());
    CHECK(certificate.failing_word()->size() == wrong);
  }
  // The same recurrence with nearest codewords: (2^53 − 1)² < (2^53 + 1)² in fp64, (2^54 − 1)² = (2^54 + 1)².
  const Network network = network_of(*model, *task);
  CHECK(network_is_right(network, Word(53, 0)));
  CHECK_FALSE(network_is_right(network, Word(54, 0)));
  // Verdicts about the model hold of its own read-out.
  const ModelFindings findings = examine_model(*model, *task);
  CHECK(findings.claim == "refuted");
  CHECK(findings.claim_length == 128);
  // And its accuracy counts the same words: all of 127 letters, none at the last letter of 128.
  EvaluateModelOptions evaluation{.words = 4};
  CHECK(evaluate_model(*model, *task, 127, evaluation).right == 4 * 127);
  CHECK(evaluate_model(*model, *task, 128, evaluation).right == 4 * 127);
  evaluation.rescaled = true;
  CHECK(evaluate_model(*model, *task, 1000, evaluation).right == 4 * 1000);
}

TEST_CASE("the trained model that reads 0^39 rightly is not refuted by it") {
  // krohn train parity --model bilinear:diagonal,hidden=16,inputs=8 --length 3..40 --rates 1e-2 --steps 2000
  //   --stop-at 0 --seed 11: its states grow to 10^15 in 39 letters, where the distances of its codewords tie.
  const TrainedModel trained = load_model(std::string(KROHN_TEST_DATA) + "/networks/trained-parity.safetensors");
  const auto task = make_task(trained.task);
  const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
  const Word zeros(39, 0);
  CHECK_FALSE(network_is_right(network_of(*trained.model, *task), zeros));
  for (const Precision precision : {Precision::kFp32, Precision::kFp64}) {
    const auto reader = trained_machine(*trained.model, *task, precision);
    ReaderRun run(*reader, tracked);
    for (const Letter letter : zeros) {
      REQUIRE(run.read(letter));
      CHECK_FALSE(run.is_wrong());
    }
    CHECK(run.answer().margin > 1e15);
  }
  // It is wrong on longer words, where fp32 overflows: that refutes it.
  const ModelFindings findings = examine_model(*trained.model, *task);
  CHECK(findings.claim == "refuted");
  CHECK(findings.claim_length > 60);
}

TEST_CASE("rescaling is neutral without a bias, and another function with one") {
  const auto task = make_task("parity");
  EvaluateModelOptions as_trained, rescaled;
  as_trained.words = rescaled.words = 8;
  rescaled.rescaled = true;
  for (const float growth : {0.5f, 1.0f, 2.0f}) {
    const auto model = growing(*task, growth);
    CHECK(test::contains(reading_of(*model, true), "overflow alone"));
    CHECK(evaluate_model(*model, *task, 100, as_trained).right == 800);
    CHECK(evaluate_model(*model, *task, 100, rescaled).right == 800);
  }
  // 2^8 stays, and −2^8 + 513 is more: from the eighth letter on the rescaled model says "odd" to all.
  const auto biased = growing(*task, 2, 513);
  CHECK(reading_of(*biased, false) == "as trained");
  CHECK(test::contains(reading_of(*biased, true), "another function"));
  const ModelAccuracy trained_at = evaluate_model(*biased, *task, 100, as_trained),
                      rescaled_at = evaluate_model(*biased, *task, 100, rescaled);
  CHECK(trained_at.right >= 8 * 90);  // its first 8 letters are "odd" to it
  CHECK(rescaled_at.right < 8 * 70);
  // One unit less, and the two are again one: 2^8 = −2^8 + 512 is a tie, 511 is none.
  CHECK(evaluate_model(*growing(*task, 2, 511), *task, 100, rescaled).right ==
        evaluate_model(*growing(*task, 2, 511), *task, 100, as_trained).right);
  const auto added = make_model<float>("bilinear:hidden=4,inputs=2,bias", 2, 2, 1);
  CHECK(reading_of(*added, true) == "as trained");
  const auto equal = model_of(*task, "bilinear:diagonal,hidden=1,inputs=2", {{"readout_bias", {3, 3}}});
  CHECK(test::contains(reading_of(*equal, true), "overflow alone"));
}

TEST_CASE("two answers that are equally good are none, in accuracies as in verdicts") {
  const auto task = make_task("parity");
  const auto model = growing(*task, 0);  // the state is 0 from the first letter on: both logits are 0
  CHECK(evaluate_model(*model, *task, 10, EvaluateModelOptions{.words = 4}).right == 0);
  const ModelFindings findings = examine_model(*model, *task);
  CHECK(findings.claim == "refuted");
  CHECK(findings.claim_length == 1);
}

TEST_CASE("margins along a word that fades: the least of every stretch, and the wrong letter alone") {
  const auto task = make_task("parity");
  const auto model = growing(*task, 0.5f);  // 2^−t: 2^−149 is the last power of fp32, 2^−150 becomes 0
  const auto reader = trained_machine(*model, *task, Precision::kFp32);
  const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
  const Certificate certificate = ask_reader(*reader, tracked, Precision::kFp32);
  REQUIRE(certificate.failing_word());
  CHECK(certificate.failing_word()->size() == 150);
  const std::vector<MarginPoint> points = margins_along(*reader, tracked, Word(150, 1));
  REQUIRE(points.size() == 9);  // 1, 2–3, 4–7, …, 64–127, 128–149, 150
  std::uint64_t first = 1;
  for (std::size_t i = 0; i + 1 < points.size(); ++i, first *= 2) {
    const std::uint64_t last = std::min<std::uint64_t>(2 * first - 1, 149);
    CHECK(points[i].first == first);
    CHECK(points[i].last == last);
    CHECK(points[i].at == last);  // it only falls
    CHECK(points[i].margin == std::ldexp(2, -static_cast<int>(last)));
    CHECK(points[i].state == std::ldexp(1, -static_cast<int>(last)));
  }
  CHECK(points.back().first == 150);
  CHECK(points.back().margin == 0);
  CHECK(margins_along(*reader, tracked, {}).empty());
  REQUIRE(margins_along(*reader, tracked, {1}).size() == 1);
}

// The angles of a trained model of rotations, against the matrices by which it computes.

TEST_CASE("every plane turns as its matrices do, in the order of the read-out") {
  const auto task = make_task("modadd10");
  for (const char* name :
       {"bilinear:rotations,hidden=8,inputs=3", "bilinear:rotations,hidden=12,inputs=5,spread=0.01"}) {
    CAPTURE(name);
    const auto model = make_model<float>(name, *task, 4);
    const LinearModel view = model->linear_view().value();
    const std::vector<RotationPlane> planes = rotation_planes(*model);
    REQUIRE(planes.size() == view.hidden / 2);
    std::set<std::uint32_t> seen;
    double before = INFINITY;
    for (const RotationPlane& plane : planes) {
      CHECK(seen.insert(plane.plane).second);
      double squares = 0;
      for (std::size_t label = 0; label < view.labels; ++label)
        for (std::size_t i = 0; i < 2; ++i)
          squares += std::pow(view.readout[label * view.hidden + 2 * plane.plane + i], 2);
      CHECK(plane.readout == doctest::Approx(std::sqrt(squares)));
      CHECK(plane.readout <= before);
      before = plane.readout;
      for (std::size_t letter = 0; letter < model->letters(); ++letter) {
        const float* const block = view.matrices.data() + (letter * view.hidden / 2 + plane.plane) * 4;
        const double angle = 2 * std::numbers::pi * plane.turns[letter];
        CHECK(block[0] == doctest::Approx(std::cos(angle)).epsilon(1e-5));
        CHECK(block[2] == doctest::Approx(std::sin(angle)).epsilon(1e-5));
      }
      CHECK(plane.harmonic(10) == doctest::Approx(10 * plane.turns[1]));
    }
  }
  CHECK_THROWS_WITH_AS(rotation_planes(*make_model<float>("bilinear:block=2,hidden=4,inputs=2", *task, 1)),
                       doctest::Contains("rotations"), InputError);
}

// Snapping finds the representation that was learned, whatever its basis.

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
  const CertifyOptions few{.arithmetic = Precision::kFp64, .max_pairs = 10'000};
  CHECK(planes.provenance.note == "transition group Z_5, harmonics (2)");
  CHECK(certify(planes, few).is<ProvedUpTo>());
  harmonics.construction = "magic";
  CHECK_THROWS_AS(snap_network(five, centres, harmonics), InputError);
}

TEST_CASE("automata that are no groups snap to one-hot codes") {
  for (const char* language : {"regex:(a|b)*abb", "name:random:m=5,seed=1", "name:S3"}) {
    CAPTURE(language);
    const Dfa dfa = load_language(language);
    const Network learned = disguised(build(dfa, BuildOptions{.construction = "one-hot"}), 1e-5, 5);
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
  CHECK(certify(network, CertifyOptions{.arithmetic = Precision::kFp64, .max_pairs = 10'000}).is<ProvedUpTo>());
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

// Trained models letter by letter: the plain arithmetic against the training kernels, and claims against brute force.

namespace {

template <class Real>
std::unique_ptr<SequenceModel<Real>> made(const char* name, const Task& task, std::uint64_t seed = 9) {
  return make_model<Real>(name, task, seed);
}

/// The mean cross-entropy of a batch, word by word.
template <class Real>
double plain_loss(PlainModel<Real>& plain, const TrainingBatch& batch, std::size_t labels) {
  double sum = 0;
  for (std::uint32_t word = 0; word < batch.words; ++word) {
    std::vector<Real> memory = plain.start(), logits(labels);
    for (std::uint32_t t = 0; t < batch.lengths[word]; ++t) {
      const auto due = std::ranges::find_if(
          batch.targets, [&](const auto& target) { return target.word == word && target.position == t; });
      plain.read(batch.letters[std::size_t{t} * batch.words + word], memory,
                 due == batch.targets.end() ? std::span<Real>() : std::span<Real>(logits));
      if (due == batch.targets.end()) continue;
      double all = 0;
      for (const Real logit : logits) all += std::exp(static_cast<double>(logit));
      sum += std::log(all) - static_cast<double>(logits[due->label]);
    }
  }
  return sum / static_cast<double>(batch.targets.size());
}

std::unique_ptr<SequenceModel<float>> trained(const Task& task, const char* name, std::uint64_t steps, double rate,
                                              LengthRange lengths, std::uint64_t seed = 1) {
  TrainOptions options{.lengths = lengths, .optimiser = {.learning_rate = rate, .steps = steps}, .seed = seed};
  options.stop_at = 0;
  Trainer trainer(task, name, options);
  while (trainer.state() == Trainer::State::kRunning) trainer.step();
  auto model = made<float>(name, task);
  model->load(trainer.model().tensors());
  return model;
}

/// Parity by one generalized Householder matrix a letter: S ← S + β e₁ (v − Sᵀe₁)ᵀ with β = 2 and v = (w, 0) for "1",
/// so that the first row of S goes from 0 to (2w, 0) and back, bit for bit; for "0", β = 2 / (1 + e^(−`logit`)). Keys
/// of length 2^20 have norm 1 after they are divided by √(2^40 + 10⁻⁶).
std::unique_ptr<SequenceModel<float>> parity_by_hand(const Task& task, float logit) {
  auto model = made<float>("deltaproduct:width=2,heads=1,keys=2,values=2,plain,signed,mlp=0", task);
  constexpr float kLong = 0x1p20f;
  const float root = std::sqrt(2.f);  // of every normed embedding's only coordinate
  set(*model, "embedding", {1, 0, 0, 1});
  set(*model, "layer0.norm", {1, 1});
  // A row for each letter; columns q, k, v, β.
  set(*model, "layer0.mixer.in", {kLong, 0, kLong, 0, 0, 0, logit / root, kLong, 0, kLong, 0, 0.001f, 0, 1024});
  set(*model, "layer0.mixer.norm", {1, 1});
  set(*model, "layer0.mixer.out", {16, 16, 0, 0});
  // Both coordinates of the normed residual are large after an odd word, otherwise one: their sum is near 2 or √2.
  set(*model, "norm", {1, 1});
  set(*model, "readout", {0, 1, 0, 1});
  set(*model, "readout_bias", {1.7f, 0});
  return model;
}
constexpr float kNever = -1024;  ///< β = 0

/// The answers of a machine along a word, compared with the automaton's.
bool is_right_everywhere(const TrainedReader& machine, const TrackedAutomaton& tracked, const Word& word) {
  ReaderRun run(machine, tracked);
  for (const Letter letter : word) {
    if (!run.read(letter)) return true;
    if (run.is_wrong()) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("scale-free models answer as their loss counts, word by word") {
  const auto task = make_task("S3");
  const TrainingBatch batch = draw_batch(*task, {2, 20}, 5, 0, 40);
  for (const char* name : {"bilinear:hidden=6,inputs=3,scale-free", "bilinear:block=2,hidden=6,inputs=3,scale-free",
                           "bilinear:rank=4,hidden=5,inputs=3,scale-free"}) {
    CAPTURE(name);
    const auto model = made<float>(name, *task);
    const auto plain = plain_model<float>(*model);
    std::uint64_t right = 0;
    for (const TrainingBatch::Target& target : batch.targets) {
      std::vector<float> memory = plain->start(), logits(model->labels());
      for (std::uint32_t t = 0; t <= target.position; ++t)
        plain->read(batch.letters[std::size_t{t} * batch.words + target.word], memory, logits);
      right += std::ranges::max_element(logits) - logits.begin() == static_cast<std::ptrdiff_t>(target.label);
    }
    CHECK(right == model->loss(batch, {}).right);
  }
}

TEST_CASE("plain arithmetic is the model's, whatever its family") {
  for (const char* task_name : {"modadd3", "parity"}) {
    const auto task = make_task(task_name);
    const TrainingBatch batch = draw_batch(*task, {2, 9}, 5, 0, 6);
    for (const char* name : kSmallModels) {
      CAPTURE(name);
      if (test::contains(name, "scale-free")) continue;  // whose loss reads the direction of a state alone
      const auto model = made<float>(name, *task);
      const auto precise = made<double>(name, *task);
      std::ranges::copy(model->parameters(), precise->parameters().begin());
      const double loss = precise->loss(batch, {}).loss;
      CHECK(plain_loss(*plain_model<double>(*model), batch, model->labels()) == doctest::Approx(loss).epsilon(1e-12));
      CHECK(plain_loss(*plain_model<float>(*model), batch, model->labels()) == doctest::Approx(loss).epsilon(1e-4));
    }
  }
}

TEST_CASE("blocks whose columns are constant are 0, in training and in plain arithmetic") {
  const auto task = make_task("modadd3");
  const TrainingBatch batch = draw_batch(*task, {2, 9}, 5, 0, 6);
  for (const char* name : {"fan-released:blocks=2,size=3,norm=1.2", "fan-released:layers=2,blocks=1,size=4,norm=2",
                           "fan-released:blocks=1,size=2,norm=1", "fan-released:blocks=1,size=2,norm=9"}) {
    CAPTURE(name);
    const auto model = made<float>(name, *task);
    const ReleasedShape shape = parse_released_shape(name);
    const std::size_t numbers = shape.width() * shape.size;
    set(*model, "layer0.block_out", std::vector<float>(numbers * numbers, 0));
    // Columns of 1s in every block but, where there are two, the last, which differs in one number.
    std::vector<float> bias(numbers, 1);
    if (shape.blocks == 2) bias.back() = 3;
    set(*model, "layer0.block_out_bias", bias);
    const auto precise = made<double>(name, *task);
    std::ranges::copy(model->parameters(), precise->parameters().begin());
    std::vector<double> gradient(precise->parameters().size());
    const double loss = precise->loss(batch, gradient).loss;
    REQUIRE(std::isfinite(loss));
    CHECK(plain_loss(*plain_model<double>(*model), batch, model->labels()) == doctest::Approx(loss).epsilon(1e-12));
    CHECK(plain_loss(*plain_model<float>(*model), batch, model->labels()) == doctest::Approx(loss).epsilon(1e-4));
    std::vector<float> rounded(gradient.size());
    CHECK(model->loss(batch, rounded).loss == doctest::Approx(loss).epsilon(1e-4));
    CHECK(std::ranges::all_of(gradient, [](double each) { return std::isfinite(each); }));
    CHECK(std::ranges::all_of(rounded, [](float each) { return std::isfinite(each); }));
    const auto maps = plain_model<float>(*model)->letter_maps(0);
    CHECK(maps.matrices.front().isZero(0));
    CHECK(maps.matrices.back().isZero(0) == (shape.blocks == 1));
  }
}

TEST_CASE("a machine answers where its task asks, with the tokens around the word") {
  for (const char* task_name :
       {"modadd3", "ltrarith3", "modarith-equals3", "evenpair3", "modarith3", "S3", "S3/tokens=2", "tomita3"}) {
    CAPTURE(task_name);
    const auto task = make_task(task_name);
    for (const char* name : {"deltaproduct:width=4,heads=1,keys=3,values=3,mlp=0", "fan:blocks=2,size=2"}) {
      const auto model = made<float>(name, *task);
      const auto machine = trained_machine(*model, *task, Precision::kFp64);
      const TaskAutomaton input = input_machine(*task);
      const TrackedAutomaton tracked = tracked_automaton(*task, input.automaton);
      const auto plain = plain_model<double>(*model);
      for (std::uint64_t index = 0; index < 5; ++index) {
        const std::uint64_t length = task->info().least_length + 3 * task->info().length_step;
        std::vector<double> memory = plain->start(), logits(model->labels());
        ReaderRun run(*machine, tracked);
        for (const TaskToken& token : task->sample(length, 3, index)) {
          plain->read(token.letter, memory, logits);
          const auto letter = std::ranges::find(input.inputs, token.letter);
          if (letter != input.inputs.end()) REQUIRE(run.read(static_cast<Letter>(letter - input.inputs.begin())));
          if (!token.target) continue;
          REQUIRE(run.is_asked());
          CHECK(tracked.wanted[run.state()] == *token.target);
          CHECK(run.answer().output == static_cast<Output>(std::ranges::max_element(logits) - logits.begin()));
        }
      }
    }
  }
}

TEST_CASE("words that no sample has are not asked about") {
  const auto task = make_task("ltrarith3");
  const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
  const Dfa& dfa = tracked.automaton;
  const Letter digit = 0, plus = 3;
  State state = dfa.initial();
  CHECK_FALSE(tracked.is_asked(state));
  CHECK(tracked.wanted[dfa.next(state, plus)] == TrackedAutomaton::kNoSuchWord);
  state = dfa.next(state, digit);
  CHECK(tracked.is_asked(state));
  CHECK(tracked.wanted[dfa.next(state, digit)] == TrackedAutomaton::kNoSuchWord);
  state = dfa.next(state, plus);
  CHECK_FALSE(tracked.is_asked(state));
  CHECK(tracked.is_asked(dfa.next(state, digit)));
  // From two integers on.
  const TrackedAutomaton longer = tracked_automaton(*task, input_machine(*task).automaton, 2);
  state = longer.automaton.next(longer.automaton.initial(), digit);
  CHECK_FALSE(longer.is_asked(state));
  state = longer.automaton.next(longer.automaton.next(state, plus), digit);
  CHECK(longer.is_asked(state));
  CHECK(longer.wanted[longer.automaton.next(state, digit)] == TrackedAutomaton::kNoSuchWord);
}

TEST_CASE("a letter of the language's own may be called like a special token, and is read") {
  for (const char* const name : {"regex:a=b", "regex:(a|=)*=", "regex:=+"}) {
    CAPTURE(name);
    const auto task = make_task(name);
    const TaskAutomaton machine = input_machine(*task);
    const Dfa language = load_language(name);
    CHECK(machine.automaton.letters() == language.letters());
    CHECK_FALSE(distinguishing_word(machine.automaton, language));
    CHECK(machine.before.empty());
    CHECK(machine.after.empty());
    // One that rejects every word.
    const auto model = make_model<float>("rnn:hidden=2,inputs=2", *task, 1);
    std::ranges::fill(model->parameters(), 0.0F);
    const auto reject = std::ranges::find(task->labels(), "reject") - task->labels().begin();
    model->parameters()[model->begin_of("head.bias") + static_cast<std::size_t>(reject)] = 1;
    const auto reader = trained_machine(*model, *task, Precision::kFp32);
    const Certificate certificate = ask_reader(*reader, tracked_automaton(*task, machine.automaton), Precision::kFp32);
    REQUIRE(certificate.is<Refuted>());
    CHECK(*certificate.failing_word() == *shortest_accepted_word(language));
  }
  // Those of a task's own are none of its inputs.
  for (const auto& [name, letters, before, after] :
       {std::tuple("modadd5", 5, 1, 1), std::tuple("modarith-equals5", 8, 0, 1), std::tuple("S3/swaps", 4, 1, 0)}) {
    CAPTURE(name);
    const auto task = make_task(name);
    const TaskAutomaton machine = input_machine(*task);
    CHECK(task->input_letters() == static_cast<Letter>(letters));
    CHECK(machine.automaton.letters() == static_cast<Letter>(letters));
    CHECK(machine.before.size() == static_cast<std::size_t>(before));
    CHECK(machine.after.size() == static_cast<std::size_t>(after));
  }
}

TEST_CASE("a model whose memory closes is proved for words of every length") {
  const auto task = make_task("parity");
  const auto model = parity_by_hand(*task, kNever);
  for (const Precision precision : {Precision::kFp32, Precision::kFp64}) {
    const auto machine = trained_machine(*model, *task, precision);
    const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
    for (const Word& word : short_words(2, 10)) REQUIRE(is_right_everywhere(*machine, tracked, word));
    const Certificate certificate = ask_reader(*machine, tracked, precision);
    CHECK(certificate.is<Proved>());
    CHECK(certificate.arithmetic == precision);
    CHECK(certificate.pairs == 3);
    // Against another language it is refuted by a shortest word.
    const Dfa other = named_language("parity");
    const Dfa flipped =
        Dfa::acceptor(other.alphabet(), {other.table().begin(), other.table().end()}, other.initial(), {true, false});
    const Certificate refuted = ask_reader(*machine, tracked_automaton(*task, flipped), precision);
    CHECK(refuted.is<Refuted>());
    CHECK(refuted.failing_word()->size() == 1);
  }
}

TEST_CASE("what a closing model has learned is extracted, snapped and proved") {
  const auto task = make_task("parity");
  const auto model = parity_by_hand(*task, kNever);
  const auto machine = trained_machine(*model, *task, Precision::kFp32);
  const Extraction learned =
      extract_trained(*machine, *task, ExtractOptions{.length = 20, .words = 100, .beyond = 500});
  CHECK(learned.automaton.states() == 2);
  CHECK_FALSE(learned.beyond);
  CHECK(equivalent(learned.automaton, named_language("parity")));
  const StateCentres centres = trained_centres(*machine, *task, learned.automaton);
  CHECK(centres.spread < 1e-6);
  CHECK(least_distance(centres.centres) > 0.1);
  const SnapResult snapped = snap_network(learned.automaton, centres);
  CHECK(snapped.choices[snapped.chosen].explained > 0.99);
  CHECK(certify(snapped.network, {}).is<Proved>());
}

TEST_CASE("the letters of a reflection, and what is alive of its state") {
  const auto task = make_task("parity");
  const auto model = parity_by_hand(*task, kNever);
  const auto machine = trained_machine(*model, *task, Precision::kFp64);
  CHECK(machine->letter_maps(0).betas == std::vector<double>{0});
  CHECK(machine->letter_maps(1).betas == std::vector<double>{2});
  CHECK(machine->letter_maps(0).matrices[0] == Eigen::MatrixXd::Identity(2, 2));
  const Spectrum found = trained_spectrum(*machine, *task);
  CHECK(found.coordinates == 2);
  CHECK(found.alive == 1);
  CHECK(found.letters[1].modes[0].value == std::complex<double>(-1, 0));
  CHECK(found.letters[1].modes[0].weight == 1);
  CHECK(found.letters[1].modes[1].weight < 1e-12);
  CHECK(found.letters[1].orthogonality_defect < 1e-12);
}

TEST_CASE("letter maps are what the letters do to the difference of two memories") {
  for (const char* name : {"dense:size=3", "deltaproduct:width=4,heads=2,keys=3,values=2,reflections=2,signed,mlp=2",
                           "diagonal:width=3,channels=4,states=2,signed,conv=0", "fan:blocks=2,size=3,layers=2",
                           "bilinear:block=2,hidden=6,inputs=3,bias"}) {
    CAPTURE(std::string(name));
    const auto task = make_task("modadd3");
    const auto plain = plain_model<double>(*made<float>(name, *task));
    for (Letter letter = 0; letter < 3; ++letter) {
      std::vector<double> one = plain->start(), other = one;
      plain->read(2, one, {});
      plain->read(1, other, {});
      const std::vector<double> one_before = one, other_before = other;
      plain->read(letter, one, {});
      plain->read(letter, other, {});
      const LetterMaps maps = plain->letter_maps(letter);
      const std::vector<StateBlock> blocks = plain->blocks();
      REQUIRE(maps.matrices.size() == blocks.size());
      for (std::size_t b = 0; b < blocks.size(); ++b)
        for (std::size_t row = 0; row < blocks[b].size; ++row)
          for (std::size_t column = 0; column < blocks[b].columns; ++column) {
            double expected = 0;
            for (std::size_t k = 0; k < blocks[b].size; ++k) {
              const std::size_t at = blocks[b].first + k * blocks[b].columns + column;
              expected += maps.matrices[b](static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(k)) *
                          (one_before[at] - other_before[at]);
            }
            const std::size_t at = blocks[b].first + row * blocks[b].columns + column;
            CHECK(one[at] - other[at] == doctest::Approx(expected).epsilon(1e-9));
          }
    }
  }
}

TEST_CASE("a memory that fades is refuted by a long word, which ends at its first wrong answer") {
  const auto task = make_task("parity");
  const auto model = parity_by_hand(*task, -12);  // β ≈ 10⁻⁵: so much of the memory goes with every "0"
  const auto machine = trained_machine(*model, *task, Precision::kFp32);
  const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
  for (const Word& word : short_words(2, 10)) REQUIRE(is_right_everywhere(*machine, tracked, word));
  const Certificate bounded = ask_reader(*machine, tracked, Precision::kFp32, 200);
  CHECK(bounded.is<ProvedUpTo>());
  CHECK(bounded.length() >= 6);
  const Certificate certificate = ask_reader(*machine, tracked, Precision::kFp32, 200, 300'000);
  REQUIRE(certificate.is<Refuted>());
  CHECK_FALSE(certificate.is_shortest());
  Word word = *certificate.failing_word();
  CHECK(word.size() > 1000);
  CHECK(word.size() < 10'000);
  CHECK_FALSE(is_right_everywhere(*machine, tracked, word));
  word.pop_back();
  CHECK(is_right_everywhere(*machine, tracked, word));
}

TEST_CASE("a model that is wrong is refuted by a word that no shorter one is") {
  struct Fact {
    const char *task, *model;
  };
  for (const Fact& fact :
       {Fact{"parity", "deltaproduct:width=4,heads=1,keys=2,values=2,mlp=0"}, Fact{"parity", "dense:size=2"},
        Fact{"S3", "diagonal:width=4,channels=4,states=2,conv=2"}, Fact{"modadd3", "fan:blocks=2,size=2,layers=2"},
        Fact{"ltrarith3", "bilinear:block=2,hidden=4,inputs=2"}}) {
    CAPTURE(std::string(fact.task));
    CAPTURE(std::string(fact.model));
    const auto task = make_task(fact.task);
    const auto model = trained(*task, fact.model, 60, 0.02, {1, 4});
    const auto machine = trained_machine(*model, *task, Precision::kFp32);
    const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
    const Certificate certificate = ask_reader(*machine, tracked, Precision::kFp32);
    REQUIRE(certificate.is<Refuted>());
    CHECK(certificate.is_shortest());
    const Word& word = *certificate.failing_word();
    CAPTURE(word.size());
    CHECK_FALSE(is_right_everywhere(*machine, tracked, word));
    if (word.empty()) continue;
    for (const Word& shorter : short_words(machine->letters(), std::min<std::size_t>(word.size(), 6) - 1))
      REQUIRE(is_right_everywhere(*machine, tracked, shorter));
  }
}

TEST_CASE("models and tasks that do not fit are refused") {
  const auto parity = make_task("parity"), s3 = make_task("S3");
  const auto model = made<float>("dense:size=3", *s3);
  CHECK_THROWS_WITH_AS(trained_machine(*model, *parity, Precision::kFp32), doctest::Contains("letters"), InputError);
  CHECK_THROWS_WITH_AS(trained_machine(*model, *s3, Precision::kBf16), doctest::Contains("fp64"), InputError);
  CHECK_THROWS_AS(tracked_automaton(*s3, named_language("parity")), InputError);
  CHECK_THROWS_AS(trained_machine(*model, *make_task("modarith-brackets5"), Precision::kFp32), InputError);
}
