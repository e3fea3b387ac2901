#include "krohn/simulate/learned/deterministic_bilinear.h"

#include <algorithm>
#include <cmath>

#include "krohn/groups/stated_functions.h"
#include "krohn/simulate/learned/deterministic_layers.h"

namespace krohn {
namespace {

template <class Real>
class DeterministicBilinear : public DeterministicModel<Real> {
 public:
  using typename DeterministicModel<Real>::Part;

  DeterministicBilinear(const BilinearShape& shape, Letter letters, const TensorFile& tensors)
      : hidden_(shape.hidden),
        block_(shape.block_size()),
        initial_(plain_numbers<Real>(tensors, "initial")),
        readout_(plain_numbers<Real>(tensors, "readout")),
        bias_(plain_numbers<Real>(tensors, "readout_bias")) {
    if (shape.scale_free) bias_.assign(readout_.size() / hidden_, 0);
    const auto embedding = plain_numbers<Real>(tensors, "embedding"), weights = plain_numbers<Real>(tensors, "weights"),
               left = plain_numbers<Real>(tensors, "left"), right = plain_numbers<Real>(tensors, "right"),
               constant = plain_numbers<Real>(tensors, "bias"), by_input = plain_numbers<Real>(tensors, "input_bias");
    for (Letter letter = 0; letter < letters; ++letter) {
      const std::span<const Real> x = std::span(embedding).subspan(letter * shape.inputs, shape.inputs);
      matrices_.push_back(matrix_of(shape, plain_product(x, weights), left, right));
      additions_.push_back(constant.empty() ? std::vector<Real>(hidden_, 0) : constant);
      if (!by_input.empty()) add_plain_product<Real>(x, by_input, additions_.back());
      for (Real& number : additions_.back()) number += Real{0};  // no −0
    }
  }

  std::vector<Real> start() const override { return initial_; }
  std::vector<Part> states() const override { return {{0, hidden_}}; }
  bool is_homogeneous() const override {
    return std::ranges::all_of(additions_, [](const std::vector<Real>& added) {
      return std::ranges::all_of(added, [](Real number) { return number == 0; });
    });
  }

  std::vector<StateBlock> blocks() const override {
    std::vector<StateBlock> all;
    for (std::size_t first = 0; first < hidden_; first += block_) all.push_back({first, block_, 1});
    return all;
  }

  LetterMaps letter_maps(Letter letter) const override {
    using Rows = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto size = static_cast<Eigen::Index>(block_);
    LetterMaps maps;
    for (std::size_t first = 0; first < hidden_; first += block_)
      maps.matrices.push_back(
          Eigen::Map<const Rows>(matrices_[letter].data() + first * block_, size, size).template cast<double>());
    return maps;
  }

  void read(Letter letter, std::span<Real> memory, std::span<Real> logits) const override {
    std::vector<Real> next(hidden_, 0);
    for (std::size_t row = 0; row < hidden_; ++row)
      for (std::size_t column = 0; column < block_; ++column)
        next[row] += matrices_[letter][row * block_ + column] * memory[row / block_ * block_ + column];
    // −0 becomes +0: no addition is −0.
    for (std::size_t i = 0; i < hidden_; ++i) memory[i] = next[i] + additions_[letter][i];
    for (std::size_t l = 0; l < logits.size(); ++l) {
      logits[l] = bias_[l];
      for (std::size_t i = 0; i < hidden_; ++i) logits[l] += readout_[l * hidden_ + i] * memory[i];
    }
  }

 private:
  /// The rows of all blocks, one after another, from the numbers that the embedding gives.
  std::vector<Real> matrix_of(const BilinearShape& shape, const std::vector<Real>& given, const std::vector<Real>& left,
                              const std::vector<Real>& right) const {
    if (shape.form == BilinearShape::Form::kFull || shape.form == BilinearShape::Form::kBlocks) return given;
    std::vector<Real> matrix;
    if (shape.form == BilinearShape::Form::kRotations) {
      for (const Real angle : given) {
        const auto c = static_cast<Real>(stated::cos(static_cast<double>(angle))),
                   s = static_cast<Real>(stated::sin(static_cast<double>(angle)));
        matrix.insert(matrix.end(), {c, -s, s, c});
      }
      return matrix;
    }
    const std::size_t rank = given.size();
    matrix.assign(hidden_ * hidden_, 0);
    for (std::size_t i = 0; i < hidden_; ++i)
      for (std::size_t j = 0; j < hidden_; ++j)
        for (std::size_t r = 0; r < rank; ++r)
          matrix[i * hidden_ + j] += left[i * rank + r] * given[r] * right[j * rank + r];
    return matrix;
  }

  std::size_t hidden_, block_;
  std::vector<Real> initial_, readout_, bias_;
  std::vector<std::vector<Real>> matrices_, additions_;  ///< by letter
};

}  // namespace

template <class Real>
std::unique_ptr<DeterministicModel<Real>> plain_bilinear(const BilinearShape& shape, Letter letters,
                                                         const TensorFile& tensors) {
  return std::make_unique<DeterministicBilinear<Real>>(shape, letters, tensors);
}

template std::unique_ptr<DeterministicModel<float>> plain_bilinear(const BilinearShape&, Letter, const TensorFile&);
template std::unique_ptr<DeterministicModel<double>> plain_bilinear(const BilinearShape&, Letter, const TensorFile&);

}  // namespace krohn
