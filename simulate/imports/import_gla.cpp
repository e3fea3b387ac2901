#include "krohn/simulate/imports/import_gla.h"

#include "krohn/simulate/imports/stock_reader.h"

namespace krohn {
namespace {

void describe(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  const std::uint32_t values = layer.extent("g_norm_swish_gate.weight", 1, 0),
                      heads = layer.part("o_proj.weight", layer.extent("o_proj.weight", 2, 1), values);
  shape.width = layer.extent("q_proj.weight", 2, 1);
  shape.numbers["heads"] = heads;
  shape.numbers["values"] = values;
  shape.numbers["keys"] = layer.part("q_proj.weight", layer.extent("q_proj.weight", 2, 0), heads);
  shape.numbers["rank"] = layer.extent("gk_proj.0.weight", 2, 0);
  shape.numbers["normaliser"] = settings.real("normaliser", 16);
  shape.norm_epsilon = settings.real("eps", is_stack ? 1e-6 : 1e-5);
  shape.numbers["eps"] = shape.norm_epsilon;
}

}  // namespace

std::unique_ptr<SequenceModel<float>> import_gla(StateDict& dict, const ImportOptions& options, const Task& task) {
  return import_stock(dict, options, task,
                      {"stock-gla", "gk_proj.0.weight", "attn_norm.weight", "mlp_norm.weight", "mlp.gate_proj.weight",
                       "mlp.up_proj.weight", "mlp.down_proj.weight", "norm.weight", describe});
}

}  // namespace krohn
