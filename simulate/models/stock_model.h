// simulate/models/stock_model.h — a stack of layers of another library (simulate/models/stock/) as a model to train, to
// measure and to judge, read everywhere in one arithmetic: as its list of operations says
// (simulate/models/operations_gradient.h).
#pragma once

#include <string_view>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/models/stock/stock_layers.h"

namespace krohn {

/// "stock-mamba:layers=2,width=16,residual,final-norm,norm-eps=1e-05,inner=32,…": a part a number of the shape and of
/// the kind; flags stand without a value, and what is left out is as usual. Throws InputError naming the part that is
/// not understood or does not fit. Without "stock-" a kind is one to begin training with: layers have norms and
/// residuals unless the name says `bare`, and the numbers left out follow from its width.
StockShape parse_stock_shape(std::string_view text);
std::string to_string(const StockShape& shape);

template <class Real>
class StockModel : public SequenceModel<Real> {
 public:
  /// Parameters as the layer's library begins them (first_number).
  StockModel(const StockShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed);

  std::string name() const override { return to_string(shape_); }
  const StockShape& shape() const { return shape_; }
  BatchLoss loss_of(const TrainingBatch& batch, const TwinReading* twin, std::span<Real> gradient) const override;
  bool reads_twice() const override { return true; }

 private:
  using Model = SequenceModel<Real>;

  StockShape shape_;
};

extern template class StockModel<float>;
extern template class StockModel<double>;

}  // namespace krohn
