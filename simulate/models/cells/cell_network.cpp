#include "krohn/simulate/models/cells/cell_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "krohn/constructions/files/tensor_values.h"
#include "krohn/simulate/arithmetic/transposed.h"

namespace krohn {
namespace {

/// None where the tensor is absent.
template <class Real>
std::vector<Real> numbers_of(const TensorFile& file, const std::string& name) {
  TensorReader reader(file);
  std::vector<Real> numbers;
  if (!reader.has(name)) return numbers;
  for (const double x : reader.reals(name, reader.shape(name))) numbers.push_back(rounded<Real>(x));
  return numbers;
}

template <class Real>
std::vector<Real> transposed(const std::vector<Real>& rows, std::size_t columns) {
  const std::size_t count = columns == 0 ? 0 : rows.size() / columns;
  std::vector<Real> result(rows.size());
  transpose(rows.data(), count, columns, result.data(), count);
  return result;
}

/// The nearest number of the format, ties to even: for bf16 in a form that compilers vectorise.
template <class Real>
float nearest(float x) {
  if constexpr (sizeof(Real) != 2) return x;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const float even = std::bit_cast<float>((bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u);
  return x != x ? x : even;
}

/// y = bias + Wᵀ x, from the bias on; no bias is zeros. bf16 is computed as Eigen::bfloat16 computes it, every
/// operation in float and then rounded.
template <class Real>
void affine(const Real* x, std::size_t inputs, const std::vector<Real>& weights, const std::vector<Real>& bias,
            std::span<Real> y) {
  using Wide = std::conditional_t<sizeof(Real) == 2, float, Real>;
  std::vector<Wide> sums(sizeof(Real) == 2 ? y.size() : 0);
  Wide* const sum = [&] {
    if constexpr (sizeof(Real) == 2)
      return sums.data();
    else
      return y.data();
  }();
  for (std::size_t j = 0; j < y.size(); ++j) sum[j] = bias.empty() ? Wide(0) : static_cast<Wide>(bias[j]);
  for (std::size_t i = 0; i < inputs; ++i) {
    const Real* const row = weights.data() + i * y.size();
    const Wide by = static_cast<Wide>(x[i]);
    for (std::size_t j = 0; j < y.size(); ++j)
      if constexpr (sizeof(Real) == 2)
        sum[j] = nearest<Real>(sum[j] + nearest<Real>(by * static_cast<Wide>(row[j])));
      else
        sum[j] += by * row[j];
  }
  if constexpr (sizeof(Real) == 2)
    for (std::size_t j = 0; j < y.size(); ++j) y[j] = static_cast<Real>(sum[j]);
}

}  // namespace

std::vector<std::string> cell_names() {
  std::vector<std::string> names;
  for (const Cell<float>& cell : cells<float>()) names.emplace_back(cell.name);
  return names;
}

std::string cell_tensor(const char* what, std::uint32_t layer) { return fmt::format("rnn.{}_l{}", what, layer); }

template <class Real>
CellNetwork<Real>::CellNetwork(const CellShape& shape, Letter letters, const TensorFile& tensors)
    : cell_(find_cell<Real>(shape.cell)), hidden_(shape.hidden) {
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::size_t inputs = i > 0 ? hidden_ : shape.inputs == 0 ? letters : shape.inputs;
    layers_.push_back({transposed(numbers_of<Real>(tensors, cell_tensor("weight_ih", i)), inputs),
                       transposed(numbers_of<Real>(tensors, cell_tensor("weight_hh", i)), hidden_),
                       numbers_of<Real>(tensors, cell_tensor("bias_ih", i)),
                       numbers_of<Real>(tensors, cell_tensor("bias_hh", i))});
  }
  head_ = transposed(numbers_of<Real>(tensors, "head.weight"), hidden_);
  head_bias_ = numbers_of<Real>(tensors, "head.bias");
  std::vector<Real> embedding = numbers_of<Real>(tensors, "embedding.weight");
  const std::size_t inputs = shape.inputs == 0 ? letters : shape.inputs, rows = cell_->gates * hidden_;
  if (shape.inputs == 0) {
    embedding.assign(std::size_t{letters} * letters, Real(0));
    for (Letter letter = 0; letter < letters; ++letter) embedding[letter * (letters + std::size_t{1})] = Real(1);
  }
  by_letter_.resize(letters * rows);
  for (Letter letter = 0; letter < letters; ++letter)
    affine(embedding.data() + letter * inputs, inputs, layers_[0].input, layers_[0].input_bias,
           std::span(by_letter_).subspan(letter * rows, rows));
}

template <class Real>
void CellNetwork<Real>::read(Letter letter, std::span<Real> memory) const {
  const std::size_t rows = cell_->gates * hidden_;
  std::vector<Real> products(2 * rows);  // W x + b and U h + c of a layer
  const std::span<Real> input = std::span(products).first(rows), state = std::span(products).last(rows);
  const Real* below = nullptr;  // the output of the layer below
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    Real* const remembered = memory.data() + i * kept();
    if (i == 0)
      std::copy_n(by_letter_.begin() + static_cast<std::ptrdiff_t>(letter * rows), rows, input.begin());
    else
      affine(below, hidden_, layer.input, layer.input_bias, input);
    affine<Real>(remembered, hidden_, layer.state, layer.state_bias, state);
    cell_->step(hidden_, input.data(), state.data(), remembered);
    below = remembered;
  }
}

template <class Real>
void CellNetwork<Real>::answer(std::span<const Real> memory, std::span<Real> logits) const {
  affine(memory.data() + (layers_.size() - 1) * kept(), hidden_, head_, head_bias_, logits);
}

template class CellNetwork<float>;
template class CellNetwork<double>;
template class CellNetwork<Eigen::bfloat16>;

}  // namespace krohn
