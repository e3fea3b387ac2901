// simulate/models/stock/stock_kinds.h — the kinds of layers by name, and stacks of them as text.
#pragma once

#include "krohn/simulate/models/stock/stock_layer.h"

namespace krohn {

/// What a kind knows of itself beside its tensors.
struct StockNumber {
  enum class Type : std::uint8_t { kSize, kFlag, kReal };
  std::string_view name;
  double usual = 0;
  Type type = Type::kSize;
};

struct StockKind {
  std::string_view name;
  std::vector<StockNumber> numbers;
  /// Its tensors, by the names of the library.
  std::vector<StockTensor> (*tensors)(const StockShape&);
  std::unique_ptr<StockLayer<float>> (*narrow)(const StockShape&, const TensorFile&, const std::string& prefix);
  std::unique_ptr<StockLayer<double>> (*wide)(const StockShape&, const TensorFile&, const std::string& prefix);
};

const std::vector<StockKind>& stock_kinds();

/// The kind of that name, or null.
const StockKind* find_stock_kind(std::string_view name);

/// Every number of the kind at its usual value.
StockShape usual_stock_shape(const StockKind& kind);

/// Every tensor of the stack: embedding.weight [letters, width], those of layers.0.mixer., …, layers.0.norm.weight,
/// layers.0.mlp.…, norm.weight, head.weight and head.bias.
std::vector<StockTensor> stock_tensors(const StockShape& shape, std::uint64_t letters, std::uint64_t labels);

}  // namespace krohn
