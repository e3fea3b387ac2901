// Training that ends in a proof: by family, to a model of the same architecture that brute force finds right; and what
// is not right, or cannot be exact, is not proved.

#include "krohn/simulate/closing/proof_rounds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/simulate/closing/pull_letters.h"
#include "krohn/simulate/learned/initialise_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"

using namespace krohn;

namespace {

TrainOptions steady(LengthRange lengths, double rate, std::uint64_t steps) {
  TrainOptions options;
  options.lengths = lengths;
  options.smoothing = 0.1;
  options.stop_at = 0;
  options.seed = 1000;
  options.optimiser.learning_rate = rate;
  options.optimiser.schedule = Schedule::kCosine;
  options.optimiser.steps = steps;
  options.optimiser.clip = 1;
  return options;
}

/// Every answer of a sample, by the kernels that train and measure models, which know nothing of the proof.
bool is_right(const SequenceModel<float>& model, const Task& task, std::uint64_t length, std::uint64_t words) {
  EvaluateModelOptions options;
  options.words = words;
  options.threads = 1;
  const ModelAccuracy at = evaluate_model(model, task, length, options);
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
    CHECK((none.why_not().find("leave out scale-free") != std::string::npos) == model->settles());
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
    CHECK(run.rounds.why_not().find("what is not learned is not rounded") != std::string::npos);
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
  CHECK(closing.what.find("with one for every state that it tells apart") != std::string::npos);
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
  CHECK(closing.what.find("simplex") != std::string::npos);
  for (const std::uint64_t length : {1, 2, 3, 5, 1000}) CHECK(is_right(*closing.model, *task, length, 50));
}

TEST_CASE("a construction in other coordinates and with noise is rounded back, and proved without a step of training") {
  const auto task = make_task("S3");
  BuildOptions wishes;
  wishes.construction = "permutation";
  const Network network = build(named_language("S3"), wishes);
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
    CHECK(closing.why_not().find(why) != std::string::npos);
  }
  // A rotation that is exact in real numbers: the construction that only floats spoil.
  const auto task = make_task("modadd3");
  BuildOptions wishes;
  wishes.construction = "rotation";
  auto model = make_model<float>("bilinear:rotations,hidden=8,inputs=8", *task, 1);
  initialise_from(*model, build(named_language("Z3"), wishes), *task);
  const ProvedClosing closing = close_and_prove(*model, *task, TrainOptions{});
  CHECK_FALSE(closing.is_proved());
  CHECK(closing.why_not().find("rotates pairs") != std::string::npos);
}

TEST_CASE("a round without a proof pulls letters half of the way, and without nearly right answers there is none") {
  const auto task = make_task("Z5");
  BuildOptions wishes;
  wishes.construction = "rotation";  // one fifth of a turn: nothing to round
  const Network network = build(named_language("Z5"), wishes);
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
