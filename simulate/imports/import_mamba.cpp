#include "krohn/simulate/imports/import_mamba.h"

#include "krohn/simulate/imports/stock_reader.h"

namespace krohn {
namespace {

void describe(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  shape.width = layer.extent("in_proj.weight", 2, 1);
  shape.numbers["inner"] = layer.extent("A_log", 2, 0);
  shape.numbers["states"] = layer.extent("A_log", 2, 1);
  shape.numbers["rank"] = layer.extent("dt_proj.weight", 2, 1);
  shape.numbers["taps"] = layer.extent("conv1d.weight", 3, 2);
  shape.numbers["bias"] = layer.has("in_proj.bias");
  shape.numbers["conv-bias"] = layer.has("conv1d.bias");
  if (is_stack) shape.norm_epsilon = settings.real("eps", 1e-5);
}

}  // namespace

std::unique_ptr<SequenceModel<float>> import_mamba(StateDict& dict, const ImportOptions& options, const Task& task) {
  return import_stock(dict, options, task,
                      {"stock-mamba", "x_proj.weight", "norm.weight", "", "", "", "", "norm_f.weight", describe});
}

}  // namespace krohn
