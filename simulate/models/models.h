// simulate/models/models.h — the models of the papers by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

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
/// headers beside this one (bilinear_model.h, reflection_mixer.h, diagonal_mixer.h, dense_model.h, block_mixer.h) say
/// what it computes. "mamba:width=16" is "diagonal:width=16".
///
/// Throws InputError naming what is near or listing the families, or naming the part that the family does not know or
/// that does not fit.
template <class Real>
std::unique_ptr<SequenceModel<Real>> make_model(std::string_view name, Letter letters, std::uint32_t labels,
                                                std::uint64_t seed);

extern template std::unique_ptr<SequenceModel<float>> make_model(std::string_view, Letter, std::uint32_t,
                                                                 std::uint64_t);
extern template std::unique_ptr<SequenceModel<double>> make_model(std::string_view, Letter, std::uint32_t,
                                                                  std::uint64_t);

/// For the tokens and the answers of a task.
template <class Real>
std::unique_ptr<SequenceModel<Real>> make_model(std::string_view name, const Task& task, std::uint64_t seed) {
  return make_model<Real>(name, task.alphabet().size(), static_cast<std::uint32_t>(task.labels().size()), seed);
}

}  // namespace krohn
