#include "krohn/simulate/imports/import_delta.h"

#include <fmt/format.h>

#include "krohn/simulate/imports/stock_reader.h"

namespace krohn {
namespace {

/// Widths that all three have in common; `heads` and `reflections` are known.
void describe_widths(StockShape& shape, const StockDict& layer, Settings& settings, std::uint32_t heads,
                     std::uint32_t reflections, bool is_stack) {
  shape.width = layer.extent("q_proj.weight", 2, 1);
  shape.numbers["heads"] = heads;
  shape.numbers["reflections"] = reflections;
  shape.numbers["keys"] = layer.part("q_proj.weight", layer.extent("q_proj.weight", 2, 0), heads);
  shape.numbers["values"] = layer.part("o_proj.weight", layer.extent("o_proj.weight", 2, 1), heads);
  shape.numbers["decay"] = layer.has("a_proj.weight");
  shape.numbers["gate"] = layer.has("g_proj.weight");
  shape.numbers["one-conv"] = layer.has("conv1d.weight");
  const char* const taps = layer.has("conv1d.weight") ? "conv1d.weight" : "q_conv1d.weight";
  shape.numbers["taps"] = layer.has(taps) ? layer.extent(taps, 3, 2) : 0;
  shape.numbers["negative"] = settings.needed_flag(
      "negative", "whether β goes up to 2 cannot be seen in the tensors (allow_neg_eigval in the model's config)");
  shape.norm_epsilon = settings.real("eps", is_stack ? 1e-6 : 1e-5);
  shape.numbers["eps"] = shape.norm_epsilon;
}

void describe_deltanet(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  describe_widths(shape, layer, settings, layer.extent("b_proj.weight", 2, 0), 1, is_stack);
  shape.numbers["plain-keys"] = settings.flag("plain-keys");
  if (shape.count("decay") != 0) layer.fail("a_proj.weight", "DeltaNet does not forget; import it --as gated-deltanet");
}

/// Keys may serve several heads of values, which changes no shape that would show it.
std::uint32_t heads_of(const StockDict& layer, Settings& settings, std::uint32_t reflections) {
  const std::uint32_t heads = settings.count("heads", "the heads of keys cannot be seen in the tensors"),
                      betas = layer.extent("b_proj.weight", 2, 0);
  if (betas != heads * reflections)
    layer.fail("b_proj.weight",
               fmt::format("it has {} rows for {} heads: heads of values that share keys are not read", betas, heads));
  return heads;
}

void describe_product(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  const std::uint32_t queries = layer.extent("q_proj.weight", 2, 0), keys = layer.extent("k_proj.weight", 2, 0);
  const std::uint32_t reflections = layer.part("k_proj.weight", keys, queries);
  describe_widths(shape, layer, settings, heads_of(layer, settings, reflections), reflections, is_stack);
}

void describe_gated(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  describe_widths(shape, layer, settings, heads_of(layer, settings, 1), 1, is_stack);
  if (shape.count("decay") == 0) layer.fail("b_proj.weight", "there is no a_proj beside it; import it --as deltanet");
}

}  // namespace

std::unique_ptr<SequenceModel<float>> import_delta(StateDict& dict, const ImportOptions& options, const Task& task) {
  const auto describe = options.kind == "deltanet"       ? describe_deltanet
                        : options.kind == "deltaproduct" ? describe_product
                                                         : describe_gated;
  return import_stock(dict, options, task,
                      {"stock-delta", "b_proj.weight", "attn_norm.weight", "mlp_norm.weight", "mlp.gate_proj.weight",
                       "mlp.up_proj.weight", "mlp.down_proj.weight", "norm.weight", describe});
}

}  // namespace krohn
