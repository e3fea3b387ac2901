#include "krohn/simulate/learned/deterministic_released.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "krohn/simulate/learned/deterministic_layers.h"
#include "krohn/simulate/models/released_model.h"

namespace krohn {
namespace {

template <class Real>
class DeterministicReleased : public DeterministicModel<Real> {
 public:
  using typename DeterministicModel<Real>::Part;

  DeterministicReleased(const ReleasedShape& shape, Letter letters, const TensorFile& tensors)
      : shape_(shape),
        embedding_(plain_numbers<Real>(tensors, "embedding")),
        norm_(norm_of(tensors, "norm")),
        head_(affine_of(tensors, "head")),
        readout_(affine_of(tensors, "readout")) {
    for (std::uint32_t i = 0; i < shape.layers; ++i) {
      const std::string prefix = fmt::format("layer{}.", i);
      layers_.push_back({norm_of(tensors, prefix + "norm"), affine_of(tensors, prefix + "block_in"),
                         affine_of(tensors, prefix + "block_out"), affine_of(tensors, prefix + "value_in"),
                         affine_of(tensors, prefix + "value_out"), plain_numbers<Real>(tensors, prefix + "start")});
    }
    for (Letter letter = 0; letter < letters; ++letter) looked_.push_back(look(layers_[0], embedding_of(letter)));
  }

  std::vector<Real> start() const override {
    std::vector<Real> memory;
    for (const Layer& layer : layers_) memory.insert(memory.end(), layer.start.begin(), layer.start.end());
    return memory;
  }

  std::vector<Part> states() const override {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < layers_.size(); ++i) parts.push_back({i * width(), width()});
    return parts;
  }

  std::vector<StateBlock> blocks() const override {
    std::vector<StateBlock> all;
    for (std::size_t block = 0; block < shape_.blocks; ++block) all.push_back({block * shape_.size, shape_.size, 1});
    return all;
  }

  LetterMaps letter_maps(Letter letter) const override {
    LetterMaps result;
    const auto size = static_cast<Eigen::Index>(shape_.size);
    for (std::size_t block = 0; block < shape_.blocks; ++block)
      result.matrices.push_back(Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>>(
                                    looked_[letter].blocks.data() + block * shape_.size * shape_.size, size, size)
                                    .template cast<double>());
    return result;
  }

  void read(Letter letter, std::span<Real> memory, std::span<Real> logits) const override {
    std::vector<Real> x = embedding_of(letter);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const std::span<Real> state = memory.subspan(i * width(), width());
      step(i == 0 ? looked_[letter] : look(layers_[i], x), state);
      if (i + 1 == layers_.size()) break;
      for (std::size_t j = 0; j < width(); ++j) x[j] = state[j] + x[j];
    }
    for (Real& each : memory) each += Real(0);  // −0 is remembered as +0
    if (logits.empty()) return;
    const auto last = memory.last(width());
    const std::vector<Real> head = relu(head_(norm_({last.begin(), last.end()})));
    std::ranges::copy(readout_(head), logits.begin());
  }

 private:
  struct Affine {
    std::vector<Real> weights, bias;
    std::vector<Real> operator()(const std::vector<Real>& x) const {
      std::vector<Real> y = bias;
      add_plain_product<Real>(x, weights, y);
      return y;
    }
  };

  /// gain ∘ (x − mean) / √(variance + 10⁻⁵) + bias.
  struct Norm {
    std::vector<Real> gain, bias;
    std::vector<Real> operator()(std::vector<Real> x) const {
      const auto count = static_cast<Real>(x.size());
      Real mean = 0, variance = 0;
      for (const Real each : x) mean += each;
      mean /= count;
      for (Real& each : x) each -= mean;
      for (const Real each : x) variance += each * each;
      const Real root = std::sqrt(variance / count + Real(1e-5));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = x[i] * gain[i] / root + bias[i];
      return x;
    }
  };

  struct Layer {
    Norm norm;
    Affine block_in, block_out, value_in, value_out;
    std::vector<Real> start;
  };

  /// What a layer knows of its input: columns of blocks one after another, and what is added.
  struct Looked {
    std::vector<Real> blocks, added;
  };

  static Affine affine_of(const TensorFile& tensors, const std::string& name) {
    return {plain_numbers<Real>(tensors, name), plain_numbers<Real>(tensors, name + "_bias")};
  }
  static Norm norm_of(const TensorFile& tensors, const std::string& name) {
    return {plain_numbers<Real>(tensors, name), plain_numbers<Real>(tensors, name + "_bias")};
  }
  static std::vector<Real> relu(std::vector<Real> x) {
    for (Real& each : x) each = std::max(each, Real{0});
    return x;
  }

  std::size_t width() const { return shape_.width(); }
  std::vector<Real> embedding_of(Letter letter) const {
    const auto first = embedding_.begin() + static_cast<std::ptrdiff_t>(letter * width());
    return {first, first + static_cast<std::ptrdiff_t>(width())};
  }

  Looked look(const Layer& layer, const std::vector<Real>& x) const {
    const std::vector<Real> normed = layer.norm(x);
    Looked looked{layer.block_out(relu(layer.block_in(normed))), layer.value_out(relu(layer.value_in(normed)))};
    const std::size_t block = std::size_t{shape_.size} * shape_.size;
    for (std::size_t first = 0; first < looked.blocks.size(); first += block)
      divide(std::span(looked.blocks).subspan(first, block));
    return looked;
  }

  /// Every column less its mean, all over the greatest p-norm of a column; 0 where all columns are constant.
  void divide(std::span<Real> block) const {
    double greatest = 0;
    for (std::size_t first = 0; first < block.size(); first += shape_.size) {
      const std::span<Real> column = block.subspan(first, shape_.size);
      Real mean = 0;
      for (const Real each : column) mean += each;
      mean /= static_cast<Real>(shape_.size);
      for (Real& each : column) each -= mean;
      double sum = 0;
      for (const Real each : column) sum += stated::pow(std::abs(static_cast<double>(each)), shape_.norm);
      greatest = std::max(greatest, sum);
    }
    if (greatest == 0) return;
    const auto norm = static_cast<Real>(stated::pow(greatest, 1 / shape_.norm));
    for (Real& each : block) each /= norm;
  }

  void step(const Looked& looked, std::span<Real> state) const {
    const std::size_t size = shape_.size;
    std::vector<Real> next = looked.added;
    for (std::size_t column = 0; column < width(); ++column)
      for (std::size_t row = 0; row < size; ++row)
        next[column / size * size + row] += looked.blocks[column * size + row] * state[column];
    std::ranges::copy(next, state.begin());
  }

  ReleasedShape shape_;
  std::vector<Real> embedding_;
  Norm norm_;
  Affine head_, readout_;
  std::vector<Layer> layers_;
  std::vector<Looked> looked_;  ///< letter ↦ all that the first layer knows of it
};

}  // namespace

template <class Real>
std::unique_ptr<DeterministicModel<Real>> plain_released(const SequenceModel<float>& model) {
  return std::make_unique<DeterministicReleased<Real>>(parse_released_shape(model.name()), model.letters(),
                                                       model.tensors());
}

template std::unique_ptr<DeterministicModel<float>> plain_released(const SequenceModel<float>&);
template std::unique_ptr<DeterministicModel<double>> plain_released(const SequenceModel<float>&);

}  // namespace krohn
