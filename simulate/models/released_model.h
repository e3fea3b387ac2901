// simulate/models/released_model.h — Fan et al. 2024's model as their code has it, which is not what their paper
// prints (simulate/models/mixers.h).
//
// x ← A(u) x + v(u) with h blocks of b×b in A; A = G₂ ReLU(G₁ u + c₁) + c₂, from every column of which its mean is
// taken, and every block is divided by the greatest p-norm of its columns, or stays 0 where all of them are constant;
// v = V₂ ReLU(V₁ u + d₁) + d₂; u is a layer norm of the layer's input. All layers but the last add their input to the
// state. A layer norm of the last state goes through R₂ ReLU(R₁ · + r₁) + r₂. Parameters begin as PyTorch's modules do.
#pragma once

#include <string>
#include <string_view>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

struct ReleasedShape {
  std::uint32_t layers = 1, blocks = 8, size = 8;  ///< h and b
  double norm = 1.2;                               ///< p
  std::uint32_t width() const { return blocks * size; }
  friend bool operator==(const ReleasedShape&, const ReleasedShape&) = default;
};

/// "fan-released:layers=3,blocks=8,size=8,norm=1.2". Throws InputError naming the part that is not understood.
ReleasedShape parse_released_shape(std::string_view text);
std::string to_string(const ReleasedShape& shape);

template <class Real>
class ReleasedModel : public SequenceModel<Real> {
 public:
  ReleasedModel(const ReleasedShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed);

  std::string name() const override { return to_string(shape_); }
  const ReleasedShape& shape() const { return shape_; }
  BatchLoss loss_of(const TrainingBatch& batch, const TwinReading* twin, std::span<Real> gradient) const override;

 private:
  using Model = SequenceModel<Real>;
  using Model::part;
  using Model::part_of;
  struct Layer;
  struct Forward;
  /// For a layer, for the end, and for the affine maps in them a matrix and a bias.
  enum { kNorm, kNormBias, kBlockIn, kBlockOut = 4, kValueIn = 6, kValueOut = 8, kStart = 10, kLayerParts };
  enum { kFinalNorm, kFinalNormBias, kHead, kReadout = 4 };

  static std::vector<ParameterPart> parts(const ReleasedShape& shape, Letter letters, std::uint32_t labels);
  std::size_t layer_part(std::size_t layer) const { return 1 + layer * kLayerParts; }
  std::size_t end_part() const { return layer_part(shape_.layers); }

  Forward forward(const TrainingBatch& batch) const;
  std::vector<Real> logits(Forward& forward, const TrainingBatch& batch) const;

  ReleasedShape shape_;
};

extern template class ReleasedModel<float>;
extern template class ReleasedModel<double>;

}  // namespace krohn
