// simulate/models/models.h — the models of the papers by name.
#pragma once

#include <memory>
#include <string_view>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

/// A model of that name with random parameters, the same on every machine:
///
///   bilinear:…      Ebrahimi & Memisevic 2025 (simulate/models/bilinear_model.h)
///   deltaproduct:…  products of generalized Householder matrices (simulate/models/reflection_mixer.h)
///   diagonal:…      Mamba's recurrence, and the one that does not depend on the input
///   (simulate/models/diagonal_mixer.h) dense:…         the full-matrix baseline of Grazzi et al. 2025
///   (simulate/models/dense_model.h) fan:…           Fan et al. 2024 (simulate/models/block_mixer.h)
///
/// Throws InputError listing the families, or naming the part that the family does not know or that does not fit.
template <class Real>
std::unique_ptr<SequenceModel<Real>> make_model(std::string_view name, Letter letters, std::uint32_t labels,
                                                std::uint64_t seed);

extern template std::unique_ptr<SequenceModel<float>> make_model(std::string_view, Letter, std::uint32_t,
                                                                 std::uint64_t);
extern template std::unique_ptr<SequenceModel<double>> make_model(std::string_view, Letter, std::uint32_t,
                                                                  std::uint64_t);

}  // namespace krohn
