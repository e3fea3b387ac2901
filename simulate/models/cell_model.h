// simulate/models/cell_model.h — PyTorch's nonlinear cells as models to train, to measure and to judge: RNN, GRU, LSTM
// (simulate/models/cells/). Trained, and validated meanwhile, by kernels and backpropagation through time; readers and
// proofs compute in the one arithmetic of simulate/models/cells/cell_network.h, so that measured accuracies and
// verdicts speak of the same function.
#pragma once

#include <string_view>

#include "krohn/simulate/models/cells/cell_network.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/models/token_layers.h"

namespace krohn {

/// "gru", "lstm:layers=2,hidden=64,inputs=8", "rnn:one-hot,unbiased". Throws InputError naming the part that is not
/// understood.
CellShape parse_cell_shape(std::string_view text);
std::string to_string(const CellShape& shape);

/// True if it is a model of cells; then it is read in bf16, too.
bool is_cell_model(const SequenceModel<float>& model);

template <class Real>
class CellModel : public SequenceModel<Real> {
 public:
  /// As PyTorch begins: uniform in ±1/√hidden, embeddings normal, the same on every machine.
  CellModel(const CellShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed);

  const CellShape& shape() const { return shape_; }
  std::string name() const override { return to_string(shape_); }
  BatchLoss loss_of(const TrainingBatch& batch, const TwinReading* twin, std::span<Real> gradient) const override;
  bool reads_twice() const override { return true; }

 private:
  using Model = SequenceModel<Real>;
  using Model::part;
  using Model::part_of;
  class Pass;
  struct Across;
  /// `all`: the targets and the letters of which the loss is the mean, those of other words too.
  struct All {
    std::uint64_t targets, letters;
  };
  BatchLoss slice_loss(const TokenRows& tokens, const Across& across, std::span<const TrainingBatch::Target> targets,
                       const All& all, const TwinReading* twin, std::span<Real> gradient) const;
  // The parts: the embedding, four of every layer, the read-out's two.
  enum { kEmbedding, kInput, kState, kInputBias, kStateBias };
  std::size_t of_layer(std::size_t layer, std::size_t which) const { return 4 * layer + which; }
  std::size_t head() const { return 4 * std::size_t{shape_.layers} + 1; }

  CellShape shape_;
};

extern template class CellModel<float>;
extern template class CellModel<double>;

}  // namespace krohn
