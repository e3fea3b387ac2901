#include "krohn/simulate/models/mixers.h"

#include <cmath>

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/token_layers.h"

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
  bool combines(std::size_t sources) const override {
    return shape_.taps == 0 && sources * shape_.reflections <= kMaxLetterRows;
  }

  Memory run(const Weights& weights, const TokenRows& rows, std::span<const Real> x, std::span<Real> y) const override {
    Memory memory(kMemory);
    memory[kRaw].resize(rows.sources * shape_.columns(), 0);
    L::linear(x, weights[kIn], shape_.width, memory[kRaw]);
    convolve(weights, rows, memory);
    make_ready(rows, memory);
    const std::size_t tokens = rows.tokens(), values = shape_.heads * shape_.values;
    memory[kLacks].resize(tokens * values * shape_.reflections);
    memory[kRead].resize(tokens * values);
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      Reflections<Real> run = reflections(rows, head, memory);
      if (reflection_chunks(run) > rows.words()) {
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
      if (!memory[kStarts].empty()) run.starts = starts(run, head, memory);
      Numbers<Real> scratch(reflection_scratch(run));
      run.scratch = scratch.data();
      training_kernels<Real>().reflect_adjoint(run, adjoint);
    }
    Numbers<Real> by_raw = by_ready_to_raw(rows, memory, by_ready);
    if (shape_.taps > 0) by_raw = by_convolved_to_raw(weights, rows, memory, by_raw, by_weights);
    L::linear_adjoint(x, weights[kIn], shape_.width, by_raw, by_x, by_weights[kIn]);
  }

  Memory combine(const Weights& weights, const TokenRows& rows, std::span<const Real> x,
                 Combined<Real>& to) const override {
    Memory memory(kMemory);
    memory[kRaw].resize(rows.sources * shape_.columns(), 0);
    L::linear(x, weights[kIn], shape_.width, memory[kRaw]);
    make_ready(rows, memory);
    const std::size_t tokens = rows.tokens(), heads = shape_.heads, count = terms(rows);
    to.terms = heads * count;
    memory[kBasis] = basis(rows, memory);
    memory[kGained] = times_gain(weights, memory[kBasis]);
    make_gram(rows, memory);
    memory[kLacks].resize(tokens * to.terms * shape_.reflections);
    memory[kBefores].resize(memory[kLacks].size());
    memory[kRead].resize(tokens * to.terms);
    memory[kScale].resize(tokens * heads);
    to.by.resize(tokens * to.terms);
    to.table.resize(to.terms * shape_.width, 0);
    const Numbers<Real> vectors = axes(count);
    for (std::size_t head = 0; head < heads; ++head) {
      LetterReflections<Real> letters = by_letter(rows, head, vectors, memory);
      Numbers<Real> scratch(letter_reflection_scratch(letters));
      letters.run.scratch = scratch.data();
      training_kernels<Real>().reflect_letters(letters);
      training_kernels<Real>().gram_norm(gram_rows(rows, head, memory), memory[kScale].data() + head * tokens,
                                         to.by.data() + head * count);
      L::linear(of_head(std::span<const Real>(memory[kGained]), head, heads), of_head(weights[kOut], head, heads),
                shape_.values, of_head(std::span<Real>(to.table), head, heads));
    }
    return memory;
  }

  void combine_adjoint(const Weights& weights, const TokenRows& rows, std::span<const Real> x, Memory& memory,
                       const Combined<Real>& by, std::span<Real> by_x, const Gradients& by_weights) const override {
    const std::size_t tokens = rows.tokens(), heads = shape_.heads, count = terms(rows), values = shape_.values;
    Numbers<Real> by_read(memory[kRead].size()), by_gained(memory[kGained].size(), 0);
    Numbers<Real> by_ready(memory[kReady].size(), 0), by_vectors(count * count, 0);
    const Numbers<Real> vectors = axes(count);
    for (std::size_t head = 0; head < heads; ++head) {
      const std::span<Real> by_own = of_head(std::span<Real>(by_gained), head, heads);
      L::linear_adjoint(
          of_head(std::span<const Real>(memory[kGained]), head, heads), of_head(weights[kOut], head, heads), values,
          of_head(std::span<const Real>(by.table), head, heads), by_own, of_head(by_weights[kOut], head, heads));
      const Real* const own = memory[kBasis].data() + head * count * values;
      for (std::size_t first = 0; first < by_own.size(); first += values)
        for (std::size_t i = 0; i < values; ++i) {
          by_weights[kNorm][i] += by_own[first + i] * own[first + i];
          by_own[first + i] *= weights[kNorm][i];  // the gradient by the basis
        }
      Numbers<Real> by_gram(count * count, 0);
      training_kernels<Real>().gram_norm_adjoint(gram_rows(rows, head, memory), memory[kScale].data() + head * tokens,
                                                 by.by.data() + head * count, by_read.data() + head * count,
                                                 by_gram.data());
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < count; ++j)
          for (std::size_t k = 0; k < values; ++k)
            by_own[i * values + k] += 2 * by_gram[i * count + j] * own[j * values + k];

      LetterReflections<Real> letters = by_letter(rows, head, vectors, memory);
      Numbers<Real> scratch(letter_reflection_scratch(letters));
      letters.run.scratch = scratch.data();
      Real* const ready = by_ready.data();
      training_kernels<Real>().reflect_letters_adjoint(
          letters, {by_read.data() + head * count, ready + shape_.q_column(head), ready + shape_.k_column(head),
                    combines_values(rows) ? by_vectors.data() : ready + shape_.v_column(head),
                    ready + shape_.beta_column(head), nullptr});
      if (combines_values(rows))
        for (std::size_t row = 0; row < count; ++row)
          for (std::size_t k = 0; k < values; ++k) ready[value_at(head, row) + k] += by_own[row * values + k];
    }
    const Numbers<Real> by_raw = by_ready_to_raw(rows, memory, by_ready);
    L::linear_adjoint(x, weights[kIn], shape_.width, by_raw, by_x, by_weights[kIn]);
  }

 private:
  using L = TokenLayers<Real>;
  enum Part { kIn, kTaps, kNorm, kOut };
  /// raw: the map's columns q, k, v, β; mixed: after the convolution; ready: as the recurrence reads them.
  /// Where rows are combined, `read` are coefficients; basis: the rows that they combine; gained: these times the gain.
  enum {
    kRaw,
    kMixed,
    kReady,
    kLacks,
    kBefores,
    kStarts,
    kRead,
    kNormed,
    kBasis,
    kGained,
    kGram,
    kFactor,
    kScale,
    kMemory
  };

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

  /// Values of a head, a row for every source and reflection, are few: whatever the recurrence makes is a combination
  /// of them, and it makes the coefficients alone, as if these rows were the axes. Where they are more than a row has
  /// numbers, the axes themselves are fewer.
  std::size_t terms(const TokenRows& rows) const {
    return std::min<std::size_t>(rows.sources * shape_.reflections, shape_.values);
  }
  bool combines_values(const TokenRows& rows) const { return rows.sources * shape_.reflections <= shape_.values; }
  std::size_t value_at(std::size_t head, std::size_t row) const {
    return row / shape_.reflections * shape_.columns() + shape_.v_column(head) +
           row % shape_.reflections * shape_.values;
  }
  static Numbers<Real> axes(std::size_t count) {
    Numbers<Real> result(count * count, 0);
    for (std::size_t i = 0; i < count; ++i) result[i * count + i] = 1;
    return result;
  }
  /// The rows that are combined: of all heads, terms × values each.
  Numbers<Real> basis(const TokenRows& rows, const Memory& memory) const {
    Numbers<Real> result;
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      const Numbers<Real> own = combines_values(rows) ? Numbers<Real>() : axes(terms(rows));
      result.insert(result.end(), own.begin(), own.end());
      if (combines_values(rows))
        for (std::size_t row = 0; row < terms(rows); ++row) {
          const Real* const value = memory[kReady].data() + value_at(head, row);
          result.insert(result.end(), value, value + shape_.values);
        }
    }
    return result;
  }
  Numbers<Real> times_gain(const Weights& weights, std::span<const Real> by_values) const {
    Numbers<Real> result(by_values.begin(), by_values.end());
    for (std::size_t first = 0; first < result.size(); first += shape_.values)
      for (std::size_t i = 0; i < shape_.values; ++i) result[first + i] *= weights[kNorm][i];
    return result;
  }
  template <class Number>
  static std::span<Number> of_head(std::span<Number> all, std::size_t head, std::size_t heads) {
    return all.subspan(all.size() / heads * head, all.size() / heads);
  }

  /// `vectors` are the axes where values are combined.
  LetterReflections<Real> by_letter(const TokenRows& rows, std::size_t head, const Numbers<Real>& vectors,
                                    Memory& memory) const {
    const std::size_t count = terms(rows), all = shape_.heads * count;
    LetterReflections<Real> letters{};
    Reflections<Real>& run = letters.run = reflections(rows, head, memory);
    run.words = rows.sharing->length.size();
    if (combines_values(rows)) run.v = vectors.data(), run.v_row = shape_.reflections * count;
    run.values = count;
    run.o_row = all, run.o = memory[kRead].data() + head * count;
    run.lacks_row = all * shape_.reflections, run.lacks = memory[kLacks].data() + head * count * shape_.reflections;
    letters.positions = rows.sharing->positions;
    letters.path = rows.sharing->path.data();
    letters.length = rows.sharing->length.data();
    letters.shared = rows.sharing->shared.data();
    letters.befores = memory[kBefores].data() + head * count * shape_.reflections;
    return letters;
  }
  GramRows<Real> gram_rows(const TokenRows& rows, std::size_t head, const Memory& memory) const {
    const std::size_t count = terms(rows), at = head * count * count;
    return {rows.tokens(),
            count,
            shape_.values,
            shape_.heads * count,
            memory[kGram].data() + at,
            memory[kFactor].data() + at,
            memory[kRead].data() + head * count};
  }
  /// The products of the basis' rows with each other, and their Cholesky factor; in double, because what is small among
  /// great numbers is not to be lost twice. Rows that are combinations of those before them have no column.
  void make_gram(const TokenRows& rows, Memory& memory) const {
    const std::size_t count = terms(rows), values = shape_.values;
    std::vector<double> gram(count * count), factor(count * count);
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      const Real* const basis = memory[kBasis].data() + head * count * values;
      std::ranges::fill(factor, 0.0);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k < values; ++k)
            sum += static_cast<double>(basis[i * values + k]) * static_cast<double>(basis[j * values + k]);
          gram[i * count + j] = gram[j * count + i] = sum;
          for (std::size_t k = 0; k < j; ++k) sum -= factor[i * count + k] * factor[j * count + k];
          const double corner = factor[j * count + j];
          if (i == j)
            factor[i * count + i] = sum > 1e-14 * gram[i * count + i] ? std::sqrt(sum) : 0;
          else
            factor[i * count + j] = corner > 0 ? sum / corner : 0;
        }
      for (const double number : gram) memory[kGram].push_back(static_cast<Real>(number));
      for (const double number : factor) memory[kFactor].push_back(static_cast<Real>(number));
    }
  }

  Real* starts(const Reflections<Real>& run, std::size_t head, Memory& memory) const {
    return memory[kStarts].data() + head * reflection_chunks(run) * shape_.state_size();
  }

  void convolve(const Weights& weights, const TokenRows& rows, Memory& memory) const {
    if (shape_.taps == 0) return;
    const std::size_t mixed = shape_.beta_column();
    Numbers<Real> before(rows.words() * (shape_.taps - 1) * mixed, 0);
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
