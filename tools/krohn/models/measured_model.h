// tools/krohn/models/measured_model.h — how often a run of `krohn train`, or a checkpoint, is right, by length.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "krohn/automata/language.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "tools/krohn/pictures/pictures.h"

namespace krohn {

struct MeasureOptions {
  std::string folder;  ///< of a run or a checkpoint, or the parameters of a run
  std::uint64_t words = 1000, seed = EvaluateModelOptions{}.seed;
  unsigned threads = 0;
  std::string device = "cpu";
  LanguageOptions reading;
  bool rescaled = false;
};

/// A model with samples of what it should do.
class MeasuredModel {
 public:
  virtual ~MeasuredModel() = default;
  /// Throws InputError for a length that the task does not have.
  virtual ModelAccuracy at(std::uint64_t length) = 0;
  /// The first length that the task has, from this one on.
  virtual std::uint64_t length_from(std::uint64_t length) const = 0;

  std::string model, task, reading;  ///< their names
  double chance = 0;
  bool on_cuda = false;
};

/// Throws InputError for options that its kind of model does not have.
std::unique_ptr<MeasuredModel> load_measured_model(const MeasureOptions& options);

/// The lengths that a run was trained on, by its run.json; nothing where none is there to tell.
LengthRange trained_lengths(const std::string& folder);

/// The point of a plot: accuracy and its interval, scaled.
AccuracyPoint accuracy_point(const ModelAccuracy& at, double chance);
nlohmann::ordered_json accuracy_json(const ModelAccuracy& at, double chance);

}  // namespace krohn
