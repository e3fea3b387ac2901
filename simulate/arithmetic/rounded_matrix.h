// simulate/arithmetic/rounded_matrix.h — a structured matrix with its weights rounded to a format, ready to be applied.
#pragma once

#include <cmath>

#include "krohn/constructions/network/matrix.h"
#include "krohn/simulate/arithmetic/apply.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/order.h"

namespace krohn {

Gather gather_of(const Transformation& map);
SignedGather signed_gather_of(const SignedPermutationMatrix& matrix);

template <class Number>
RoundedDense<Number> round_dense(const auto& values, const auto& round) {
  RoundedDense<Number> dense;
  dense.dimension = static_cast<std::uint32_t>(values.rows());
  dense.rows.reserve(static_cast<std::size_t>(values.size()));
  for (Eigen::Index i = 0; i < values.rows(); ++i)
    for (Eigen::Index j = 0; j < values.cols(); ++j) dense.rows.push_back(round(values(i, j)));
  return dense;
}

template <class Number>
typename RoundedReflections<Number>::Factor round_factor(const Reflection& reflection, const auto& round) {
  typename RoundedReflections<Number>::Factor factor{{}, round(reflection.beta)};
  if (reflection.entries.empty()) {
    factor.entries.push_back({reflection.plane, round(reflection.angle.cosine())});
    factor.entries.push_back({reflection.plane + 1, round(reflection.angle.sine())});
    return factor;
  }
  const long double scale = std::sqrt(static_cast<long double>(reflection.scale_squared_numerator) /
                                      static_cast<long double>(reflection.scale_squared_denominator));
  for (const auto& entry : reflection.entries)
    factor.entries.push_back({entry.position, round(scale * static_cast<long double>(entry.value))});
  return factor;
}

/// One case per structured form.
template <class Number, class Round>
struct RoundStructured {
  using Result = RoundedMatrix<Number>;
  const Round& round;

  Result operator()(const MapMatrix& matrix) const { return gather_of(matrix.map); }
  Result operator()(const SignedPermutationMatrix& matrix) const { return signed_gather_of(matrix); }

  Result operator()(const ReflectionProduct& product) const {
    RoundedReflections<Number> rounded{product.dimension, {}};
    for (const Reflection& factor : product.factors) rounded.factors.push_back(round_factor<Number>(factor, round));
    return rounded;
  }

  Result operator()(const RotationBlocks& rotation) const {
    RoundedBlocks<Number> rounded;
    std::uint32_t position = 0;
    for (const auto& block : rotation.blocks) {
      const Number sine = round(block.turn.sine());
      rounded.blocks.push_back({position, block.is_sign, block.turn.cosine() < 0,
                                round(block.is_sign ? 1.0L : block.turn.cosine()), sine, -sine});
      position += block.is_sign ? 1 : 2;
    }
    return rounded;
  }

  Result operator()(const DiagonalMatrix& diagonal) const {
    RoundedDiagonal<Number> rounded;
    for (const double value : diagonal.values) rounded.values.push_back(round(value));
    return rounded;
  }

  Result operator()(const ZeroMatrix& zero) const { return RoundedZero{zero.dimension}; }
  Result operator()(const DenseMatrix& dense) const { return round_dense<Number>(dense.values, round); }

  Result operator()(const BlockDiagonalMatrix& matrix) const {
    RoundedBlockDiagonal<Number> rounded;
    for (const auto& block : matrix.blocks) rounded.blocks.push_back(round_dense<Number>(block, round));
    return rounded;
  }

  Result operator()(const FactoredMatrix& factored) const {
    SparseTerms rounded{factored.dimension, {}};
    for (const std::uint32_t term : factored.gate)
      rounded.terms.push_back({factored.outputs[term], factored.inputs[term]});
    return rounded;
  }
};

/// Every weight is computed in long double from the exact description; `round` makes a number of it.
template <class Number, class Round>
RoundedMatrix<Number> round_matrix_by(const Matrix& matrix, Form form, const Round& round) {
  if (form == Form::kDense) return round_dense<Number>(to_dense(matrix), round);
  return std::visit(RoundStructured<Number, Round>{round}, matrix);
}

/// The same, rounded once, to nearest, ties to even. Defined for the four formats.
template <class Format>
RoundedMatrix<typename Format::Number> round_matrix(const Matrix& matrix, Form form);

}  // namespace krohn
