// Stacked models: what words of a batch share is computed once for all that begin with it, which changes nothing.

#include "krohn/simulate/models/stacked_model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"

using namespace krohn;

TEST_CASE(
    "a batch of 1,024 positions shares its prefixes, one of 1,025 does not, and both have one loss and gradient") {
  const auto task = make_task("parity");
  const auto model = make_model<double>("deltaproduct:signed,plain,width=8,heads=2,keys=2,values=2,mlp=4", *task, 3);
  TrainingBatch batch = draw_batch(*task, {2, 40}, 1, 0, 6);
  // Words that begin alike.
  for (std::uint32_t position = 0; position < batch.positions / 2; ++position)
    for (std::uint32_t word = 1; word < batch.words; ++word)
      batch.letters[position * batch.words + word] = batch.letters[position * batch.words];
  struct Pass {
    BatchLoss loss;
    std::vector<double> gradient;
  };
  std::vector<Pass> passes;
  for (const std::uint32_t positions : {1024, 1025}) {
    batch.positions = positions;  // behind the ends of all words
    batch.letters.resize(std::size_t{positions} * batch.words);
    Pass pass{{}, std::vector<double>(model->parameters().size(), 0)};
    pass.loss = model->loss(batch, pass.gradient);
    passes.push_back(std::move(pass));
  }
  CHECK(passes[0].loss.targets == batch.targets.size());
  CHECK(passes[0].loss.right == passes[1].loss.right);
  CHECK(passes[0].loss.loss == doctest::Approx(passes[1].loss.loss).epsilon(1e-12));
  double size = 0, apart = 0;
  for (std::size_t i = 0; i < passes[0].gradient.size(); ++i) {
    size += std::abs(passes[0].gradient[i]);
    apart += std::abs(passes[0].gradient[i] - passes[1].gradient[i]);
  }
  CHECK(size > 1e-3);
  CHECK(apart < 1e-10 * size);
}
