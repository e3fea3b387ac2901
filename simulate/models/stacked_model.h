// simulate/models/stacked_model.h — layers of a recurrence as in language models: x ← x + mixer(norm(x)), x ← x +
// mlp(norm(x)), and a linear read-out of norm(x). One layer of Fan et al.'s blocks is bare: its state is read out as it
// is.
#pragma once

#include <string_view>
#include <variant>

#include "krohn/simulate/models/mixers.h"

namespace krohn {

struct StackedShape {
  std::variant<ReflectionShape, DiagonalShape, BlockShape> mixer;
  std::uint32_t layers = 1;
  std::uint32_t mlp = 0;  ///< hidden units of SwiGLU; 0: no MLP

  std::uint32_t width() const;
  /// No norms, no residuals.
  bool is_bare() const { return layers == 1 && std::holds_alternative<BlockShape>(mixer); }
  friend bool operator==(const StackedShape&, const StackedShape&) = default;
};

/// "deltaproduct:signed,reflections=2", "diagonal:signed,layers=2", "fan:blocks=8,size=8,layers=3".
/// Throws InputError naming the part that is not understood or does not fit.
StackedShape parse_stacked_shape(std::string_view text);
std::string to_string(const StackedShape& shape);

template <class Real>
class StackedModel : public SequenceModel<Real> {
 public:
  /// Initialised from the seed, the same on every machine.
  StackedModel(const StackedShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed);

  std::string name() const override { return to_string(shape_); }
  const StackedShape& shape() const { return shape_; }
  BatchLoss loss_of(const TrainingBatch& batch, const TwinReading* twin, std::span<Real> gradient) const override;
  std::optional<LinearModel> linear_view() const override;

 private:
  using Model = SequenceModel<Real>;
  using Model::part;
  using Model::part_of;
  using Memory = typename Mixer<Real>::Memory;
  using L = TokenLayers<Real>;
  /// For a layer; the mixer's parts stand between.
  enum { kMlpNorm, kMlpIn, kMlpOut, kAfterMixer };
  enum { kFinalNorm, kReadout, kReadoutBias };

  /// One layer's numbers on the way up. x has a row a source, the others a row a token.
  struct Layer {
    Numbers<Real> x, normed, middle, mlp_normed, hidden, gated;
    Memory memory;
    /// Where the mixer combines rows: the rows that middle combines, those of the letters at the end; these times the
    /// norm's gain; and those that hidden combines, before the norm's scale. What is nearly all of a layer's arithmetic
    /// is so done for a few rows instead of for every token.
    Combined<Real> made;
    Numbers<Real> table, gained, hidden_table, scale, logistics;
  };
  struct Forward;
  static std::vector<ParameterPart> parts(const StackedShape& shape, Letter letters, std::uint32_t labels);
  /// The first part of a layer: its norm, followed by the mixer's parts. That after the last layer is the final norm.
  std::size_t part_of_layer(std::size_t layer) const { return 1 + layer * (1 + mixer_parts_ + kAfterMixer); }
  std::size_t part_of_mlp(std::size_t layer) const { return part_of_layer(layer) + 1 + mixer_parts_; }
  std::size_t part_at_end() const { return part_of_layer(shape_.layers); }
  template <class Number>
  std::vector<std::span<Number>> mixer_parts(std::span<Number> all, std::size_t layer) const;

  Forward forward(TokenRows letters) const;
  /// The share of some words in the loss of a batch with so many targets in all.
  BatchLoss slice_loss(const TokenRows& rows, std::span<const TrainingBatch::Target> targets, std::uint64_t all,
                       std::span<Real> gradient) const;
  Numbers<Real> run_layer(std::size_t index, const TokenRows& rows, Layer& layer) const;
  /// From the gradient by what the layer gives to that by its x.
  Numbers<Real> run_layer_adjoint(std::size_t index, const TokenRows& rows, Layer& layer, Numbers<Real> by_y,
                                  std::span<Real> gradient) const;
  /// The same of a single layer whose mixer combines.
  Numbers<Real> run_combined(const TokenRows& rows, Layer& layer) const;
  Numbers<Real> run_combined_adjoint(const TokenRows& rows, Layer& layer, Numbers<Real> by_y,
                                     std::span<Real> gradient) const;
  /// The inputs of the targets, a row each, with the final norm.
  Numbers<Real> read(const Forward& forward, std::span<const std::size_t> rows) const;
  Numbers<Real> final_norm(std::span<const Real> read) const;
  Numbers<Real> logits(std::span<const Real> normed) const;

  StackedShape shape_;
  std::unique_ptr<Mixer<Real>> mixer_;
  std::size_t mixer_parts_;
};

extern template class StackedModel<float>;
extern template class StackedModel<double>;

/// The shape of the mixers of a model of such layers, or null.
template <class Shape>
const Shape* mixer_of(const SequenceModel<float>& model) {
  const auto* const stacked = dynamic_cast<const StackedModel<float>*>(&model);
  return stacked == nullptr ? nullptr : std::get_if<Shape>(&stacked->shape().mixer);
}

}  // namespace krohn
