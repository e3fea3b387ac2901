// simulate/models/token_layers.h — what a model does with every token alone, forward and adjoint: linear maps, norms,
// activations; and the short convolution. Matrices are row-major, one row a token; adjoints add to what they give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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
  /// Of a word of the batch.
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

}  // namespace krohn
