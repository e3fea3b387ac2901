#include "krohn/simulate/models/reflection_mixer.h"

#include <cmath>

#include "krohn/simulate/models/initialise.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"

namespace krohn {
namespace {

template <class Real>
class ReflectionMixer : public Mixer<Real> {
 public:
  using typename Mixer<Real>::Weights;
  using typename Mixer<Real>::Gradients;
  using typename Mixer<Real>::Memory;

  explicit ReflectionMixer(const ReflectionShape& shape) : shape_(shape) {}

  std::vector<ParameterPart> parts() const override {
    return {{"in", {shape_.width, shape_.columns()}},
            {"taps", {shape_.taps, shape_.beta_column()}},
            {"norm", {shape_.values}},
            {"out", {shape_.heads * shape_.values, shape_.width}}};
  }

  void initialise(const Gradients& weights, Random& random) const override {
    fill_normal(weights[kIn], random, 1 / std::sqrt(static_cast<double>(shape_.width)));
    if (shape_.taps > 0) fill_uniform(weights[kTaps], 1 / std::sqrt(static_cast<double>(shape_.taps)), random);
    std::ranges::fill(weights[kNorm], Real{1});
    fill_normal(weights[kOut], random, 1 / std::sqrt(static_cast<double>(shape_.heads * shape_.values)));
  }

  bool needs_own_rows() const override { return shape_.taps > 0; }
  bool reads_shared(std::size_t sources) const override {
    return shape_.taps == 0 && sources * shape_.reflections <= kMostLetterRows;
  }

  Memory run(const Weights& weights, const TokenRows& rows, std::span<const Real> x, std::span<Real> y,
             Memory* carry) const override {
    Memory memory(kMemory);
    memory[kRaw].resize(rows.sources * shape_.columns(), 0);
    L::linear(x, weights[kIn], shape_.width, memory[kRaw]);
    convolve(weights, rows, memory, carry);
    make_ready(rows, memory);
    const std::size_t tokens = rows.tokens(), values = shape_.heads * shape_.values;
    memory[kLacks].resize(tokens * values * shape_.reflections);
    memory[kRead].resize(tokens * values);
    if (rows.sharing) memory[kBefores].resize(memory[kLacks].size());
    Real* const state =
        carry == nullptr ? nullptr : carried(*carry, kState, rows.words() * shape_.heads * shape_.state_size()).data();
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      Reflections<Real> run = reflections(rows, head, memory);
      if (rows.sharing) {
        LetterReflections<Real> letters = by_letter(rows, head, run, memory);
        Numbers<Real> scratch(letter_reflection_scratch(letters));
        letters.run.scratch = scratch.data();
        training_kernels<Real>().reflect_letters(letters);
        continue;
      }
      if (state != nullptr) run.state = state + head * shape_.state_size();
      if (state == nullptr && reflection_chunks(run) > rows.words()) {
        // Words of one chunk begin at 0.
        memory[kStarts].resize(shape_.heads * reflection_chunks(run) * shape_.state_size());
        run.starts = starts(run, head, memory);
      }
      Numbers<Real> scratch(reflection_scratch(run));
      run.scratch = scratch.data();
      training_kernels<Real>().reflect(run);
    }
    memory[kNormed].resize(memory[kRead].size());
    L::rms_norm(memory[kRead], weights[kNorm], memory[kNormed]);
    L::linear(memory[kNormed], weights[kOut], values, y);
    return memory;
  }

  void run_adjoint(const Weights& weights, const TokenRows& rows, std::span<const Real> x, Memory& memory,
                   std::span<const Real> by_y, std::span<Real> by_x, const Gradients& by_weights) const override {
    const std::size_t values = shape_.heads * shape_.values;
    Numbers<Real> by_normed(memory[kNormed].size(), 0), by_read(by_normed);
    L::linear_adjoint(memory[kNormed], weights[kOut], values, by_y, by_normed, by_weights[kOut]);
    L::rms_norm_adjoint(memory[kRead], weights[kNorm], by_normed, by_read, by_weights[kNorm]);
    Numbers<Real> by_ready(memory[kReady].size(), 0);
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      Reflections<Real> run = reflections(rows, head, memory);
      Real* const by = by_ready.data();
      const ReflectionsAdjoint<Real> adjoint{by_read.data() + head * shape_.values,
                                             by + shape_.q_column(head),
                                             by + shape_.k_column(head),
                                             by + shape_.v_column(head),
                                             by + shape_.beta_column(head),
                                             nullptr};
      if (rows.sharing) {
        LetterReflections<Real> letters = by_letter(rows, head, run, memory);
        Numbers<Real> scratch(letter_reflection_scratch(letters));
        letters.run.scratch = scratch.data();
        training_kernels<Real>().reflect_letters_adjoint(letters, adjoint);
        continue;
      }
      if (!memory[kStarts].empty()) run.starts = starts(run, head, memory);
      Numbers<Real> scratch(reflection_scratch(run));
      run.scratch = scratch.data();
      training_kernels<Real>().reflect_adjoint(run, adjoint);
    }
    Numbers<Real> by_raw = by_ready_to_raw(rows, memory, by_ready);
    if (shape_.taps > 0) by_raw = by_convolved_to_raw(weights, rows, memory, by_raw, by_weights);
    L::linear_adjoint(x, weights[kIn], shape_.width, by_raw, by_x, by_weights[kIn]);
  }

 private:
  using L = TokenLayers<Real>;
  enum Part { kIn, kTaps, kNorm, kOut };
  /// raw: the map's columns q, k, v, β; mixed: after the convolution; ready: as the recurrence reads them.
  enum { kRaw, kMixed, kReady, kLacks, kBefores, kStarts, kRead, kNormed, kMemory };
  enum { kState, kBefore };

  /// Without states.
  Reflections<Real> reflections(const TokenRows& rows, std::size_t head, Memory& memory) const {
    const std::size_t width = shape_.columns(), values = shape_.heads * shape_.values;
    const Real* const ready = memory[kReady].data();
    Reflections<Real> run{};
    run.words = rows.words();
    run.first = rows.first.data();
    run.sources = rows.sources;
    run.reflections = shape_.reflections;
    run.keys = shape_.keys;
    run.values = shape_.values;
    run.source = rows.source.data();
    run.q = ready + shape_.q_column(head);
    run.k = ready + shape_.k_column(head);
    run.v = ready + shape_.v_column(head);
    run.beta = ready + shape_.beta_column(head);
    run.q_row = run.k_row = run.v_row = run.beta_row = width;
    run.state_row = shape_.heads * shape_.state_size();
    run.o_row = values;
    run.o = memory[kRead].data() + head * shape_.values;
    run.lacks_row = values * shape_.reflections;
    run.lacks = memory[kLacks].data() + head * shape_.values * shape_.reflections;
    return run;
  }

  LetterReflections<Real> by_letter(const TokenRows& rows, std::size_t head, const Reflections<Real>& run,
                                    Memory& memory) const {
    LetterReflections<Real> letters{};
    letters.run = run;
    letters.run.words = rows.sharing->length.size();
    letters.positions = rows.sharing->positions;
    letters.path = rows.sharing->path.data();
    letters.length = rows.sharing->length.data();
    letters.shared = rows.sharing->shared.data();
    letters.befores = memory[kBefores].data() + head * shape_.values * shape_.reflections;
    return letters;
  }

  Real* starts(const Reflections<Real>& run, std::size_t head, Memory& memory) const {
    return memory[kStarts].data() + head * reflection_chunks(run) * shape_.state_size();
  }

  void convolve(const Weights& weights, const TokenRows& rows, Memory& memory, Memory* carry) const {
    if (shape_.taps == 0) return;
    const std::size_t mixed = shape_.beta_column();
    Memory own;
    auto& before = carried(carry == nullptr ? own : *carry, kBefore, rows.words() * (shape_.taps - 1) * mixed);
    memory[kMixed].resize(rows.sources * mixed);
    L::convolve(rows, without_beta(memory[kRaw]), weights[kTaps], mixed, before, memory[kMixed]);
  }

  Numbers<Real> without_beta(std::span<const Real> all) const {
    Numbers<Real> kept;
    for (std::size_t first = 0; first < all.size(); first += shape_.columns())
      kept.insert(kept.end(), all.begin() + static_cast<std::ptrdiff_t>(first),
                  all.begin() + static_cast<std::ptrdiff_t>(first + shape_.beta_column()));
    return kept;
  }

  /// Before the activations: the convolved columns, or the raw ones.
  std::span<const Real> before_activation(const Memory& memory, std::size_t row) const {
    const bool mixed = shape_.taps > 0;
    return std::span<const Real>(memory[mixed ? kMixed : kRaw])
        .subspan(row * (mixed ? shape_.beta_column() : shape_.columns()), shape_.beta_column());
  }

  Real range() const { return shape_.negative ? Real{2} : Real{1}; }

  void make_ready(const TokenRows& rows, Memory& memory) const {
    const std::size_t width = shape_.columns(), normed = shape_.v_column(0);
    memory[kReady].resize(rows.sources * width);
    Numbers<Real> active(shape_.beta_column());
    for (std::size_t row = 0; row < rows.sources; ++row) {
      const std::span<const Real> in = before_activation(memory, row);
      const std::span<Real> out = std::span<Real>(memory[kReady]).subspan(row * width, width);
      if (shape_.plain)
        std::ranges::copy(in, active.begin());
      else
        L::silu(in, active);
      L::unit_norm(std::span<const Real>(active).first(normed), shape_.keys, out.first(normed));
      std::copy(active.begin() + static_cast<std::ptrdiff_t>(normed), active.end(),
                out.begin() + static_cast<std::ptrdiff_t>(normed));
      for (std::size_t i = shape_.beta_column(); i < width; ++i)
        out[i] = range() / (1 + std::exp(-memory[kRaw][row * width + i]));
    }
  }

  /// The gradient by what stands before the activations, with β's columns.
  Numbers<Real> by_ready_to_raw(const TokenRows& rows, const Memory& memory, std::span<const Real> by_ready) const {
    const std::size_t width = shape_.columns(), normed = shape_.v_column(0), mixed = shape_.beta_column();
    Numbers<Real> by_raw(rows.sources * width, 0), active(mixed), by_active(mixed);
    for (std::size_t row = 0; row < rows.sources; ++row) {
      const std::span<const Real> in = before_activation(memory, row), by = by_ready.subspan(row * width, width);
      const std::span<Real> out = std::span<Real>(by_raw).subspan(row * width, width);
      if (shape_.plain)
        std::ranges::copy(in, active.begin());
      else
        L::silu(in, active);
      std::fill_n(by_active.begin(), normed, Real{0});
      L::unit_norm_adjoint(std::span<const Real>(active).first(normed), shape_.keys, by.first(normed),
                           std::span<Real>(by_active).first(normed));
      std::copy_n(by.begin() + static_cast<std::ptrdiff_t>(normed), mixed - normed,
                  by_active.begin() + static_cast<std::ptrdiff_t>(normed));
      if (shape_.plain)
        std::ranges::copy(by_active, out.begin());
      else
        L::silu_adjoint(in, by_active, out.first(mixed));
      for (std::size_t i = mixed; i < width; ++i) {
        const Real beta = memory[kReady][row * width + i];
        out[i] = by[i] * beta * (1 - beta / range());
      }
    }
    return by_raw;
  }

  Numbers<Real> by_convolved_to_raw(const Weights& weights, const TokenRows& rows, const Memory& memory,
                                    std::span<const Real> by_all, const Gradients& by_weights) const {
    const std::size_t mixed = shape_.beta_column();
    Numbers<Real> by_kept(rows.sources * mixed, 0), by_raw(by_all.begin(), by_all.end());
    L::convolve_adjoint(rows, without_beta(memory[kRaw]), weights[kTaps], mixed, without_beta(by_all), by_kept,
                        by_weights[kTaps]);
    for (std::size_t row = 0; row < rows.sources; ++row)
      std::copy_n(by_kept.begin() + static_cast<std::ptrdiff_t>(row * mixed), mixed,
                  by_raw.begin() + static_cast<std::ptrdiff_t>(row * shape_.columns()));
    return by_raw;
  }

  ReflectionShape shape_;
};

}  // namespace

template <class Real>
std::unique_ptr<Mixer<Real>> reflection_mixer(const ReflectionShape& shape) {
  return std::make_unique<ReflectionMixer<Real>>(shape);
}

template std::unique_ptr<Mixer<float>> reflection_mixer(const ReflectionShape&);
template std::unique_ptr<Mixer<double>> reflection_mixer(const ReflectionShape&);

}  // namespace krohn
