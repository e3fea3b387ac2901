// Verdicts, states and weights in a thread that another library left with another rounding, or without subnormal
// numbers: those of a clean thread, and the thread left as it was.

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/lanes/batch.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/self_check.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trainer.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/proving.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

enum class Habit { kClean, kFlush, kUp, kDown };

#if defined(__x86_64__)
constexpr unsigned kFlushes = 0x8040;
unsigned control() { return _mm_getcsr() & ~0x3FU; }
#else
unsigned control() { return 0; }
#endif

/// Takes up the habit, calls, takes it off; says whether it was still there.
template <class Call>
auto within(Habit habit, const Call& call) {
  std::fenv_t before;
  std::fegetenv(&before);
  if (habit == Habit::kUp) std::fesetround(FE_UPWARD);
  if (habit == Habit::kDown) std::fesetround(FE_DOWNWARD);
#if defined(__x86_64__)
  if (habit == Habit::kFlush) _mm_setcsr(_mm_getcsr() | kFlushes);
#endif
  const int mode = std::fegetround();
  const unsigned bits = control();
  auto result = call();
  const bool is_kept = std::fegetround() == mode && control() == bits;
  std::fesetenv(&before);
  CHECK(is_kept);
  return result;
}

/// The same in every habit as in a clean thread, which it returns.
template <class Call>
auto same(const Call& call) {
  const auto clean = within(Habit::kClean, call);
  for (const Habit habit : {Habit::kFlush, Habit::kUp, Habit::kDown}) {
    CAPTURE(static_cast<int>(habit));
    CHECK((within(habit, call) == clean));
  }
  return clean;
}

std::string told(const Network& network, const Certificate& certificate) {
  return claim_in_words(certificate, network.automaton.alphabet()) + " / " + certificate.method + " / " +
         certificate.evidence;
}

}  // namespace

TEST_CASE("a subnormal state is read, kept and refuted in every environment") {
  const char* const path = KROHN_TEST_DATA "/findings/subnormal.safetensors";  // H_0 = (2^-140, 1)
  const auto weights = same([&] { return canonical_weights(load_network(path)); });
  CHECK(weights.size() > 0);
  const Network network = load_network(path);
  CHECK(network.layers[0].initial(0, 0) == 0x1p-140);
  const std::string claim = same([&] { return told(network, certify(network, in(Precision::kFp32))); });
  CHECK(test::contains(claim, "refuted"));
  const Certificate refuted = certify(network, in(Precision::kFp32));
  REQUIRE(refuted.is<Refuted>());
  CHECK(*refuted.failing_word() == Word{0});
  // Asked one by one, each in the caller's thread.
  const auto states = same([&] {
    const auto evaluator = make_evaluator(network, Precision::kFp32);
    std::vector<State> answers(3);
    evaluator->run(Word{0, 0, 0}, answers);
    answers.push_back(evaluator->step(0).value_or(kNoState));
    return std::pair(answers, evaluator->numbers());
  });
  CHECK(states.second[0] == 0x1p-140);
  same([&] { return quantise(network, Precision::kFp32).layers[0].initial(0, 0); });
  // The checker: its own road, and its own guard.
  const Certificate whole = with_steps(refuted, network);
  same([&] {
    const Certificate again = parse_certificate(format_certificate(whole, network), "test", network);
    return std::pair(recheck(again, network).established, recheck(again, network).finding);
  });
  CHECK(recheck(whole, network).established);
  Certificate false_claim = refuted;
  false_claim.claim = Proved{};
  CHECK(!within(Habit::kFlush, [&] { return recheck(false_claim, network).established; }));
}

TEST_CASE("Z_5 rotating in bf16 is refuted by 249 letters in every environment") {
  BuildOptions rotation;
  rotation.construction = "rotation";
  same([&] { return canonical_weights(build(load_language("name:Z5"), rotation)); });
  const Network network = build(load_language("name:Z5"), rotation);
  const std::string claim = same([&] { return told(network, certify(network, in(Precision::kBf16))); });
  const Certificate certificate = certify(network, in(Precision::kBf16));
  REQUIRE(certificate.is<Refuted>());
  CHECK(certificate.is_shortest());
  CHECK(certificate.failing_word()->size() == 249);
  for (const char* order : {"chunked:8", "scan", "doubling:16"}) {
    CAPTURE(order);
    same([&] {
      const auto evaluator = make_evaluator(network, Precision::kBf16, Form::kStructured, parse_order(order));
      std::vector<State> answers(300);
      evaluator->run(Word(300, 1), answers);
      return answers;
    });
  }
  same([&] {
    return sample(network, Precision::kBf16, SampleOptions{.lengths = {500, 2000}, .words = 40, .threads = 2});
  });
  same([&] {
    const Word letters(64 * 300, 1);
    return batch_final_states(network, Precision::kBf16, letters, 64, 300);
  });
}

TEST_CASE("constructions that search for numbers find the same ones in every environment") {
  for (const char* construction : {"rotation-locked", "rotation-grid"}) {
    CAPTURE(construction);
    same([&] {
      BuildOptions options{.construction = construction, .precision = Precision::kFp16};
      return canonical_weights(build(load_language("name:Z5"), options));
    });
  }
}

TEST_CASE("a trained model has the same parameters, accuracy and claims in every environment") {
  const auto task = make_task("parity");
  TrainOptions options{.words = 8, .optimiser = {.steps = 5}};
  const auto trained = [&] {
    auto trainer = std::make_unique<Trainer>(*task, "diagonal:width=4,channels=4,states=2,complex", options);
    while (trainer->state() == Trainer::State::kRunning) trainer->step();
    return trainer;
  };
  same([&] {
    const auto trainer = trained();
    const auto parameters = trainer->model().parameters();
    return std::vector<float>(parameters.begin(), parameters.end());
  });
  const auto trainer = trained();
  same([&] {
    EvaluateModelOptions evaluate{.words = 40, .threads = 2};
    const ModelAccuracy accuracy = evaluate_model(trainer->model(), *task, 30, evaluate);
    return std::tuple(accuracy.right, accuracy.targets, accuracy.right_words);
  });
  for (const Precision precision : {Precision::kFp32, Precision::kFp64})
    same([&] {
      const auto machine = trained_machine(trainer->model(), *task, precision);
      const Certificate certificate =
          ask_reader(*machine, tracked_automaton(*task, input_machine(*task).automaton), precision, 2000, 20'000);
      return std::tuple(certificate.claim, certificate.failing_word(), certificate.pairs);
    });
}
