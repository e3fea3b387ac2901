// simulate/learned/deterministic_cell.h — models of nonlinear cells (simulate/models/cells/) as deterministic ones.
// Their letters act by no matrices, so that there is nothing in `blocks`.
#pragma once

#include <memory>

#include "krohn/simulate/learned/deterministic_model.h"

namespace krohn {

/// Whether the model is one; then it is read in bf16, too.
bool is_cell_model(const SequenceModel<float>& model);

/// Real is float, double or Eigen::bfloat16: weights are rounded to it, and every product, sum, σ and tanh.
template <class Real>
std::unique_ptr<DeterministicModel<Real>> plain_cell(const SequenceModel<float>& model);

extern template std::unique_ptr<DeterministicModel<float>> plain_cell(const SequenceModel<float>&);
extern template std::unique_ptr<DeterministicModel<double>> plain_cell(const SequenceModel<float>&);
extern template std::unique_ptr<DeterministicModel<Eigen::bfloat16>> plain_cell(const SequenceModel<float>&);

}  // namespace krohn
