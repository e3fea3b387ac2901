// simulate/bilinear_model.h — Ebrahimi and Memisevic's bilinear recurrence as a model to train: h_t = A(x_t) h_{t−1} +
// b(x_t), where every entry of A is linear in the embedding of the letter (§2, eq. 2), and a linear read-out. Forward
// and hand-derived adjoint stand side by side in the implementation.
//
// A letter's matrix does not depend on the word, so it is made once a step for every letter, not once a token; products
// of one letter's matrix with all the states that read it are one matrix product.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "constructions/network.h"
#include "constructions/safetensors.h"
#include "simulate/training_batch.h"

namespace krohn {

struct BilinearShape {
  enum class Form : std::uint8_t {
    kFull,       ///< H×H
    kFactored,   ///< U diag(V x) Pᵀ: a CP tensor of rank R (§2.3)
    kBlocks,     ///< block-diagonal with blocks of b×b (§2.4); b = 1 is the real diagonal
    kRotations,  ///< 2×2 rotations by angles linear in x (R_2)
  };
  Form form = Form::kFull;
  std::uint32_t hidden = 64;              ///< H
  std::uint32_t inputs = 64;              ///< D, the embedding
  std::uint32_t block = 1;                ///< with kBlocks
  std::uint32_t rank = 64;                ///< with kFactored
  bool bias = false, input_bias = false;  ///< b(x) = bias + (input_bias) V x
  /// Recurrent parameters are uniform in ±spread; 0: so that the spectral radius of a random A is about 1.
  double spread = 0;
  bool frozen = false;  ///< only the read-out is trained

  std::uint32_t block_size() const;
  friend bool operator==(const BilinearShape&, const BilinearShape&) = default;
};

/// "bilinear", "bilinear:block=2,hidden=64", "bilinear:rotations", "bilinear:rank=20,bias", "bilinear:diagonal,frozen".
/// Throws InputError naming the part that is not understood or does not fit.
BilinearShape parse_bilinear_shape(std::string_view text);
std::string to_string(const BilinearShape& shape);

/// How one batch went.
struct BatchLoss {
  double loss = 0;  ///< mean cross-entropy over the targets, in nats
  std::uint64_t right = 0, targets = 0;
};

/// Real is float for training, double for checking the adjoint by finite differences.
template <class Real>
class BilinearModel {
 public:
  /// Initialised from the seed, the same on every machine: embeddings and h_0 normal, the rest uniform.
  BilinearModel(const BilinearShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed);

  const BilinearShape& shape() const { return shape_; }
  Letter letters() const { return letters_; }
  std::uint32_t labels() const { return labels_; }

  /// All parameters one after another, and the part that is trained: everything, or the read-out at the end.
  std::span<Real> parameters() { return parameters_; }
  std::span<const Real> parameters() const { return parameters_; }
  std::size_t first_trained() const;

  /// The loss of a batch, and its gradient by every parameter added to `gradient` (as long as `parameters`, or empty:
  /// no gradient). O(words · positions · H · block + letters · D · H · block).
  BatchLoss loss(const TrainingBatch& batch, std::span<Real> gradient) const;

  /// Parameters by name and shape, and back. Throws InputError naming what is missing or of another shape.
  TensorFile tensors() const;
  void load(const TensorFile& tensors);

  /// The dense or blockwise matrix of every letter, H columns by blocks: block k of letter σ is rows k·s … of an
  /// s×s matrix, at ((σ · blocks + k) · s + row) · s + column; and b(σ), H numbers a letter, empty without additions.
  struct Letters {
    std::vector<Real> matrices, additions;
  };
  Letters letter_matrices() const;

  std::span<const Real> initial_state() const { return part(kInitial); }
  std::span<const Real> readout() const { return part(kReadout); }  ///< labels × H
  std::span<const Real> readout_bias() const { return part(kReadoutBias); }

 private:
  enum Part { kEmbedding, kWeights, kLeft, kRight, kBias, kInputBias, kInitial, kReadout, kReadoutBias, kParts };
  static const char* name_of(Part part);
  std::vector<std::uint64_t> shape_of(Part part) const;
  std::span<const Real> part(Part part) const {
    return {parameters_.data() + begin_[part], begin_[part + 1] - begin_[part]};
  }
  std::span<Real> part_of(std::span<Real> all, Part part) const {
    return all.subspan(begin_[part], begin_[part + 1] - begin_[part]);
  }
  std::uint32_t generated() const;  ///< numbers that the embedding gives linearly, per letter
  void add_generator_gradient(const Letters& letters, const Letters& gradient, std::span<Real> parameters) const;

  BilinearShape shape_;
  Letter letters_;
  std::uint32_t labels_;
  std::vector<std::size_t> begin_;
  std::vector<Real> parameters_;
};

extern template class BilinearModel<float>;
extern template class BilinearModel<double>;

}  // namespace krohn
