// simulate/learned/deterministic_released.h — Fan et al.'s model as released (simulate/models/released_model.h) in
// plain arithmetic.
#pragma once

#include <memory>

#include "krohn/simulate/learned/deterministic_model.h"

namespace krohn {

/// Real is float or double.
template <class Real>
std::unique_ptr<DeterministicModel<Real>> plain_released(const SequenceModel<float>& model);

extern template std::unique_ptr<DeterministicModel<float>> plain_released(const SequenceModel<float>&);
extern template std::unique_ptr<DeterministicModel<double>> plain_released(const SequenceModel<float>&);

}  // namespace krohn
