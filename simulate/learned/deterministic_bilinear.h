// simulate/learned/deterministic_bilinear.h — bilinear models letter by letter, in the arithmetic of
// simulate/learned/deterministic_model.h.
#pragma once

#include <memory>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/learned/deterministic_model.h"
#include "krohn/simulate/models/bilinear_model.h"

namespace krohn {

/// h ← A(σ) h + b(σ), read out linearly and never scaled. The letters' matrices are made in that arithmetic too.
template <class Real>
std::unique_ptr<DeterministicModel<Real>> plain_bilinear(const BilinearShape& shape, Letter letters,
                                                         const TensorFile& tensors);

extern template std::unique_ptr<DeterministicModel<float>> plain_bilinear(const BilinearShape&, Letter,
                                                                          const TensorFile&);
extern template std::unique_ptr<DeterministicModel<double>> plain_bilinear(const BilinearShape&, Letter,
                                                                           const TensorFile&);

}  // namespace krohn
