#include "krohn/simulate/models/stock/stock_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "krohn/simulate/models/stock/delta_layer.h"
#include "krohn/simulate/models/stock/gla_layer.h"
#include "krohn/simulate/models/stock/mamba2_layer.h"
#include "krohn/simulate/models/stock/mamba_layer.h"
#include "krohn/simulate/models/stock/mlstm_layer.h"
#include "krohn/simulate/models/stock/rwkv7_layer.h"
#include "krohn/simulate/models/stock/slstm_layer.h"

namespace krohn {

double StockShape::number(std::string_view name) const {
  const auto found = numbers.find(name);
  assert(found != numbers.end());
  return found->second;
}

const std::vector<StockKind>& stock_kinds() {
  constexpr auto kFlag = StockNumber::Type::kFlag, kReal = StockNumber::Type::kReal;
  static const std::vector<StockKind> kinds{
      {"stock-mamba",
       {{"inner", 1}, {"states", 1}, {"rank", 1}, {"taps", 1}, {"bias", 0, kFlag}, {"conv-bias", 0, kFlag}},
       mamba_tensors,
       mamba_layer<float>,
       mamba_layer<double>},
      {"stock-mamba2",
       {{"heads", 1},
        {"per-head", 1},
        {"states", 1},
        {"groups", 1},
        {"taps", 1},
        {"bias", 0, kFlag},
        {"conv-bias", 0, kFlag},
        {"eps", 1e-5, kReal}},
       mamba2_tensors,
       mamba2_layer<float>,
       mamba2_layer<double>},
      {"stock-delta",
       {{"heads", 1},
        {"keys", 1},
        {"values", 1},
        {"reflections", 1},
        {"taps", 0},
        {"decay", 0, kFlag},
        {"gate", 0, kFlag},
        {"negative", 0, kFlag},
        {"plain-keys", 0, kFlag},
        {"one-conv", 0, kFlag},
        {"eps", 1e-5, kReal}},
       delta_tensors,
       delta_layer<float>,
       delta_layer<double>},
      {"stock-gla",
       {{"heads", 1}, {"keys", 1}, {"values", 1}, {"rank", 1}, {"normaliser", 16, kReal}, {"eps", 1e-5, kReal}},
       gla_tensors,
       gla_layer<float>,
       gla_layer<double>},
      {"stock-mlstm",
       {{"heads", 1}, {"keys", 1}, {"values", 1}, {"cap", 0, kReal}, {"eps", 1e-6, kReal}, {"head-eps", 1e-6, kReal}},
       mlstm_tensors,
       mlstm_layer<float>,
       mlstm_layer<double>},
      {"stock-slstm",
       {{"heads", 1}, {"taps", 0}, {"cuda", 0, kFlag}, {"head-eps", 1e-5, kReal}},
       slstm_tensors,
       slstm_layer<float>,
       slstm_layer<double>},
      {"stock-rwkv7",
       {{"heads", 1},
        {"keys", 1},
        {"values", 1},
        {"decay-rank", 1},
        {"rate-rank", 1},
        {"gate-rank", 1},
        {"eps", 64e-5, kReal}},
       rwkv7_tensors,
       rwkv7_layer<float>,
       rwkv7_layer<double>}};
  return kinds;
}

const StockKind* find_stock_kind(std::string_view name) {
  const auto found = std::ranges::find(stock_kinds(), name, &StockKind::name);
  return found == stock_kinds().end() ? nullptr : &*found;
}

StockShape usual_stock_shape(const StockKind& kind) {
  StockShape shape;
  shape.kind = kind.name;
  for (const StockNumber& number : kind.numbers) shape.numbers.emplace(number.name, number.usual);
  return shape;
}

std::vector<StockTensor> stock_tensors(const StockShape& shape, std::uint64_t letters, std::uint64_t labels) {
  const std::uint64_t width = shape.width, mlp = shape.mlp, normed = shape.residual ? width : 0;
  std::vector<StockTensor> all{{"embedding.weight", {letters, width}}};
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::string layer = fmt::format("layers.{}.", i);
    all.push_back({layer + "norm.weight", {normed}});
    for (StockTensor& tensor : find_stock_kind(shape.kind)->tensors(shape))
      all.push_back({layer + "mixer." + tensor.name, std::move(tensor.shape)});
    all.push_back({layer + "mlp.norm.weight", {mlp > 0 ? normed : 0}});
    all.push_back({layer + "mlp.gate.weight", {mlp, width}});
    all.push_back({layer + "mlp.up.weight", {mlp, width}});
    all.push_back({layer + "mlp.down.weight", {width, mlp}});
  }
  all.push_back({"norm.weight", {shape.final_norm ? width : 0}});
  all.push_back({"head.weight", {labels, width}});
  all.push_back({"head.bias", {labels}});
  return all;
}

}  // namespace krohn
