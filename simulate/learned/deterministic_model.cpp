#include "krohn/simulate/learned/deterministic_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "krohn/groups/error.h"
#include "krohn/simulate/learned/deterministic_bilinear.h"
#include "krohn/simulate/learned/deterministic_cell.h"
#include "krohn/simulate/learned/deterministic_layers.h"
#include "krohn/simulate/learned/deterministic_mixer.h"
#include "krohn/simulate/learned/deterministic_released.h"
#include "krohn/simulate/learned/deterministic_stock.h"
#include "krohn/simulate/models/dense_model.h"
#include "krohn/simulate/models/stacked_model.h"

namespace krohn {
namespace {

/// −0 is remembered as +0, which changes no later number but the sign of a zero.
template <class Real>
void drop_signs_of_zeros(std::span<Real> memory) {
  for (Real& x : memory) x += Real{0};
}

/// H ← A(σ) H, divided by max(1, its norm), read out linearly.
template <class Real>
class DeterministicDense : public DeterministicModel<Real> {
 public:
  using typename DeterministicModel<Real>::Part;

  DeterministicDense(const DenseShape& shape, const TensorFile& tensors)
      : size_(shape.size),
        matrices_(plain_numbers<Real>(tensors, "matrices")),
        readout_(plain_numbers<Real>(tensors, "readout")),
        bias_(plain_numbers<Real>(tensors, "readout_bias")) {}

  std::vector<Real> start() const override {
    std::vector<Real> identity(size_ * size_, 0);
    for (std::size_t i = 0; i < size_; ++i) identity[i * (size_ + 1)] = 1;
    return identity;
  }
  std::vector<Part> states() const override { return {{0, size_ * size_}}; }

  std::vector<StateBlock> blocks() const override { return {{0, size_, size_}}; }
  LetterMaps letter_maps(Letter letter) const override {
    using Rows = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto n = static_cast<Eigen::Index>(size_);
    return {{Eigen::Map<const Rows>(matrices_.data() + letter * size_ * size_, n, n).template cast<double>()}, {}};
  }

  void read(Letter letter, std::span<Real> memory, std::span<Real> logits) const override {
    const Real* const a = matrices_.data() + letter * size_ * size_;
    std::vector<Real> next(memory.size(), 0);
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t k = 0; k < size_; ++k)
        for (std::size_t j = 0; j < size_; ++j) next[i * size_ + j] += a[i * size_ + k] * memory[k * size_ + j];
    std::ranges::copy(next, memory.begin());
    drop_signs_of_zeros(memory);
    if (logits.empty()) return;
    Real sum = 0;
    for (const Real x : memory) sum += x * x;
    const Real norm = std::max(Real{1}, std::sqrt(sum));
    for (Real& x : next) x = x / norm;
    std::ranges::copy(bias_, logits.begin());
    add_plain_product<Real>(next, readout_, logits);
  }

 private:
  std::size_t size_;
  std::vector<Real> matrices_, readout_, bias_;
};

/// Layers of a mixer and an MLP, with norms and residuals; or one bare mixer.
template <class Real>
class DeterministicStack : public DeterministicModel<Real> {
 public:
  using typename DeterministicModel<Real>::Part;

  DeterministicStack(const StackedShape& shape, Letter letters, const TensorFile& tensors)
      : width_(shape.width()),
        mlp_(shape.mlp),
        is_bare_(shape.is_bare()),
        embedding_(plain_numbers<Real>(tensors, "embedding")),
        norm_(plain_numbers<Real>(tensors, "norm")),
        readout_(plain_numbers<Real>(tensors, "readout")),
        bias_(plain_numbers<Real>(tensors, "readout_bias")) {
    for (std::uint32_t i = 0; i < shape.layers; ++i) {
      const std::string prefix = fmt::format("layer{}.", i);
      layers_.push_back(
          {plain_numbers<Real>(tensors, prefix + "norm"), plain_numbers<Real>(tensors, prefix + "mlp.norm"),
           plain_numbers<Real>(tensors, prefix + "mlp.in"), plain_numbers<Real>(tensors, prefix + "mlp.out"),
           plain_mixer<Real>(shape.mixer, tensors, prefix + "mixer.")});
      memory_ += layers_.back().mixer->memory();
    }
    for (Letter letter = 0; letter < letters; ++letter) looked_.push_back(look(layers_[0], embedding_of(letter)));
  }

  std::vector<Real> start() const override {
    std::vector<Real> memory(memory_, 0);
    std::size_t first = 0;
    for (const Layer& layer : layers_) {
      layer.mixer->start(std::span(memory).subspan(first, layer.mixer->memory()));
      first += layer.mixer->memory();
    }
    return memory;
  }

  std::vector<Part> states() const override {
    std::vector<Part> parts;
    std::size_t first = 0;
    for (const Layer& layer : layers_) {
      for (const Part& part : layer.mixer->states()) parts.push_back({first + part.first, part.count});
      first += layer.mixer->memory();
    }
    return parts;
  }

  std::vector<StateBlock> blocks() const override { return layers_[0].mixer->blocks(); }
  LetterMaps letter_maps(Letter letter) const override { return layers_[0].mixer->maps(looked_[letter]); }

  void read(Letter letter, std::span<Real> memory, std::span<Real> logits) const override {
    std::vector<Real> x = is_bare_ ? std::vector<Real>(width_, 0) : embedding_of(letter);
    std::span<Real> left = memory;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const std::span<Real> own = left.first(layer.mixer->memory());
      left = left.subspan(own.size());
      const bool is_last_word = i + 1 == layers_.size() && logits.empty();
      const std::span<Real> y = is_last_word ? std::span<Real>() : std::span<Real>(x);
      if (i == 0)
        layer.mixer->run(looked_[letter], own, y);
      else
        layer.mixer->run(look(layer, x), own, y);
      if (!is_last_word && mlp_ > 0) look_up(layer, x);
    }
    drop_signs_of_zeros(memory);
    if (logits.empty()) return;
    if (!is_bare_) plain_rms_norm<Real>(x, norm_);
    std::ranges::copy(bias_, logits.begin());
    add_plain_product<Real>(x, readout_, logits);
  }

 private:
  struct Layer {
    std::vector<Real> norm, mlp_norm, mlp_in, mlp_out;
    std::unique_ptr<DeterministicMixer<Real>> mixer;
  };

  std::vector<Real> embedding_of(Letter letter) const {
    const auto first = embedding_.begin() + static_cast<std::ptrdiff_t>(letter * width_);
    return {first, first + static_cast<std::ptrdiff_t>(width_)};
  }

  std::vector<Real> look(const Layer& layer, std::vector<Real> x) const {
    if (!is_bare_) plain_rms_norm<Real>(x, layer.norm);
    return layer.mixer->look(x);
  }

  /// The MLP.
  void look_up(const Layer& layer, std::vector<Real>& x) const {
    std::vector<Real> normed = x;
    plain_rms_norm<Real>(normed, layer.mlp_norm);
    std::vector<Real> hidden = plain_product<Real>(normed, layer.mlp_in);
    for (std::size_t i = 0; i < mlp_; ++i) hidden[i] = plain_silu(hidden[i]) * hidden[mlp_ + i];
    hidden.resize(mlp_);
    add_plain_product<Real>(hidden, layer.mlp_out, x);
  }

  std::size_t width_, mlp_, memory_ = 0;
  bool is_bare_;  ///< no norms, no residuals
  std::vector<Real> embedding_, norm_, readout_, bias_;
  std::vector<Layer> layers_;
  std::vector<std::vector<Real>> looked_;  ///< letter ↦ all that the first layer knows of it before its recurrence
};

}  // namespace

template <class Real>
std::unique_ptr<DeterministicModel<Real>> plain_model(const SequenceModel<float>& model) {
  const std::string name = model.name(), family = name.substr(0, name.find(':'));
  const TensorFile tensors = model.tensors();
  if (family == "bilinear") return plain_bilinear<Real>(parse_bilinear_shape(name), model.letters(), tensors);
  if (family == "dense") return std::make_unique<DeterministicDense<Real>>(parse_dense_shape(name), tensors);
  if (family == "deltaproduct" || family == "diagonal" || family == "fan")
    return std::make_unique<DeterministicStack<Real>>(parse_stacked_shape(name), model.letters(), tensors);
  if (family == "fan-released") return plain_released<Real>(model);
  if (is_cell_model(model)) return plain_cell<Real>(model);
  if (is_stock_model(model)) return plain_stock<Real>(model);
  throw InputError(fmt::format("no plain arithmetic is known for the model {}", name));
}

template std::unique_ptr<DeterministicModel<float>> plain_model(const SequenceModel<float>&);
template std::unique_ptr<DeterministicModel<double>> plain_model(const SequenceModel<float>&);

}  // namespace krohn
