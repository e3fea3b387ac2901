// simulate/models/model_tensors.h — a model's tensors as matrices.
#pragma once

#include <Eigen/Core>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

using RowMajorFloats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The numbers of a tensor, to be read or, where the model is not const, written.
template <class Model>
auto tensor_of(Model& model, std::string_view name, Eigen::Index rows, Eigen::Index columns) {
  using Numbers = std::conditional_t<std::is_const_v<Model>, const RowMajorFloats, RowMajorFloats>;
  const auto numbers = model.tensor(name);
  if (static_cast<Eigen::Index>(numbers.size()) != rows * columns)
    throw std::logic_error("a tensor of another size: " + std::string(name));
  return Eigen::Map<Numbers>(numbers.data(), rows, columns);
}

}  // namespace krohn
