// simulate/models/mixer.h — the part of a block that mixes tokens: a recurrence with the maps into and out of it.
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

}  // namespace krohn
