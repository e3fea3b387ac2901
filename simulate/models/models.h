// simulate/models/models.h — the models of the papers by name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// The parts of a name, taken one by one. All functions throw InputError with the part and the family's grammar.
class ModelParts {
 public:
  /// `grammar`: the sentence that says what the family takes. Throws when a part stands twice.
  ModelParts(std::string_view text, std::string grammar);

  std::string_view family() const { return family_; }
  /// True if the part stands there without a value.
  bool has(std::string_view part);
  /// KEY=N with least ≤ N ≤ greatest, or nothing.
  std::optional<std::uint32_t> count(std::string_view key, std::uint32_t least = 1, std::uint32_t greatest = 1 << 14);
  /// KEY=X with 0 < X and least ≤ X ≤ greatest, or nothing.
  std::optional<double> positive(std::string_view key, double greatest = 100, double least = 0);
  /// Throws naming the first part that nobody took.
  void require_all_taken() const;
  /// Throws with the whole name, what is wrong with it, and no grammar.
  [[noreturn]] void refuse(std::string_view why) const;

 private:
  struct Part {
    std::string_view text, key;
    std::optional<std::string_view> value;
    bool taken = false;
  };
  Part* take(std::string_view key, bool valued);
  [[noreturn]] void refuse(const Part& part, std::string_view needed) const;

  std::string text_, grammar_;
  std::string_view family_;
  std::vector<Part> parts_;
};

struct TrainedModel {
  std::string task;                             ///< its name; restored_task makes it
  std::map<std::string, std::string> metadata;  ///< all of the file
  std::unique_ptr<SequenceModel<float>> model;
};

/// Parameters by name, F32; metadata `format` = "krohn.model", `version` = "1", `task`, `model`, `letters`, `labels`,
/// and whatever else is given, of which `stored_task` (simulate/tasks/tasks.h) is what tells the task for
/// certain.
std::string format_model(const std::string& task, const SequenceModel<float>& model,
                         const std::map<std::string, std::string>& metadata = {});
void save_model(const std::string& task, const SequenceModel<float>& model, const std::string& path,
                const std::map<std::string, std::string>& metadata = {});

/// Throws InputError when it is no such file, or its tensors are not those of its model.
TrainedModel load_model(const std::string& path);

/// One family of models, for people who choose.
struct ModelFamily {
  std::string pattern;  ///< "deltaproduct:layers=L,width=D,…"
  std::string summary;  ///< one line
  std::string source;   ///< the paper
};

/// Every family, and the usual names that stand for one of them with some of its parts: "mamba", "deltanet", "s4d".
std::vector<ModelFamily> model_families();

/// The names that a model begins with: those of the families and the usual ones.
std::vector<std::string> model_names();

/// A model of that name with random parameters, the same on every machine: `model_families` prints what there is, the
/// headers beside this one (bilinear_model.h, mixers.h, dense_model.h) say
/// what it computes. "mamba:width=16" is "diagonal:width=16".
///
/// Throws InputError naming what is near or listing the families, or naming the part that the family does not know or
/// that does not fit.
template <class Real>
std::unique_ptr<SequenceModel<Real>> make_model(std::string_view name, Letter letters, std::uint32_t labels,
                                                std::uint64_t seed);

/// For the tokens and the answers of a task.
template <class Real>
std::unique_ptr<SequenceModel<Real>> make_model(std::string_view name, const Task& task, std::uint64_t seed) {
  return make_model<Real>(name, task.alphabet().size(), static_cast<std::uint32_t>(task.labels().size()), seed);
}

}  // namespace krohn
