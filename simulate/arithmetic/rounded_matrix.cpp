#include "krohn/simulate/arithmetic/rounded_matrix.h"

#include <cmath>

namespace krohn {
namespace {

Gather gather_of(const Transformation& map) {
  Gather gather;
  const Point n = map.degree();
  gather.first.assign(std::size_t{n} + 1, 0);
  for (Point j = 0; j < n; ++j) ++gather.first[map[j] + 1];
  for (Point i = 0; i < n; ++i) gather.first[i + 1] += gather.first[i];
  gather.sources.resize(n);
  std::vector<std::uint32_t> filled(gather.first.begin(), gather.first.end() - 1);
  for (Point j = 0; j < n; ++j) gather.sources[filled[map[j]]++] = j;
  return gather;
}

SignedGather signed_gather_of(const SignedPermutationMatrix& matrix) {
  SignedGather gather;
  gather.source.resize(matrix.map.degree());
  gather.negative.resize(matrix.map.degree());
  for (Point j = 0; j < matrix.map.degree(); ++j) {
    gather.source[matrix.map[j]] = j;
    gather.negative[matrix.map[j]] = matrix.sign[j] < 0;
  }
  return gather;
}

template <class A>
RoundedDense<typename A::Number> round_dense(const auto& values) {
  RoundedDense<typename A::Number> dense;
  dense.dimension = static_cast<std::uint32_t>(values.rows());
  dense.rows.reserve(static_cast<std::size_t>(values.size()));
  for (Eigen::Index i = 0; i < values.rows(); ++i)
    for (Eigen::Index j = 0; j < values.cols(); ++j) dense.rows.push_back(round_weight<A>(values(i, j)));
  return dense;
}

template <class A>
typename RoundedReflections<typename A::Number>::Factor round_factor(const Reflection& reflection) {
  typename RoundedReflections<typename A::Number>::Factor factor{{}, round_weight<A>(reflection.beta)};
  if (reflection.entries.empty()) {
    factor.entries.push_back({reflection.plane, round_weight<A>(reflection.angle.cosine())});
    factor.entries.push_back({reflection.plane + 1, round_weight<A>(reflection.angle.sine())});
    return factor;
  }
  const long double scale = std::sqrt(static_cast<long double>(reflection.scale_squared_numerator) /
                                      static_cast<long double>(reflection.scale_squared_denominator));
  for (const auto& entry : reflection.entries)
    factor.entries.push_back({entry.position, round_weight<A>(scale * static_cast<long double>(entry.value))});
  return factor;
}

/// One case per structured form.
template <class A>
struct RoundStructured {
  using Number = typename A::Number;
  using Result = RoundedMatrix<Number>;

  Result operator()(const MapMatrix& matrix) const { return gather_of(matrix.map); }
  Result operator()(const SignedPermutationMatrix& matrix) const { return signed_gather_of(matrix); }

  Result operator()(const ReflectionProduct& product) const {
    RoundedReflections<Number> rounded{product.dimension, {}};
    for (const Reflection& factor : product.factors) rounded.factors.push_back(round_factor<A>(factor));
    return rounded;
  }

  Result operator()(const RotationBlocks& rotation) const {
    RoundedBlocks<Number> rounded;
    std::uint32_t position = 0;
    for (const auto& block : rotation.blocks) {
      const Number sine = round_weight<A>(block.turn.sine());
      rounded.blocks.push_back(
          {position, block.is_sign, block.turn.cosine() < 0, round_weight<A>(block.turn.cosine()), sine, -sine});
      position += block.is_sign ? 1 : 2;
    }
    return rounded;
  }

  Result operator()(const DiagonalMatrix& diagonal) const {
    RoundedDiagonal<Number> rounded;
    for (const double value : diagonal.values) rounded.values.push_back(round_weight<A>(value));
    return rounded;
  }

  Result operator()(const ZeroMatrix& zero) const { return RoundedZero{zero.dimension}; }
  Result operator()(const DenseMatrix& dense) const { return round_dense<A>(dense.values); }

  Result operator()(const BlockDiagonalMatrix& matrix) const {
    RoundedBlockDiagonal<Number> rounded;
    for (const auto& block : matrix.blocks) rounded.blocks.push_back(round_dense<A>(block));
    return rounded;
  }

  Result operator()(const FactoredMatrix& factored) const {
    SparseTerms rounded{factored.dimension, {}};
    for (const std::uint32_t term : factored.gate)
      rounded.terms.push_back({factored.outputs[term], factored.inputs[term]});
    return rounded;
  }
};

}  // namespace

template <class A>
RoundedMatrix<typename A::Number> round_matrix(const Matrix& matrix, Form form) {
  if (form == Form::kDense) return round_dense<A>(to_dense(matrix));
  return std::visit(RoundStructured<A>{}, matrix);
}

template RoundedMatrix<double> round_matrix<Fp64>(const Matrix&, Form);
template RoundedMatrix<float> round_matrix<Fp32>(const Matrix&, Form);
template RoundedMatrix<Eigen::half> round_matrix<Fp16>(const Matrix&, Form);
template RoundedMatrix<Eigen::bfloat16> round_matrix<Bf16>(const Matrix&, Form);

}  // namespace krohn
