#include "krohn/simulate/models/stock/stock_network.h"

#include <fmt/format.h>

#include <type_traits>

namespace krohn {

template <class Real>
StockNetwork<Real>::StockNetwork(const StockShape& shape, const TensorFile& tensors)
    : width_(shape.width),
      is_residual_(shape.residual),
      epsilon_(shape.norm_epsilon),
      logit_cap_(static_cast<Real>(shape.logit_cap)) {
  StockTensors<Real> all(tensors, "");
  embedding_ = all.numbers("embedding.weight");
  norm_ = all.numbers("norm.weight");
  head_ = StockLinear<Real>(all, "head", width_);
  const StockKind& kind = *find_stock_kind(shape.kind);
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::string prefix = fmt::format("layers.{}.", i);
    Layer layer{memory_, all.numbers(prefix + "norm.weight"), all.numbers(prefix + "mlp.norm.weight"), nullptr, {}, {},
                {}};
    if constexpr (std::is_same_v<Real, float>)
      layer.mixer = kind.narrow(shape, tensors, prefix + "mixer.");
    else
      layer.mixer = kind.wide(shape, tensors, prefix + "mixer.");
    if (shape.mlp > 0) {
      layer.gate = StockLinear<Real>(all, prefix + "mlp.gate", width_);
      layer.up = StockLinear<Real>(all, prefix + "mlp.up", width_);
      layer.down = StockLinear<Real>(all, prefix + "mlp.down", shape.mlp);
    }
    memory_ += layer.mixer->memory();
    layers_.push_back(std::move(layer));
  }
}

template <class Real>
void StockNetwork<Real>::read(Letter letter, std::span<Real> memory, std::span<Real> logits) const {
  const auto row = embedding_.begin() + static_cast<std::ptrdiff_t>(letter * width_);
  std::vector<Real> x(row, row + static_cast<std::ptrdiff_t>(width_)), input, output(width_);
  const auto take_output = [&] {
    for (std::size_t i = 0; i < width_; ++i) x[i] = is_residual_ ? x[i] + output[i] : output[i];
  };
  for (const Layer& layer : layers_) {
    input = x;
    normalise(input, layer.norm);
    layer.mixer->read(input, memory.subspan(layer.first, layer.mixer->memory()), output);
    take_output();
    if (layer.down.outputs() == 0) continue;
    input = x;
    normalise(input, layer.mlp_norm);
    std::vector<Real> units = layer.gate(input);
    const std::vector<Real> ups = layer.up(input);
    for (std::size_t i = 0; i < units.size(); ++i) units[i] = stock_silu(units[i]) * ups[i];
    layer.down(units, output);
    take_output();
  }
  if (logits.empty()) return;
  normalise(x, norm_);
  head_(x, logits);
  if (logit_cap_ == 0) return;
  for (Real& logit : logits) logit = logit_cap_ * cell_tanh(logit / logit_cap_);
}

template class StockNetwork<float>;
template class StockNetwork<double>;

}  // namespace krohn
