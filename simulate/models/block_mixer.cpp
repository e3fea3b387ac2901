#include "krohn/simulate/models/mixers.h"

#include <Eigen/Core>

#include <cmath>

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/token_layers.h"

namespace krohn {
namespace {

template <class Real>
class BlockMixer : public Mixer<Real> {
 public:
  using typename Mixer<Real>::Weights;
  using typename Mixer<Real>::Gradients;
  using typename Mixer<Real>::Memory;

  explicit BlockMixer(const BlockShape& shape) : shape_(shape) {}

  std::vector<ParameterPart> parts() const override {
    const std::uint64_t width = shape_.width(), hidden = shape_.generator;
    return {{"generator_in", {width, hidden}},
            {"generator_out", {hidden > 0 ? hidden : width, numbers()}},
            {"generator_bias", {numbers()}},
            {"input", {width, width}},
            {"start", {width}}};
  }

  void initialise(const Gradients& weights, Random& random) const override {
    const double width = shape_.width();
    fill_normal(weights[kGeneratorIn], random, 1 / std::sqrt(width));
    const double inputs = shape_.generator > 0 ? shape_.generator : width;
    fill_normal(weights[kGeneratorOut], random, 1 / std::sqrt(inputs * shape_.size));
    fill_normal(weights[kGeneratorBias], random, 1 / std::sqrt(static_cast<double>(shape_.size)));
    fill_normal(weights[kInput], random, 1 / std::sqrt(width));
    fill_normal(weights[kStart], random);
  }

  Memory run(const Weights& weights, const TokenRows& rows, std::span<const Real> x, std::span<Real> y) const override {
    const std::size_t width = shape_.width();
    Memory memory(kMemory);
    generate(weights, rows.sources, x, memory);
    memory[kInputs].resize(rows.sources * width, 0);
    L::linear(x, weights[kInput], width, memory[kInputs]);
    memory[kStates].resize(rows.tokens() * width);
    for (std::size_t word = 0; word < rows.words(); ++word)
      training_kernels<Real>().scan_blocks(blocks(rows, word, weights[kStart].data(), memory));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += memory[kStates][i];
    return memory;
  }

  void run_adjoint(const Weights& weights, const TokenRows& rows, std::span<const Real> x, Memory& memory,
                   std::span<const Real> by_y, std::span<Real> by_x, const Gradients& by_weights) const override {
    const std::size_t width = shape_.width();
    Numbers<Real> by_states(by_y.begin(), by_y.end()), by_matrices(memory[kMatrices].size(), 0),
        by_inputs(memory[kInputs].size(), 0);
    for (std::size_t word = 0; word < rows.words(); ++word)
      training_kernels<Real>().scan_blocks_adjoint(blocks(rows, word, weights[kStart].data(), memory),
                                                   {by_states.data() + rows.first[word] * width, by_matrices.data(),
                                                    by_inputs.data(), by_weights[kStart].data()});
    L::linear_adjoint(x, weights[kInput], width, by_inputs, by_x, by_weights[kInput]);
    generate_adjoint(weights, rows.sources, x, memory, by_matrices, by_x, by_weights);
  }

  std::optional<LinearModel> linear_view(const Weights& weights, std::span<const Real> x) const override {
    const std::size_t width = shape_.width(), size = shape_.size, sources = x.size() / width;
    Memory memory(kMemory);
    generate(weights, sources, x, memory);
    Numbers<Real> inputs(x.size(), 0);
    L::linear(x, weights[kInput], width, inputs);
    LinearModel view;
    view.hidden = shape_.width();
    view.block = shape_.size;
    view.letters = static_cast<std::uint32_t>(sources);
    view.matrices.resize(memory[kMatrices].size());
    for (std::size_t first = 0; first < view.matrices.size(); first += size * size)  // columns become rows
      for (std::size_t row = 0; row < size; ++row)
        for (std::size_t column = 0; column < size; ++column)
          view.matrices[first + row * size + column] =
              static_cast<float>(memory[kMatrices][first + column * size + row]);
    view.additions.assign(inputs.begin(), inputs.end());
    view.initial.assign(weights[kStart].begin(), weights[kStart].end());
    view.source = "Fan et al. 2024, eq. 5 and 6";
    return view;
  }

 private:
  using L = TokenLayers<Real>;
  using Columns = Eigen::Array<Real, Eigen::Dynamic, Eigen::Dynamic>;
  static constexpr Real kLeast = Real(1e-30);  ///< whose logarithm is finite
  enum Part { kGeneratorIn, kGeneratorOut, kGeneratorBias, kInput, kStart };
  /// raw: the generated columns before they are divided, powers: |raw|^{p−1},
  /// norms: their p-norms.
  enum { kHidden, kActive, kRaw, kPowers, kNorms, kMatrices, kInputs, kStates, kMemory };

  std::size_t numbers() const { return std::size_t{shape_.width()} * shape_.size; }
  Real p() const { return static_cast<Real>(shape_.norm); }

  BlockScan<Real> blocks(const TokenRows& rows, std::size_t word, const Real* start, Memory& memory) const {
    BlockScan<Real> run{};
    run.tokens = rows.length(word);
    run.blocks = shape_.blocks;
    run.size = shape_.size;
    run.source = rows.source.data() + rows.first[word];
    run.a = memory[kMatrices].data();
    run.u = memory[kInputs].data();
    run.start = start;
    run.x = memory[kStates].data() + rows.first[word] * shape_.width();
    return run;
  }

  void generate(const Weights& weights, std::size_t sources, std::span<const Real> x, Memory& memory) const {
    const std::size_t width = shape_.width();
    memory[kRaw].resize(sources * numbers());
    for (std::size_t row = 0; row < sources; ++row)
      std::ranges::copy(weights[kGeneratorBias], memory[kRaw].data() + row * numbers());
    if (shape_.generator > 0) {
      memory[kHidden].resize(sources * shape_.generator, 0);
      L::linear(x, weights[kGeneratorIn], width, memory[kHidden]);
      memory[kActive].resize(memory[kHidden].size());
      L::silu(memory[kHidden], memory[kActive]);
      L::linear(memory[kActive], weights[kGeneratorOut], shape_.generator, memory[kRaw]);
    } else {
      L::linear(x, weights[kGeneratorOut], width, memory[kRaw]);
    }
    divide_columns(memory);
  }

  /// One column of a block a column.
  Eigen::Map<const Columns> columns(const Numbers<Real>& all) const {
    return {all.data(), shape_.size, static_cast<Eigen::Index>(all.size() / shape_.size)};
  }
  Eigen::Map<Columns> columns(Numbers<Real>& all) const {
    return {all.data(), shape_.size, static_cast<Eigen::Index>(all.size() / shape_.size)};
  }

  void divide_columns(Memory& memory) const {
    const auto raw = columns(memory[kRaw]);
    for (const auto which : {kPowers, kMatrices}) memory[which].resize(memory[kRaw].size());
    auto powers = columns(memory[kPowers]);
    if (shape_.norm == 1)
      powers.setOnes();
    else
      powers = (raw.abs().max(kLeast).log() * (p() - 1)).exp();
    memory[kNorms].resize(memory[kRaw].size() / shape_.size);
    Eigen::Map<Eigen::Array<Real, 1, Eigen::Dynamic>> norms(memory[kNorms].data(), raw.cols());
    norms = (powers * raw.abs()).colwise().sum().pow(1 / p());
    columns(memory[kMatrices]) = raw.rowwise() * norms.max(Real{1}).inverse();
  }

  /// Turns the gradient by the divided columns into that by the raw ones.
  void divide_columns_adjoint(const Memory& memory, Numbers<Real>& by_matrices) const {
    const auto raw = columns(memory[kRaw]), powers = columns(memory[kPowers]);
    auto by = columns(by_matrices);
    for (Eigen::Index i = 0; i < raw.cols(); ++i) {
      const Real norm = memory[kNorms][static_cast<std::size_t>(i)];
      if (norm <= 1) continue;
      // ∂‖v‖/∂v = sign(v) |v|^{p−1} ‖v‖^{1−p}
      const Real along = (raw.col(i) * by.col(i)).sum() / (norm * norm) * std::pow(norm, 1 - p());
      by.col(i) = by.col(i) / norm - along * raw.col(i).sign() * powers.col(i);
    }
  }

  void generate_adjoint(const Weights& weights, std::size_t sources, std::span<const Real> x, const Memory& memory,
                        Numbers<Real>& by_matrices, std::span<Real> by_x, const Gradients& by_weights) const {
    divide_columns_adjoint(memory, by_matrices);
    const std::span<Real> by_bias = by_weights[kGeneratorBias];
    for (std::size_t row = 0; row < sources; ++row)
      for (std::size_t j = 0; j < numbers(); ++j) by_bias[j] += by_matrices[row * numbers() + j];
    if (shape_.generator == 0) {
      L::linear_adjoint(x, weights[kGeneratorOut], shape_.width(), by_matrices, by_x, by_weights[kGeneratorOut]);
      return;
    }
    Numbers<Real> by_active(memory[kActive].size(), 0), by_hidden(by_active);
    L::linear_adjoint(memory[kActive], weights[kGeneratorOut], shape_.generator, by_matrices, by_active,
                      by_weights[kGeneratorOut]);
    L::silu_adjoint(memory[kHidden], by_active, by_hidden);
    L::linear_adjoint(x, weights[kGeneratorIn], shape_.width(), by_hidden, by_x, by_weights[kGeneratorIn]);
  }

  BlockShape shape_;
};

}  // namespace

template <class Real>
std::unique_ptr<Mixer<Real>> block_mixer(const BlockShape& shape) {
  return std::make_unique<BlockMixer<Real>>(shape);
}

template std::unique_ptr<Mixer<float>> block_mixer(const BlockShape&);
template std::unique_ptr<Mixer<double>> block_mixer(const BlockShape&);

}  // namespace krohn
