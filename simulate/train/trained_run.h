// simulate/train/trained_run.h — a model trained at one learning rate and seed, with how its training went, kept as a
// file.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "krohn/simulate/train/trainer.h"

namespace krohn {

/// How a training run went.
struct RunRecord {
  double rate = 0;
  std::uint64_t seed = 0, steps = 0;
  std::string end;  ///< to_string(Trainer::State)
  double validation_loss = 0;
  std::uint64_t right = 0, targets = 0;  ///< answers in validation
  double seconds = 0;                    ///< of training; its share where runs were trained side by side
  bool on_device = false;                ///< a part of it at least: sums then have another order

  /// True if there was a validation: with keep_most_right a run may diverge before its first.
  bool is_validated() const { return targets > 0; }
  /// Share of right answers in validation, where there was one.
  std::optional<double> accuracy() const {
    if (!is_validated()) return std::nullopt;
    return static_cast<double>(right) / static_cast<double>(targets);
  }
  bool diverged() const { return end == to_string(Trainer::State::kDiverged); }
};

/// For a trainer that took so many seconds.
RunRecord record_of(const Trainer& trainer, double seconds);

struct TrainedRun {
  RunRecord record;
  std::unique_ptr<SequenceModel<float>> model;
};

/// A run that is being trained, and the file that keeps what was done.
class OpenRun {
 public:
  /// Goes on from the file `checkpoint`, bit for bit, where it is there; empty: nothing is kept. `beside` runs share
  /// the time; `on_device`: who makes the steps. `task` must outlive it. Throws InputError when the file is of another
  /// run.
  OpenRun(const Task& task, std::string_view model, const TrainOptions& options, std::string checkpoint = {},
          std::size_t beside = 1, bool on_device = false);

  Trainer& trainer() { return trainer_; }
  /// Writes the checkpoint, where there is one and the run has not ended.
  void save();
  /// The same once a minute.
  void save_now_and_then();
  /// Returns the result of a run that has ended. The checkpoint stays where it is.
  TrainedRun take();

 private:
  double seconds() const;

  Trainer trainer_;
  std::string checkpoint_;
  double before_ = 0;  ///< seconds that are in the checkpoint
  std::size_t beside_;
  bool on_device_;
  std::chrono::steady_clock::time_point start_, saved_;
};

/// Trains to the end, calling `on_step` after every step. `checkpoint` as OpenRun's: it is written where `on_step`
/// throws, too.
TrainedRun train_run(const Task& task, std::string_view model, const TrainOptions& options,
                     const std::function<void()>& on_step, const std::string& checkpoint = {});

/// As a model file (simulate/models/models.h) whose metadata also hold the record and `description`, which says
/// what was trained.
void save_trained_run(const TrainedRun& run, const std::string& task, const std::string& description,
                      const std::string& path);

/// Throws InputError when it is no such file, or of another description.
TrainedRun load_trained_run(const std::string& description, const std::string& path);

}  // namespace krohn
