// simulate/train/trained_run.h — a model trained at one learning rate and seed, with how its training went, kept as a
// file.
#pragma once

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
  double seconds = 0;                    ///< of training

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

/// Trains to the end, calling `on_step` after every step. `checkpoint`: a file that keeps what was done now and then,
/// and where `on_step` throws; the same call goes on from it, bit for bit, and leaves it there. Empty: nothing is kept.
/// Throws InputError when it is of another run.
TrainedRun train_run(const Task& task, std::string_view model, const TrainOptions& options,
                     const std::function<void()>& on_step, const std::string& checkpoint = {});

/// As a model file (simulate/models/models.h) whose metadata also hold the record and `description`, which says
/// what was trained.
void save_trained_run(const TrainedRun& run, const std::string& task, const std::string& description,
                      const std::string& path);

/// Throws InputError when it is no such file, or of another description.
TrainedRun load_trained_run(const std::string& description, const std::string& path);

}  // namespace krohn
