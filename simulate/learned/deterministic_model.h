// simulate/learned/deterministic_model.h — a trained model read letter by letter in arithmetic that is the same on
// every processor: what claims about trained models speak of, and what the training kernels are compared with.
//
// Every product and every sum is rounded to Real by itself, none is fused, and sums run from the first term to the
// last. Exponentials, logarithms, powers and cosines are those of groups/stated_functions.h, rounded to Real. The
// recurrences are those of simulate/models/reflection_mixer.h, diagonal_mixer.h, block_mixer.h, dense_model.h and
// bilinear_model.h; the training kernels compute the same up to rounding, in an order and with fused operations that
// depend on the processor.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

/// `size` × `columns` numbers of what is remembered, row by row.
struct StateBlock {
  std::size_t first = 0, size = 0, columns = 0;
};

/// What a letter does to each block. Of reflections: their β, head by head.
struct LetterMaps {
  std::vector<Eigen::MatrixXd> matrices;
  std::vector<double> betas;
};

/// Immutable, shared by threads. What it remembers between letters is a list of numbers, always as long.
template <class Real>
class DeterministicModel {
 public:
  /// A recurrent state among the numbers that are remembered: of one layer, and of one head where there are several.
  struct Part {
    std::size_t first = 0, count = 0;
  };

  virtual ~DeterministicModel() = default;

  /// Before the first letter.
  virtual std::vector<Real> start() const = 0;
  /// Reads a letter of the model. `logits`: one a label; or empty, then they are not computed.
  virtual void read(Letter letter, std::span<Real> memory, std::span<Real> logits) const = 0;
  /// The recurrent states, without the tokens that convolutions keep.
  virtual std::vector<Part> states() const = 0;
  /// Every letter multiplies the one state by a matrix, and nothing is added: its scale tells nothing of the word.
  virtual bool is_homogeneous() const { return false; }

  /// The blocks of the first layer's recurrent state that letters multiply by matrices, and the matrices: H ← A(σ) H +
  /// … for a letter that stands behind copies of itself, as far back as a convolution looks.
  virtual std::vector<StateBlock> blocks() const = 0;
  virtual LetterMaps letter_maps(Letter letter) const = 0;
};

/// Real is float or double. Takes a copy of the parameters. Throws InputError for a model of another family.
template <class Real>
std::unique_ptr<DeterministicModel<Real>> plain_model(const SequenceModel<float>& model);

extern template std::unique_ptr<DeterministicModel<float>> plain_model(const SequenceModel<float>&);
extern template std::unique_ptr<DeterministicModel<double>> plain_model(const SequenceModel<float>&);

}  // namespace krohn
