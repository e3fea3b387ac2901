// simulate/plain_bilinear.h — bilinear models letter by letter, in the arithmetic of simulate/plain_model.h.
#pragma once

#include <memory>

#include "constructions/safetensors.h"
#include "simulate/bilinear_model.h"
#include "simulate/plain_model.h"

namespace krohn {

/// h ← A(σ) h + b(σ), read out linearly and never scaled. The letters' matrices are made in that arithmetic too.
template <class Real>
std::unique_ptr<PlainModel<Real>> plain_bilinear(const BilinearShape& shape, Letter letters, const TensorFile& tensors);

extern template std::unique_ptr<PlainModel<float>> plain_bilinear(const BilinearShape&, Letter, const TensorFile&);
extern template std::unique_ptr<PlainModel<double>> plain_bilinear(const BilinearShape&, Letter, const TensorFile&);

}  // namespace krohn
