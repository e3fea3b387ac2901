#include "krohn/simulate/models/mixers.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/token_layers.h"

namespace krohn {
namespace {

template <class Real>
class DiagonalMixer : public Mixer<Real> {
 public:
  using typename Mixer<Real>::Weights;
  using typename Mixer<Real>::Gradients;
  using typename Mixer<Real>::Memory;

  explicit DiagonalMixer(const DiagonalShape& shape) : shape_(shape) {}

  std::vector<ParameterPart> parts() const override {
    return {
        {"in", {shape_.width, 2 * shape_.channels}}, {"taps", {shape_.taps, shape_.channels}},
        {"select", {shape_.channels, selected()}},   {"step", {shape_.channels}},
        {"decay", {shape_.states, shape_.channels}}, {"skip", {shape_.channels}},
        {"out", {shape_.channels, shape_.width}},    {"angle", {shape_.complex ? shape_.states : 0, shape_.channels}}};
  }

  void initialise(const Gradients& weights, Random& random) const override {
    const double channels = shape_.channels;
    fill_normal(weights[kIn], random, 1 / std::sqrt(static_cast<double>(shape_.width)));
    if (shape_.taps > 0) fill_uniform(weights[kTaps], 1 / std::sqrt(static_cast<double>(shape_.taps)), random);
    fill_normal(weights[kSelect], random, 1 / std::sqrt(channels));
    for (Real& bias : weights[kStep]) bias = static_cast<Real>(first_step(random));
    for (std::size_t i = 0; i < shape_.states; ++i)
      std::fill_n(weights[kDecay].begin() + static_cast<std::ptrdiff_t>(i * shape_.channels), shape_.channels,
                  static_cast<Real>(stated::log((shape_.fixed ? 0.1 : 1.0) * static_cast<double>(i + 1))));
    std::ranges::fill(weights[kSkip], Real{1});
    fill_normal(weights[kOut], random, 1 / std::sqrt(channels));
    // S4D-Lin's angles, or LRU's.
    for (std::size_t i = 0; i < weights[kAngle].size(); ++i)
      weights[kAngle][i] = static_cast<Real>(
          std::numbers::pi * (shape_.fixed ? uniform(random) : static_cast<double>(i / shape_.channels + 1)));
  }

  bool needs_own_rows() const override { return shape_.taps > 0; }

  Memory run(const Weights& weights, const TokenRows& rows, std::span<const Real> x, std::span<Real> y) const override {
    const std::size_t channels = shape_.channels;
    Memory memory(kMemory);
    Matrix both = Matrix::Zero(at(rows.sources), at(2 * channels));
    L::linear(x, weights[kIn], shape_.width, span(both));
    keep(memory, kRaw, both.leftCols(at(channels)));
    keep(memory, kGate, both.rightCols(at(channels)));
    if (shape_.taps > 0) {
      Numbers<Real> before(rows.words() * (shape_.taps - 1) * channels, 0);
      memory[kMixed].resize(memory[kRaw].size());
      L::convolve(rows, memory[kRaw], weights[kTaps], channels, before, memory[kMixed]);
    }
    memory[kInput].resize(memory[kRaw].size());
    L::silu(before_activation(memory), memory[kInput]);
    select(weights, rows, memory);
    scan(rows, memory, weights);
    memory[kGated].resize(rows.tokens() * channels);
    memory[kOpen].resize(memory[kGate].size());
    L::silu(memory[kGate], memory[kOpen]);
    for (std::size_t token = 0; token < rows.tokens(); ++token)
      array(memory[kGated], token * channels) =
          array(memory[kRead], token * channels) * array(memory[kOpen], rows.source[token] * channels);
    L::linear(memory[kGated], weights[kOut], channels, y);
    return memory;
  }

  void run_adjoint(const Weights& weights, const TokenRows& rows, std::span<const Real> x, Memory& memory,
                   std::span<const Real> by_y, std::span<Real> by_x, const Gradients& by_weights) const override {
    const std::size_t channels = shape_.channels;
    Numbers<Real> by_gated(memory[kGated].size(), 0), by_read(by_gated.size()), by_open(memory[kGate].size(), 0),
        by_gate(by_open), by_input(memory[kInput].size(), 0);
    L::linear_adjoint(memory[kGated], weights[kOut], channels, by_y, by_gated, by_weights[kOut]);
    for (std::size_t token = 0; token < rows.tokens(); ++token) {
      const std::size_t source = rows.source[token] * channels, own = token * channels;
      array(by_read, own) = array(by_gated, own) * array(memory[kOpen], source);
      array(by_open, source) += array(by_gated, own) * array(memory[kRead], own);
      array(by_input, source) += array(by_read, own) * array(weights[kSkip], 0);
      array(by_weights[kSkip], 0) += array(by_read, own) * array(memory[kInput], source);
    }
    L::silu_adjoint(memory[kGate], by_open, by_gate);
    scan_adjoint(weights, rows, memory, by_read, by_input, by_weights);
    Numbers<Real> by_raw(by_input.size(), 0);
    L::silu_adjoint(before_activation(memory), by_input, by_raw);
    if (shape_.taps > 0) {
      Numbers<Real> by_mixed(by_raw.size(), 0);
      by_mixed.swap(by_raw);
      L::convolve_adjoint(rows, memory[kRaw], weights[kTaps], channels, by_mixed, by_raw, by_weights[kTaps]);
    }
    Matrix by_both(at(rows.sources), at(2 * channels));
    by_both << view(by_raw), view(by_gate);
    L::linear_adjoint(x, weights[kIn], shape_.width, span(by_both), by_x, by_weights[kIn]);
  }

 private:
  using L = TokenLayers<Real>;
  using List = Eigen::Array<Real, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  enum Part { kIn, kTaps, kSelect, kStep, kDecay, kSkip, kOut, kAngle };
  /// selected: Δ before its bias, k, q; shifted: Δ before its softplus; steps: Δ; open: of gate, after its SiLU;
  /// scaled: Δ ∘ u; decays: a, or where the scan makes it from Δ −eʷ.
  enum {
    kRaw,
    kGate,
    kMixed,
    kInput,
    kSelected,
    kShifted,
    kSteps,
    kScaled,
    kDecays,
    kHistory,
    kRead,
    kOpen,
    kGated,
    kMemory
  };

  static Eigen::Index at(std::size_t index) { return static_cast<Eigen::Index>(index); }
  static std::span<Real> span(Matrix& matrix) { return {matrix.data(), static_cast<std::size_t>(matrix.size())}; }
  auto array(Numbers<Real>& numbers, std::size_t first) const {
    return Eigen::Map<List>(numbers.data() + first, shape_.channels);
  }
  auto array(std::span<Real> numbers, std::size_t first) const {
    return Eigen::Map<List>(numbers.data() + first, shape_.channels);
  }
  auto array(std::span<const Real> numbers, std::size_t first) const {
    return Eigen::Map<const List>(numbers.data() + first, shape_.channels);
  }
  static Eigen::Map<List> all(Numbers<Real>& numbers) { return {numbers.data(), at(numbers.size())}; }
  Eigen::Map<const Matrix> view(const Numbers<Real>& numbers) const {
    return {numbers.data(), at(numbers.size() / shape_.channels), shape_.channels};
  }
  template <class Columns>
  static void keep(Memory& memory, std::size_t index, const Columns& columns) {
    memory[index].resize(static_cast<std::size_t>(columns.size()));
    Eigen::Map<Matrix>(memory[index].data(), columns.rows(), columns.cols()) = columns;
  }
  std::size_t parts_of_state() const { return shape_.complex ? 2 : 1; }
  std::size_t selected() const { return shape_.channels + (1 + parts_of_state()) * shape_.states; }
  std::size_t state_size() const { return parts_of_state() * shape_.states * shape_.channels; }
  std::size_t decay_row() const { return shape_.fixed ? 0 : state_size(); }
  bool is_selective() const { return !shape_.fixed && !shape_.complex; }
  std::span<const Real> before_activation(const Memory& memory) const {
    return memory[shape_.taps > 0 ? kMixed : kRaw];
  }

  /// Δ, Δ ∘ u and a of every source row.
  void select(const Weights& weights, const TokenRows& rows, Memory& memory) const {
    const std::size_t channels = shape_.channels;
    memory[kSelected].resize(rows.sources * selected(), 0);
    L::linear(memory[kInput], weights[kSelect], channels, memory[kSelected]);
    for (const std::size_t each : {kShifted, kSteps, kScaled}) memory[each].resize(rows.sources * channels);
    for (std::size_t row = 0; row < rows.sources; ++row)
      array(memory[kShifted], row * channels) = array(memory[kSelected], row * selected()) + array(weights[kStep], 0);
    L::softplus(memory[kShifted], memory[kSteps]);
    all(memory[kScaled]) = all(memory[kSteps]) * all(memory[kInput]);
    if (is_selective()) {
      memory[kDecays].resize(state_size());
      all(memory[kDecays]) = -Eigen::Map<const List>(weights[kDecay].data(), at(state_size())).exp();
      return;
    }
    const std::size_t decays = shape_.fixed ? 1 : rows.sources;
    memory[kDecays].resize(decays * state_size());
    for (std::size_t i = 0; i < shape_.states; ++i) {
      const List rate = array(weights[kDecay], i * channels).exp();
      for (std::size_t row = 0; row < decays; ++row) {
        auto a = array(memory[kDecays], row * state_size() + i * parts_of_state() * channels);
        if (shape_.fixed)
          a = (-rate).exp();
        else
          a = (-rate * array(memory[kSteps], row * channels)).exp();
        if (shape_.negative) a = Real{2} * a - Real{1};
        if (!shape_.complex) continue;
        List angle = array(weights[kAngle], i * channels);
        if (!shape_.fixed) angle *= array(memory[kSteps], row * channels);
        array(memory[kDecays], row * state_size() + (2 * i + 1) * channels) = a * angle.sin();
        a *= angle.cos();
      }
    }
  }

  /// The common part of all scans of a word.
  template <class Scan>
  Scan scan_of(const TokenRows& rows, std::size_t word, Memory& memory) const {
    Scan run{};
    run.tokens = rows.length(word);
    run.states = shape_.states;
    run.channels = shape_.channels;
    run.source = rows.source.data() + rows.first[word];
    run.u = memory[kScaled].data();
    run.q = memory[kSelected].data() + shape_.channels + shape_.states;
    run.y = memory[kRead].data() + rows.first[word] * shape_.channels;
    return run;
  }

  /// For one word, after which `state` has the states; `after_row` as in SelectiveScan.
  SelectiveScan<Real> selective(const TokenRows& rows, std::size_t word, Memory& memory, Real* state,
                                std::size_t after_row) const {
    auto run = scan_of<SelectiveScan<Real>>(rows, word, memory);
    run.is_signed = shape_.negative;
    run.rates = memory[kDecays].data();
    run.delta = memory[kSteps].data();
    run.b = memory[kSelected].data() + shape_.channels;
    run.narrow_row = selected();
    run.after = state;
    run.after_row = after_row;
    return run;
  }

  Diagonal<Real> diagonal(const TokenRows& rows, std::size_t word, Memory& memory, Numbers<Real>& state) const {
    auto run = scan_of<Diagonal<Real>>(rows, word, memory);
    run.complex = shape_.complex;
    run.a = memory[kDecays].data();
    run.a_row = decay_row();
    run.k = memory[kSelected].data() + shape_.channels;
    run.k_row = run.q_row = selected();
    run.u_row = run.y_row = shape_.channels;
    run.state = state.data() + word * state_size();
    run.history = memory[kHistory].data();
    return run;
  }

  void scan(const TokenRows& rows, Memory& memory, const Weights& weights) const {
    const std::size_t channels = shape_.channels;
    memory[kRead].resize(rows.tokens() * channels);
    Numbers<Real> state(rows.words() * state_size(), 0);
    for (std::size_t word = 0; word < rows.words(); ++word)
      if (is_selective()) {
        SelectiveScan<Real> run = selective(rows, word, memory, state.data() + word * state_size(), 0);
        run.start = run.after;
        training_kernels<Real>().scan_selectively(run);
      } else {
        Diagonal<Real> run = diagonal(rows, word, memory, state);
        run.history = nullptr;
        training_kernels<Real>().scan_diagonal(run);
      }
    for (std::size_t token = 0; token < rows.tokens(); ++token)
      array(memory[kRead], token * channels) +=
          array(weights[kSkip], 0) * array(memory[kInput], rows.source[token] * channels);
  }

  /// Adds to the gradients by the input u, and by the weights that choose Δ, a, k and q. States are computed anew, word
  /// by word, rather than kept.
  void scan_adjoint(const Weights& weights, const TokenRows& rows, Memory& memory, const Numbers<Real>& by_read,
                    Numbers<Real>& by_input, const Gradients& by_weights) const {
    const std::size_t channels = shape_.channels;
    Numbers<Real> by_decays(memory[kDecays].size(), 0), by_selected(memory[kSelected].size(), 0),
        by_scaled(memory[kScaled].size(), 0), by_steps(memory[kSteps].size(), 0), by_state(state_size()), state;
    if (!is_selective()) state.resize(rows.words() * state_size(), 0);
    for (std::size_t word = 0; word < rows.words(); ++word) {
      memory[kHistory].resize(std::max(memory[kHistory].size(), rows.length(word) * state_size()));
      const Real* const by_y = by_read.data() + rows.first[word] * channels;
      Real *const by_k = by_selected.data() + channels, *const by_q = by_k + shape_.states;
      if (is_selective()) {
        const SelectiveScan<Real> run = selective(rows, word, memory, memory[kHistory].data(), state_size());
        training_kernels<Real>().scan_selectively(run);
        training_kernels<Real>().scan_selectively_adjoint(
            run, {by_y, by_decays.data(), by_steps.data(), by_scaled.data(), by_k, by_q, by_state.data()});
        continue;
      }
      const Diagonal<Real> run = diagonal(rows, word, memory, state);
      training_kernels<Real>().scan_diagonal(run);
      std::ranges::fill(by_state, Real{0});
      training_kernels<Real>().scan_diagonal_adjoint(
          run, {by_y, by_decays.data(), by_k, by_scaled.data(), by_q, by_state.data()});
    }
    if (is_selective())
      Eigen::Map<List>(by_weights[kDecay].data(), at(state_size())) += all(by_decays) * all(memory[kDecays]);
    else
      decay_adjoint(weights, rows, memory, by_decays, by_steps, by_weights);
    all(by_steps) += all(by_scaled) * all(memory[kInput]);
    all(by_input) += all(by_scaled) * all(memory[kSteps]);
    Numbers<Real> by_shifted(by_steps.size(), 0);
    L::softplus_adjoint(memory[kShifted], by_steps, by_shifted);
    for (std::size_t row = 0; row < rows.sources; ++row) {
      array(by_selected, row * selected()) = array(by_shifted, row * channels);
      array(by_weights[kStep], 0) += array(by_shifted, row * channels);
    }
    L::linear_adjoint(memory[kInput], weights[kSelect], channels, by_selected, by_input, by_weights[kSelect]);
  }

  /// Adds to the gradients by Δ and by the weights that choose a.
  void decay_adjoint(const Weights& weights, const TokenRows& rows, Memory& memory, Numbers<Real>& by_decays,
                     Numbers<Real>& by_steps, const Gradients& by_weights) const {
    const std::size_t channels = shape_.channels, decays = shape_.fixed ? 1 : rows.sources;
    for (std::size_t i = 0; i < shape_.states; ++i) {
      const List rate = array(weights[kDecay], i * channels).exp();
      for (std::size_t row = 0; row < decays; ++row) {
        const std::size_t at = row * state_size() + i * parts_of_state() * channels;
        const auto a = array(memory[kDecays], at), by = array(by_decays, at);
        List by_log(channels);  // by log s = −Δ · rate
        if (shape_.complex) {
          const auto turn = array(memory[kDecays], at + channels), by_turn = array(by_decays, at + channels);
          by_log = by * a + by_turn * turn;
          const List by_angle = by_turn * a - by * turn;  // by Δ · θ
          if (shape_.fixed) {
            array(by_weights[kAngle], i * channels) += by_angle;
          } else {
            array(by_weights[kAngle], i * channels) += by_angle * array(memory[kSteps], row * channels);
            array(by_steps, row * channels) += by_angle * array(weights[kAngle], i * channels);
          }
        } else if (shape_.negative) {
          by_log = by * (a + Real{1});
        } else {
          by_log = by * a;
        }
        if (shape_.fixed) {
          array(by_weights[kDecay], i * channels) -= by_log * rate;
        } else {
          array(by_weights[kDecay], i * channels) -= by_log * rate * array(memory[kSteps], row * channels);
          array(by_steps, row * channels) -= by_log * rate;
        }
      }
    }
  }

  DiagonalShape shape_;
};

}  // namespace

template <class Real>
std::unique_ptr<Mixer<Real>> diagonal_mixer(const DiagonalShape& shape) {
  return std::make_unique<DiagonalMixer<Real>>(shape);
}

template std::unique_ptr<Mixer<float>> diagonal_mixer(const DiagonalShape&);
template std::unique_ptr<Mixer<double>> diagonal_mixer(const DiagonalShape&);

}  // namespace krohn
