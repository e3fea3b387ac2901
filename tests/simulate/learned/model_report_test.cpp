// What is said of a trained model is said of its own read-out: states that grow, ties, and margins along a word.

#include "krohn/simulate/learned/model_report.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/linear_model_reader.h"
#include "krohn/simulate/models/model_file.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/prove/machine/reader_run.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "tests/simulate/asked_reader.h"

using namespace krohn;

namespace {

std::unique_ptr<SequenceModel<float>> model_of(const Task& task, const char* name,
                                               const std::vector<std::pair<std::string, std::vector<float>>>& values) {
  auto model = make_model<float>(name, task, 1);
  TensorFile file = model->tensors();
  for (const auto& [part, numbers] : values) {
    Tensor& tensor = file.tensors.at(part);
    REQUIRE(tensor.bytes.size() == numbers.size() * sizeof(float));
    std::memcpy(tensor.bytes.data(), numbers.data(), tensor.bytes.size());
  }
  model->load(file);
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
  // What is said of the model is said of its own read-out.
  const ModelFindings findings = examine_model(*model, *task);
  CHECK(findings.claim == "refuted");
  CHECK(findings.claim_length == 128);
  // And its accuracy counts the same words: all of 127 letters, none at the last letter of 128.
  EvaluateModelOptions evaluation;
  evaluation.words = 4;
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
    CHECK(rescaling_of(*model->linear_view()) == Rescaling::kNeutral);
    CHECK(evaluate_model(*model, *task, 100, as_trained).right == 800);
    CHECK(evaluate_model(*model, *task, 100, rescaled).right == 800);
  }
  // 2^8 stays, and −2^8 + 513 is more: from the eighth letter on the rescaled model says "odd" to all.
  const auto biased = growing(*task, 2, 513);
  CHECK(rescaling_of(*biased->linear_view()) == Rescaling::kAnotherFunction);
  CHECK(reading_of(*biased, false) == "as trained");
  CHECK(reading_of(*biased, true).find("another function") != std::string::npos);
  const ModelAccuracy trained_at = evaluate_model(*biased, *task, 100, as_trained),
                      rescaled_at = evaluate_model(*biased, *task, 100, rescaled);
  CHECK(trained_at.right >= 8 * 90);  // its first 8 letters are "odd" to it
  CHECK(rescaled_at.right < 8 * 70);
  // One unit less, and the two are again one: 2^8 = −2^8 + 512 is a tie, 511 is none.
  CHECK(evaluate_model(*growing(*task, 2, 511), *task, 100, rescaled).right ==
        evaluate_model(*growing(*task, 2, 511), *task, 100, as_trained).right);
  const auto added = make_model<float>("bilinear:hidden=4,inputs=2,bias", 2, 2, 1);
  CHECK(rescaling_of(*added->linear_view()) == Rescaling::kNone);
  CHECK(reading_of(*added, true) == "as trained");
  const auto equal = model_of(*task, "bilinear:diagonal,hidden=1,inputs=2", {{"readout_bias", {3, 3}}});
  CHECK(rescaling_of(*equal->linear_view()) == Rescaling::kNeutral);
}

TEST_CASE("two answers that are equally good are none, in accuracies as in verdicts") {
  const auto task = make_task("parity");
  const auto model = growing(*task, 0);  // the state is 0 from the first letter on: both logits are 0
  EvaluateModelOptions evaluation;
  evaluation.words = 4;
  CHECK(evaluate_model(*model, *task, 10, evaluation).right == 0);
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
