#include "krohn/simulate/models/models.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/dense_model.h"
#include "krohn/simulate/models/stacked_model.h"

namespace krohn {

namespace {

template <class Real>
struct Family {
  std::string_view name;
  std::unique_ptr<SequenceModel<Real>> (*make)(std::string_view name, Letter letters, std::uint32_t labels,
                                               std::uint64_t seed);
};

/// Makes a Model of the shape that kParse reads from the name.
template <class Real, class Model, auto kParse>
std::unique_ptr<SequenceModel<Real>> made(std::string_view name, Letter letters, std::uint32_t labels,
                                          std::uint64_t seed) {
  return std::make_unique<Model>(kParse(name), letters, labels, seed);
}

/// A family is a line here (docs/adding.md).
template <class Real>
constexpr std::array kFamilies{
    Family<Real>{"bilinear", made<Real, BilinearModel<Real>, parse_bilinear_shape>},
    Family<Real>{"deltaproduct", made<Real, StackedModel<Real>, parse_stacked_shape>},
    Family<Real>{"diagonal", made<Real, StackedModel<Real>, parse_stacked_shape>},
    Family<Real>{"dense", made<Real, DenseModel<Real>, parse_dense_shape>},
    Family<Real>{"fan", made<Real, StackedModel<Real>, parse_stacked_shape>},
};

}  // namespace

template <class Real>
std::unique_ptr<SequenceModel<Real>> make_model(std::string_view name, Letter letters, std::uint32_t labels,
                                                std::uint64_t seed) {
  const FloatEnvironment environment;
  const std::string_view wanted = name.substr(0, name.find(':'));
  std::string known;
  for (const Family<Real>& family : kFamilies<Real>) {
    if (family.name == wanted) return family.make(name, letters, labels, seed);
    known += fmt::format("{}{}:…", known.empty() ? "" : ", ", family.name);
  }
  throw InputError(fmt::format("model \"{}\": the family \"{}\" is not known; there are {}", name, wanted, known));
}

template std::unique_ptr<SequenceModel<float>> make_model(std::string_view, Letter, std::uint32_t, std::uint64_t);
template std::unique_ptr<SequenceModel<double>> make_model(std::string_view, Letter, std::uint32_t, std::uint64_t);

}  // namespace krohn
