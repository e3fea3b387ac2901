// simulate/models/dense_model.h — the full-matrix baseline of Grazzi et al. 2025, E.2.1: H ← A(x) H from H = I, with an
// n×n matrix of its own for every letter; the flattened H, divided by max(1, its norm), is read out linearly.
#pragma once

#include <string_view>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

struct DenseShape {
  std::uint32_t size = 32;  ///< n
  friend bool operator==(const DenseShape&, const DenseShape&) = default;
};

/// "dense", "dense:size=16". Throws InputError naming the part that is not understood.
DenseShape parse_dense_shape(std::string_view text);
std::string to_string(const DenseShape& shape);

template <class Real>
class DenseModel : public SequenceModel<Real> {
 public:
  /// Letters begin near the identity, the same on every machine.
  DenseModel(const DenseShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed);

  std::string name() const override { return to_string(shape_); }
  const DenseShape& shape() const { return shape_; }
  BatchLoss loss_of(const TrainingBatch& batch, const TwinReading* twin, std::span<Real> gradient) const override;

 private:
  using Model = SequenceModel<Real>;
  using Model::part;
  using Model::part_of;
  enum { kMatrices, kReadout, kReadoutBias };

  std::size_t state_size() const { return std::size_t{shape_.size} * shape_.size; }
  std::span<const Real> matrix(Letter letter) const {
    return part(kMatrices).subspan(letter * state_size(), state_size());
  }
  void step(Letter letter, std::span<const Real> from, std::span<Real> to) const;
  /// The read-out of projected states, a row each.
  std::vector<Real> logits(std::span<const Real> projected) const;

  DenseShape shape_;
};

extern template class DenseModel<float>;
extern template class DenseModel<double>;

}  // namespace krohn
