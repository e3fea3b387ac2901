#include "krohn/simulate/arithmetic/rounded_matrix.h"

namespace krohn {

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

Gather gather_of(const SignedPermutationMatrix& matrix) {
  const auto images = matrix.map.images();
  Gather gather = gather_of(Transformation::from_images({images.begin(), images.end()}));
  for (const std::uint32_t j : gather.sources) gather.negative.push_back(matrix.sign[j] < 0);
  return gather;
}

template <class A>
RoundedMatrix<typename A::Number> round_matrix(const Matrix& matrix, Form form) {
  return round_matrix_by<typename A::Number>(matrix, form, [](auto weight) { return round_weight<A>(weight); });
}

template RoundedMatrix<double> round_matrix<Fp64>(const Matrix&, Form);
template RoundedMatrix<float> round_matrix<Fp32>(const Matrix&, Form);
template RoundedMatrix<Eigen::half> round_matrix<Fp16>(const Matrix&, Form);
template RoundedMatrix<Eigen::bfloat16> round_matrix<Bf16>(const Matrix&, Form);

}  // namespace krohn
