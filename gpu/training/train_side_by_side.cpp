#include <algorithm>
#include <utility>
#include <vector>

#include "krohn/gpu/device/device.h"
#include "krohn/gpu/training/device_training.h"
#include "krohn/gpu/training/stepper.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/parallel_for.h"

namespace krohn {
namespace {

/// Steps between two looks at the user.
constexpr std::uint64_t kStepsAtOnce = 32;

void require_alike(std::span<Trainer* const> trainers) {
  for (const Trainer* trainer : trainers) {
    if (trainer->options().optimiser.coupled_decay > 0)
      throw NotOnDevice("a decay that is coupled to the gradient is the processor's; take --device cpu");
    if (trainer->options().contract > 0)
      throw NotOnDevice("cells are trained to contract on the processor; take --device cpu");
    if (trainer->model().name() != trainers[0]->model().name() ||
        trainer->options().words != trainers[0]->options().words ||
        trainer->options().samples != trainers[0]->options().samples ||
        trainer->options().optimiser.clip != trainers[0]->options().optimiser.clip)
      throw InputError("models that are trained side by side need one shape, batch size and clip");
  }
}

/// The runs that are going, their numbers in the place.
class Group {
 public:
  Group(Place place, std::vector<Trainer*> trainers)
      : trainers_(std::move(trainers)),
        stepper_(place, trainers_[0]->model(), static_cast<std::uint32_t>(trainers_.size()),
                 trainers_[0]->batch_of(0).words, static_cast<float>(trainers_[0]->options().optimiser.clip)) {
    for (std::uint32_t i = 0; i < trainers_.size(); ++i)
      stepper_.load(i, trainers_[i]->model().parameters(), trainers_[i]->optimiser().mean,
                    trainers_[i]->optimiser().square);
  }

  /// Steps that no trainer validates in between.
  std::uint64_t steps_to_validation() const {
    std::uint64_t least = UINT64_MAX;
    for (const Trainer* trainer : trainers_) least = std::min(least, trainer->steps_to_validation());
    return least - done_;
  }

  void run(std::uint64_t count) {
    std::vector<ModelStep> steps(trainers_.size());
    for (std::uint64_t i = 0; i < count; ++i, ++done_) {
      for_all([&](std::uint32_t m) {
        const Trainer& trainer = *trainers_[m];
        const std::uint64_t step = trainer.steps() + done_;
        steps[m] = {trainer.batch_of(step), corrected_rate(trainer.options().optimiser, step + 1),
                    kept_share(trainer.options().optimiser, step + 1), corrected_epsilon(step + 1)};
      });
      stepper_.step(steps);
    }
  }

  /// Gives the trainers the parameters that their models have now, which they validate where it is time.
  void hand_back() {
    for_all([&](std::uint32_t i) {
      if (stepper_.has_failed(i)) return trainers_[i]->diverge();
      std::vector<float> parameters(trainers_[i]->model().parameters().size());
      stepper_.store_parameters(i, parameters);
      trainers_[i]->go_on_from(done_, parameters);
    });
    done_ = 0;
  }

  /// And the optimiser's memory, for checkpoints.
  void finish() {
    hand_back();
    for_all([&](std::uint32_t i) {
      AdamW optimiser(trainers_[i]->model().parameters().size());
      stepper_.store_memory(i, optimiser.mean, optimiser.square);
      trainers_[i]->remember(std::move(optimiser));
    });
  }

  bool all_run() const {
    return std::ranges::all_of(trainers_, [](const Trainer* t) { return t->state() == Trainer::State::kRunning; });
  }

  std::uint64_t steps() const { return done_ * trainers_.size(); }

 private:
  /// Trainers do not know of each other, so their own work is done on all threads.
  template <class Body>
  void for_all(const Body& body) const {
    parallel_for(trainers_.size(), 0, [&](std::size_t i) { body(static_cast<std::uint32_t>(i)); });
  }

  std::vector<Trainer*> trainers_;
  Stepper stepper_;
  std::uint64_t done_ = 0;  ///< steps that the trainers do not know of
};

}  // namespace

void train_side_by_side(Place place, std::span<Trainer* const> trainers,
                        const std::function<void(std::uint64_t)>& progress) {
  const FloatEnvironment environment;
  if (trainers.empty()) return;
  require_alike(trainers);
  const auto steps_of_all = [&] {
    std::uint64_t steps = 0;
    for (const Trainer* trainer : trainers) steps += trainer->steps();
    return steps;
  };
  for (;;) {
    std::vector<Trainer*> running;
    for (Trainer* trainer : trainers)
      if (trainer->state() == Trainer::State::kRunning) running.push_back(trainer);
    if (running.empty()) return;
    Group group(place, running);
    try {
      while (group.all_run()) {
        for (std::uint64_t left = group.steps_to_validation(); left > 0; left = group.steps_to_validation()) {
          group.run(std::min(left, kStepsAtOnce));
          if (progress) progress(steps_of_all() + group.steps());
        }
        group.hand_back();
      }
    } catch (const SystemError&) {
      throw;  // what the device holds is lost
    } catch (...) {
      group.finish();
      throw;
    }
    group.finish();
  }
}

}  // namespace krohn
