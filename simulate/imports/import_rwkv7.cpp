#include "krohn/simulate/imports/import_rwkv7.h"

#include "krohn/simulate/imports/stock_reader.h"

namespace krohn {
namespace {

void describe(StockShape& shape, const StockDict& layer, Settings& settings, bool) {
  const std::uint32_t heads = layer.extent("r_k", 2, 0), keys = layer.extent("r_k", 2, 1);
  shape.width = layer.extent("r_proj.weight", 2, 1);
  shape.numbers["heads"] = heads;
  shape.numbers["keys"] = keys;
  shape.numbers["values"] = layer.part("v_proj.weight", layer.extent("v_proj.weight", 2, 0), heads);
  shape.numbers["decay-rank"] = layer.extent("w_lora.lora.0.weight", 2, 0);
  shape.numbers["rate-rank"] = layer.extent("a_lora.lora.0.weight", 2, 0);
  shape.numbers["gate-rank"] = layer.extent("g_lora.lora.0.weight", 2, 0);
  shape.numbers["eps"] = settings.real("eps", keys * 1e-5);
}

}  // namespace

std::unique_ptr<SequenceModel<float>> import_rwkv7(StateDict& dict, const ImportOptions& options, const Task& task) {
  return import_stock(dict, options, task, {"stock-rwkv7", "r_k", "", "", "", "", "", "", describe});
}

}  // namespace krohn
