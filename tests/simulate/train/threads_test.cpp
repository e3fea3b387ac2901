// A step of training on several threads: the same bits as on one.

#include <doctest/doctest.h>

#include <algorithm>

#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/trainer.h"

using namespace krohn;

TEST_CASE("threads change no bit of a run") {
  struct Run {
    const char *task, *model;
    double clip = 0.5;
  };
  // Matrices in several stretches and uneven halves; words in several slices, with shared prefixes and without.
  for (const auto& [name, model, clip] : {Run{"modadd3", "bilinear:hidden=64,inputs=20"},
                                          {"modadd3", "bilinear:hidden=64,inputs=20", 0},
                                          {"S3/swaps", "bilinear:hidden=35,inputs=3,bias"},
                                          {"S3/swaps", "bilinear:hidden=35,inputs=3,scale-free"},
                                          {"S3/swaps", "deltaproduct:signed,width=8,heads=2,keys=4,values=5,mlp=6"},
                                          {"parity", "deltaproduct:layers=2,width=8,heads=1,keys=4,values=4,mlp=6"},
                                          {"parity", "diagonal:width=6,channels=4,states=2"},
                                          {"modadd5", "lstm:layers=2,hidden=35,inputs=3"},
                                          {"S3/swaps", "gru:layers=2,hidden=9"},
                                          {"parity", "rnn:hidden=17,one-hot"}}) {
    CAPTURE(model);
    const auto task = make_task(name);
    TrainOptions options;
    options.lengths = {5, 30};
    options.optimiser.steps = 4;
    options.optimiser.clip = clip;
    options.validate_every = 2;
    std::vector<float> expected;
    for (const unsigned threads : {1U, 2U, 3U, 8U}) {
      CAPTURE(threads);
      options.threads = threads;
      Trainer trainer(*task, model, options);
      while (trainer.state() == Trainer::State::kRunning) trainer.step();
      REQUIRE(trainer.state() == Trainer::State::kFinished);
      const auto parameters = trainer.model().parameters();
      if (threads == 1)
        expected.assign(parameters.begin(), parameters.end());
      else
        CHECK(std::ranges::equal(parameters, expected));
    }
  }
}
