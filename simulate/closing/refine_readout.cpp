#include "krohn/simulate/closing/refine_readout.h"

#include <algorithm>

#include "krohn/groups/float_environment.h"
#include "krohn/groups/interruption.h"
#include "krohn/simulate/train/optimiser.h"

namespace krohn {

std::uint64_t refine_readout(SequenceModel<float>& model, const Task& task, const TrainOptions& options,
                             const std::vector<bool>& is_free, std::uint64_t most,
                             const std::function<bool()>& is_done) {
  constexpr std::uint64_t kAskEvery = 100, kFirstSample = std::uint64_t{1} << 59;  // samples that no other step reads
  const FloatEnvironment environment;
  if (is_done()) return 0;
  OptimiserOptions by = options.optimiser;
  by.schedule = Schedule::kConstant;
  by.warm_up = 0;
  by.weight_decay = 0;
  by.clip = 1;
  AdamW optimiser(model.parameters().size());
  std::vector<float> gradient(model.parameters().size());
  for (std::uint64_t step = 1; step <= most; ++step) {
    Interruption::check();
    TrainingBatch batch = draw_batch(task, options.lengths, options.seed_of_samples(),
                                     kFirstSample + step * options.words, options.words);
    for (TrainingBatch::Target& target : batch.targets) target.smoothing = static_cast<float>(options.smoothing);
    std::ranges::fill(gradient, 0.f);
    const BatchLoss loss = model.loss(batch, gradient);
    // Without a gradient and its memory Adam leaves a parameter alone, to the bit.
    for (std::size_t i = 0; i < gradient.size(); ++i)
      if (!is_free[i]) gradient[i] = 0;
    if (!optimiser.step(by, step, 0, gradient, model.parameters())) return most;
    if (step % kAskEvery == 0 && loss.right == loss.targets && is_done()) return step;
  }
  return most;
}

}  // namespace krohn
