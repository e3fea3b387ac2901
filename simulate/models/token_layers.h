// simulate/models/token_layers.h — what a model does with every token alone, forward and adjoint: linear maps, norms,
// activations; and the short convolution. Matrices are row-major, one row a token; adjoints add to what they give.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "krohn/groups/base/random.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// The tokens that words share: words in an order in which each has its first shared[w] tokens in common with the one
/// before it, which have one row together.
struct SharedTokens {
  std::size_t positions = 0;
  std::vector<std::uint32_t> path;  ///< w · positions + position ↦ row
  std::vector<std::uint32_t> length, shared;
};

/// Where the tokens of some words stand: word w in rows first[w] … first[w+1] − 1, in order; or as words share them,
/// and then words() is 0.
struct TokenRows {
  std::vector<std::size_t> first{0};
  std::optional<SharedTokens> sharing;
  /// Token row ↦ row of the layer's input. In the first layer that is the letter: what a letter gives does not depend
  /// on the word and is computed once. Elsewhere the row itself.
  std::vector<std::uint32_t> source;
  std::size_t sources = 0;
  std::vector<std::uint32_t> place;  ///< word of a batch ↦ w, for those that are here

  std::size_t words() const { return first.size() - 1; }
  std::size_t tokens() const { return source.size(); }
  std::size_t length(std::size_t word) const { return first[word + 1] - first[word]; }
  /// For a word of the batch.
  std::size_t row(std::size_t word, std::size_t position) const {
    return sharing ? sharing->path[place[word] * sharing->positions + position] : first[place[word]] + position;
  }
};

template <class Real>
struct TokenLayers {
  /// y += x W, with W inputs × outputs.
  static void linear(std::span<const Real> x, std::span<const Real> weights, std::size_t inputs, std::span<Real> y);
  /// `sets`: by_x is written, not added to.
  static void linear_adjoint(std::span<const Real> x, std::span<const Real> weights, std::size_t inputs,
                             std::span<const Real> by_y, std::span<Real> by_x, std::span<Real> by_weights,
                             bool sets = false);

  /// y = gain ∘ x / √(mean x² + 10⁻⁵), for every `gain.size()` numbers.
  static void rms_norm(std::span<const Real> x, std::span<const Real> gain, std::span<Real> y);
  static void rms_norm_adjoint(std::span<const Real> x, std::span<const Real> gain, std::span<const Real> by_y,
                               std::span<Real> by_x, std::span<Real> by_gain);

  /// y = x / √(Σ x² + 10⁻⁶), for every `width` numbers, as flash-linear-attention normalises keys.
  static void unit_norm(std::span<const Real> x, std::size_t width, std::span<Real> y);
  static void unit_norm_adjoint(std::span<const Real> x, std::size_t width, std::span<const Real> by_y,
                                std::span<Real> by_x);

  /// x / (1 + e⁻ˣ), elementwise.
  static void silu(std::span<const Real> x, std::span<Real> y);
  static void silu_adjoint(std::span<const Real> x, std::span<const Real> by_y, std::span<Real> by_x);

  /// log(1 + eˣ), elementwise.
  static void softplus(std::span<const Real> x, std::span<Real> y);
  static void softplus_adjoint(std::span<const Real> x, std::span<const Real> by_y, std::span<Real> by_x);

  /// silu(first half) ∘ second half, row by row of 2 · width: SwiGLU's middle.
  static void gate(std::span<const Real> x, std::size_t width, std::span<Real> y);
  static void gate_adjoint(std::span<const Real> x, std::size_t width, std::span<const Real> by_y,
                           std::span<Real> by_x);

  /// y_t = Σ_j taps(j) ∘ x_{t−j} for `width` channels, each word alone; what stands before a word is `before`, taps − 1
  /// rows a word, oldest first, and becomes the word's last rows. `taps`: taps × width.
  static void convolve(const TokenRows& rows, std::span<const Real> x, std::span<const Real> taps, std::size_t width,
                       std::span<Real> before, std::span<Real> y);
  /// For words that began with zeros.
  static void convolve_adjoint(const TokenRows& rows, std::span<const Real> x, std::span<const Real> taps,
                               std::size_t width, std::span<const Real> by_y, std::span<Real> by_x,
                               std::span<Real> by_taps);
};

extern template struct TokenLayers<float>;
extern template struct TokenLayers<double>;

// How a step cuts a batch into slices of words, where their tokens stand, and what is
// asked of them.

/// Some words of a batch, which a step reads apart from the others: few enough that what it keeps of them stays in the
/// second-level cache, and for threads to take. How a batch is cut depends on nothing but the batch and the number of
/// parameters: each slice but the first has a gradient of its own, and these take no more than some hundred numbers a
/// token.
struct Slice {
  std::span<const std::uint32_t> words;   ///< of the batch
  std::span<const std::uint32_t> shared;  ///< tokens that each has in common with the one before, where rows are shared
};

/// `shared` is empty where no rows are.
std::vector<Slice> slices_of(const TrainingBatch& batch, std::span<const std::uint32_t> words,
                             std::span<const std::uint32_t> shared, std::size_t parameters);

/// The sum of what every slice gives for its words' targets, in at most so many threads, which change no bit of it;
/// 0: as many as OpenMP gives. `slice_loss` adds to the gradient that it is given, or where that is empty needs none.
template <class Real>
BatchLoss loss_of_slices(
    const TrainingBatch& batch, std::span<const Slice> slices, unsigned threads, std::span<Real> gradient,
    const std::function<BatchLoss(const Slice&, std::span<const TrainingBatch::Target>, std::span<Real>)>& slice_loss);

/// The words one after another, each token reading its letter's row.
TokenRows rows_of(const TrainingBatch& batch, std::span<const std::uint32_t> words, std::size_t letters);
/// The same with one row for the tokens that words share.
TokenRows shared_rows_of(const TrainingBatch& batch, const Slice& slice, std::size_t letters);

/// Targets at one row that ask for the same are one, which counts so often. In the order of the rows.
struct DistinctTargets {
  std::vector<TrainingBatch::Target> targets;
  std::vector<std::size_t> rows;
  std::vector<std::uint32_t> counts;

  /// One target at every row from one to another: nearly always at every token, or at all but the first.
  bool is_range() const;
};

DistinctTargets distinct_targets(std::span<const TrainingBatch::Target> targets, const TokenRows& rows);

// The loss of logits, and its gradient by them.

/// Row i of `logits`, `labels` numbers, belongs to targets[i]. The logits become the gradient of the mean cross-entropy
/// by them: softmax − the target's probabilities (one-hot, unless it is smoothed), over the number of targets. Target i
/// counts counts[i] times, or where there are no counts, once; `all` are the targets that the mean is taken of, where
/// these are not all: the loss is then their share of it.
template <class Real>
BatchLoss cross_entropy(std::span<Real> logits, std::uint32_t labels, std::span<const TrainingBatch::Target> targets,
                        std::span<const std::uint32_t> counts = {}, std::uint64_t all = 0);

/// The noise of one reading of some words in one layer.
class Noise {
 public:
  Noise(std::uint64_t seed, std::uint64_t reading, std::uint64_t layer, double deviation)
      : random_(Random(Random(seed).next() + 2 * layer + reading).next()), scale_(deviation / 37'837) {}

  /// Four uniform numbers of 16 bits are nearly normal in sum, at the price of one of 64, and the same on every
  /// machine.
  template <class Real>
  void add_to(Real* numbers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = random_.next();
      const auto part = [&](int shift) { return static_cast<std::int32_t>(bits >> shift & 0xFFFF); };
      numbers[i] += static_cast<Real>((part(0) + part(16) + part(32) + part(48) - 131'070) * scale_);
    }
  }

 private:
  Random random_;
  double scale_;  ///< the sum's deviation is 2^16 / √3
};

}  // namespace krohn
