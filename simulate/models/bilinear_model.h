// simulate/models/bilinear_model.h — Ebrahimi and Memisevic's bilinear recurrence as a model to train: h_t = A(x_t)
// h_{t−1} + b(x_t), where every entry of A is linear in the embedding of the letter (§2, eq. 2), and a linear read-out.
// Forward and hand-derived adjoint stand side by side in the implementation.
//
// A letter's matrix does not depend on the word, so it is made once a step for every letter, not once a token; and what
// a prefix leads to does not depend on how the word goes on, so it is computed once for all that share it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/models/sequence_model.h"

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
  double bias_spread = 0;  ///< the same of b; 0: as the recurrent parameters
  bool frozen = false;     ///< only the read-out is trained
  /// The read-out has no bias, and the loss reads h / ‖h‖: without additions the scale of a state tells nothing, and
  /// answers are the same whatever it is.
  bool scale_free = false;

  std::uint32_t block_size() const;
  std::uint32_t generated() const;  ///< numbers that the embedding gives linearly, per letter
  friend bool operator==(const BilinearShape&, const BilinearShape&) = default;
};

/// "bilinear", "bilinear:block=2,hidden=64", "bilinear:rotations", "bilinear:rank=20,bias", "bilinear:diagonal,frozen".
/// Throws InputError naming the part that is not understood or does not fit.
BilinearShape parse_bilinear_shape(std::string_view text);
std::string to_string(const BilinearShape& shape);

template <class Real>
class BilinearModel : public SequenceModel<Real> {
 public:
  /// Initialised from the seed, the same on every machine: embeddings and h_0 normal, the rest uniform.
  BilinearModel(const BilinearShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed);

  const BilinearShape& shape() const { return shape_; }
  std::string name() const override { return to_string(shape_); }
  /// Everything is trained, or the read-out at the end.
  std::size_t first_trained() const override;

  /// O(words · positions · H · block + letters · D · H · block).
  BatchLoss loss_of(const TrainingBatch& batch, const TwinReading* twin, std::span<Real> gradient) const override;
  using SequenceModel<Real>::loss;
  /// The same without the gradient by the weights, which `weights` becomes, where it is a product.
  BatchLoss loss(const TrainingBatch& batch, std::span<Real> gradient, OuterGradient<Real>& weights) const;
  std::optional<LinearModel> linear_view() const override;
  /// For a scale-free model with other letters than rotations: divides every letter's embedding, in which its matrix is
  /// linear, by the factor by which the letter enlarges states of these words, in the geometric mean.
  void settle(const TrainingBatch& words) override;
  bool settles() const override {
    return shape_.scale_free && !shape_.frozen && shape_.form != BilinearShape::Form::kRotations;
  }

  /// The matrices and additions of every letter, laid out as in LinearModel.
  struct Letters {
    Numbers<Real> matrices, additions;
  };
  Letters letter_matrices() const;

 private:
  using Model = SequenceModel<Real>;
  using Model::part;
  using Model::part_of;
  enum Part { kEmbedding, kWeights, kLeft, kRight, kBias, kInputBias, kInitial, kReadout, kReadoutBias };
  static std::vector<ParameterPart> parts(const BilinearShape& shape, Letter letters, std::uint32_t labels);
  Numbers<Real> generated() const;  ///< the embedding's output, a row a letter
  /// `recurrence` runs the batch with the letters' matrices; `weights` may be null.
  template <class Recurrence>
  BatchLoss loss_through(Recurrence recurrence, const Letters& letters, std::span<const TrainingBatch::Target> targets,
                         std::span<Real> gradient, OuterGradient<Real>* weights) const;
  BatchLoss loss_with(const TrainingBatch& batch, std::span<Real> gradient, OuterGradient<Real>* weights) const;
  void add_generator_gradient(const Letters& letters, Letters gradient, std::span<Real> parameters,
                              OuterGradient<Real>* weights) const;

  BilinearShape shape_;
};

extern template class BilinearModel<float>;
extern template class BilinearModel<double>;

}  // namespace krohn
