// simulate/models/stock_model.h — a stack of layers of another library (simulate/models/stock/) as a model to measure
// and to judge, read everywhere in one arithmetic. It is not trained here: it has no gradient.
#pragma once

#include <string_view>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/models/stock/stock_layers.h"

namespace krohn {

/// "stock-mamba:layers=2,width=16,residual,final-norm,norm-eps=1e-05,inner=32,…": a part a number of the shape and of
/// the kind; flags stand without a value, and what is left out is as usual. Throws InputError naming the part that is
/// not understood or does not fit.
StockShape parse_stock_shape(std::string_view text);
std::string to_string(const StockShape& shape);

template <class Real>
class StockModel : public SequenceModel<Real> {
 public:
  /// All parameters 0: they come from a file.
  StockModel(const StockShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed);

  std::string name() const override { return to_string(shape_); }
  const StockShape& shape() const { return shape_; }
  /// Throws InputError: it is read as it is.
  BatchLoss loss(const TrainingBatch& batch, std::span<Real> gradient) const override;

 private:
  using Model = SequenceModel<Real>;

  StockShape shape_;
};

extern template class StockModel<float>;
extern template class StockModel<double>;

}  // namespace krohn
