// simulate/learned/deterministic_stock.h — layers of other libraries (simulate/models/stock/) as deterministic models.
// What their letters do depends on earlier ones, so that there is nothing in `blocks`.
#pragma once

#include <memory>

#include "krohn/simulate/learned/deterministic_model.h"

namespace krohn {

bool is_stock_model(const SequenceModel<float>& model);

template <class Real>
std::unique_ptr<DeterministicModel<Real>> plain_stock(const SequenceModel<float>& model);

extern template std::unique_ptr<DeterministicModel<float>> plain_stock(const SequenceModel<float>&);
extern template std::unique_ptr<DeterministicModel<double>> plain_stock(const SequenceModel<float>&);

}  // namespace krohn
