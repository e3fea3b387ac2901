#include "krohn/simulate/models/models.h"

#include <fmt/format.h>

#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/dense_model.h"
#include "krohn/simulate/models/stacked_model.h"

namespace krohn {

template <class Real>
std::unique_ptr<SequenceModel<Real>> make_model(std::string_view name, Letter letters, std::uint32_t labels,
                                                std::uint64_t seed) {
  const FloatEnvironment environment;
  const std::string_view family = name.substr(0, name.find(':'));
  if (family == "bilinear")
    return std::make_unique<BilinearModel<Real>>(parse_bilinear_shape(name), letters, labels, seed);
  if (family == "dense") return std::make_unique<DenseModel<Real>>(parse_dense_shape(name), letters, labels, seed);
  if (family == "deltaproduct" || family == "diagonal" || family == "fan")
    return std::make_unique<StackedModel<Real>>(parse_stacked_shape(name), letters, labels, seed);
  throw InputError(fmt::format("model \"{}\": the family \"{}\" is not known; there are {}", name, family,
                               "bilinear:…, deltaproduct:…, diagonal:…, dense:… and fan:…"));
}

template std::unique_ptr<SequenceModel<float>> make_model(std::string_view, Letter, std::uint32_t, std::uint64_t);
template std::unique_ptr<SequenceModel<double>> make_model(std::string_view, Letter, std::uint32_t, std::uint64_t);

}  // namespace krohn
