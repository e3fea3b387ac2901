#include "krohn/simulate/learned/rotation_planes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "krohn/constructions/files/tensor_values.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/models/bilinear_model.h"

namespace krohn {

std::vector<RotationPlane> rotation_planes(const SequenceModel<float>& model) {
  const std::string name = model.name();
  if (!name.starts_with("bilinear:rotations"))
    throw InputError(fmt::format("the model {} has no angles of its own; those of bilinear:rotations are drawn", name));
  const BilinearShape shape = parse_bilinear_shape(name);
  const std::size_t planes = shape.generated(), letters = model.letters(), labels = model.labels();
  const TensorFile tensors = model.tensors();
  TensorReader reader(tensors);
  const std::vector<double> embedding = reader.reals("embedding", {letters, shape.inputs}),
                            weights = reader.reals("weights", {shape.inputs, planes}),
                            readout = reader.reals("readout", {labels, shape.hidden});
  std::vector<RotationPlane> all(planes);
  for (std::size_t k = 0; k < planes; ++k) {
    RotationPlane& plane = all[k];
    plane.plane = static_cast<std::uint32_t>(k);
    for (std::size_t letter = 0; letter < letters; ++letter) {
      double angle = 0;
      for (std::size_t i = 0; i < shape.inputs; ++i)
        angle += embedding[letter * shape.inputs + i] * weights[i * planes + k];
      plane.turns.push_back(angle / (2 * std::numbers::pi));
    }
    double squares = 0;
    for (std::size_t label = 0; label < labels; ++label)
      for (const std::size_t i : {2 * k, 2 * k + 1})
        squares += readout[label * shape.hidden + i] * readout[label * shape.hidden + i];
    plane.readout = std::sqrt(squares);
  }
  std::ranges::stable_sort(all, std::greater{}, &RotationPlane::readout);
  return all;
}

}  // namespace krohn
