// simulate/models/mixers.h — the parts of blocks that mix tokens: recurrences with the maps into and out of them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "krohn/groups/base/random.h"
#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/models/token_layers.h"

namespace krohn {

/// Rows of `width` numbers each, as combinations of those of a table: row t is Σ_j by(t, j) · table(j, ·). Or the
/// gradient by both.
template <class Real>
struct Combined {
  std::size_t terms = 0;  ///< rows of the table
  Numbers<Real> by, table;
};

template <class Real>
class Mixer {
 public:
  /// One span a part, in the order of parts().
  using Weights = std::vector<std::span<const Real>>;
  using Gradients = std::vector<std::span<Real>>;
  /// Lists of numbers, each mixer's own: what the adjoint needs of the forward.
  using Memory = std::vector<Numbers<Real>>;

  virtual ~Mixer() = default;

  virtual std::vector<ParameterPart> parts() const = 0;
  virtual void initialise(const Gradients& weights, Random& random) const = 0;
  /// True if a token's row of the input must be its own, because tokens are mixed before the recurrence.
  virtual bool needs_own_rows() const { return false; }
  /// True if it combines rows that words share, with so many rows of the input: words that begin and end here alone.
  virtual bool combines(std::size_t) const { return false; }

  /// Adds to y, a row a token; words begin and end here.
  virtual Memory run(const Weights& weights, const TokenRows& rows, std::span<const Real> x,
                     std::span<Real> y) const = 0;

  /// Adds the gradients by x (a row a source) and by the weights.
  virtual void run_adjoint(const Weights& weights, const TokenRows& rows, std::span<const Real> x, Memory& memory,
                           std::span<const Real> by_y, std::span<Real> by_x, const Gradients& by_weights) const = 0;

  /// The rows that `run` would add to y, where it combines: few rows, of which all others are combinations.
  virtual Memory combine(const Weights&, const TokenRows&, std::span<const Real>, Combined<Real>&) const { return {}; }
  /// Adds the gradients by x and by the weights.
  virtual void combine_adjoint(const Weights&, const TokenRows&, std::span<const Real>, Memory&, const Combined<Real>&,
                               std::span<Real>, const Gradients&) const {}

  /// The rows that `run` adds to y, as the state of a linear recurrence over the rows of x; where it is one. Leaves the
  /// read-out empty.
  virtual std::optional<LinearModel> linear_view(const Weights&, std::span<const Real>) const { return std::nullopt; }
};

// Products of generalized Householder matrices: DeltaNet (Yang et al. 2024) and,
// with several reflections a token, DeltaProduct, with eigenvalues in [0, 1] or [−1, 1] (Grazzi et al. 2025, Tables 1
// and 2).
//
// For every head S ← S + β k (v − Sᵀk)ᵀ, once for every reflection, then o = Sᵀq; k and q are L2-normalised, q, k and v
// pass a SiLU and optionally a short convolution, β is a sigmoid, times 2 for [−1, 1]; o passes an RMS norm by head and
// a linear map, as in flash-linear-attention's layers.

struct ReflectionShape {
  std::uint32_t width = 64, heads = 2, keys = 32, values = 32;  ///< keys and values of one head
  std::uint32_t reflections = 1;
  std::uint32_t taps = 0;  ///< of the convolution; 0: none
  bool negative = false;   ///< eigenvalues in [−1, 1]
  bool plain = false;      ///< no SiLU on q, k and v

  // The columns of a token's row: q of all heads, then all k, v and β, by head and reflection.
  std::size_t q_column(std::size_t head) const { return head * keys; }
  std::size_t k_column(std::size_t head) const { return (heads + head * reflections) * keys; }
  std::size_t v_column(std::size_t head) const { return k_column(heads) + head * reflections * values; }
  std::size_t beta_column(std::size_t head = 0) const { return v_column(heads) + head * reflections; }
  std::size_t columns() const { return beta_column(heads); }
  std::size_t state_size() const { return std::size_t{keys} * values; }  ///< of a head

  friend bool operator==(const ReflectionShape&, const ReflectionShape&) = default;
};

template <class Real>
std::unique_ptr<Mixer<Real>> reflection_mixer(const ReflectionShape& shape);

// Diagonal recurrences: Mamba's, whose decay depends on the input (Gu & Dao 2023),
// with values in [0, 1] or [−1, 1] (Grazzi et al. 2025, Table 2) or complex ones of modulus at most 1 (as in S4D and
// LRU), and the one whose decay does not (S4D, Gu et al. 2022; LRU, Orvieto et al. 2023).
//
// u = SiLU(convolution(x W)), Δ = softplus(u W_Δ + b), h ← a ∘ h + k (Δ ∘ u) with a = s or 2s − 1 for
// s = exp(−Δ exp(w)), or a = exp(−Δ exp(w) + iΔθ); y = qᵀh + D ∘ u, gated by SiLU(x W_z). Without input dependence Δ =
// 1 in a. A complex h has real k and two numbers of q, for its real and its imaginary part.

struct DiagonalShape {
  std::uint32_t width = 64, channels = 128, states = 16;  ///< states of one channel
  std::uint32_t taps = 4;                                 ///< of the convolution; 0: none
  bool negative = false;                                  ///< values in [−1, 1]
  bool fixed = false;                                     ///< values that do not depend on the input
  bool complex = false;                                   ///< complex values; never with `negative`
  friend bool operator==(const DiagonalShape&, const DiagonalShape&) = default;
};

template <class Real>
std::unique_ptr<Mixer<Real>> diagonal_mixer(const DiagonalShape& shape);

// Fan et al. 2024's block-diagonal input-dependent recurrence (eq. 5 and 6): x ← A(u) x
// + B u with h blocks of b×b in A, each column divided by max(1, its p-norm). What it adds is the state itself.
//
// A(u) = G₂ SiLU(G₁ u) + c, or G u + c without hidden units. (As released, the paper's layer instead subtracts the
// column means and divides by the greatest column norm, under which even the blocks of a plain permutation contract.)

struct BlockShape {
  std::uint32_t blocks = 8, size = 8;  ///< h and b; the width is h · b
  double norm = 1.2;                   ///< p
  std::uint32_t generator = 0;         ///< hidden units of the network that gives A
  std::uint32_t width() const { return blocks * size; }
  friend bool operator==(const BlockShape&, const BlockShape&) = default;
};

template <class Real>
std::unique_ptr<Mixer<Real>> block_mixer(const BlockShape& shape);

}  // namespace krohn
