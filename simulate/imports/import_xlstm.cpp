#include "krohn/simulate/imports/import_xlstm.h"

#include "krohn/simulate/imports/stock_reader.h"

namespace krohn {
namespace {

void describe_mlstm(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  const std::uint32_t heads = layer.extent("igate_preact.weight", 2, 0);
  shape.width = layer.extent("q.weight", 2, 1);
  shape.numbers["heads"] = heads;
  shape.numbers["keys"] = layer.part("q.weight", layer.extent("q.weight", 2, 0), heads);
  shape.numbers["values"] = layer.part("v.weight", layer.extent("v.weight", 2, 0), heads);
  shape.numbers["cap"] = settings.real("cap", 15, true);
  shape.numbers["eps"] = settings.real("eps", 1e-6);
  shape.norm_epsilon = settings.real("norm-eps", 1e-6);
  shape.numbers["head-eps"] = shape.norm_epsilon;
  if (is_stack) shape.logit_cap = settings.real("logit-cap", 30, true);
}

void describe_slstm(StockShape& shape, const StockDict& layer, Settings& settings, bool) {
  const char* const kernel = "slstm_cell._recurrent_kernel_";
  const std::uint32_t heads = layer.extent(kernel, 3, 0), rows = layer.extent(kernel, 3, 1);
  shape.width = layer.extent("group_norm.weight", 1, 0);
  shape.numbers["heads"] = heads;
  shape.numbers["cuda"] = rows < layer.extent(kernel, 3, 2);
  shape.numbers["taps"] = layer.has("conv1d.conv.weight") ? layer.extent("conv1d.conv.weight", 3, 2) : 0;
  shape.numbers["head-eps"] = settings.real("norm-eps", 1e-5);
  layer.part("group_norm.weight", shape.width, heads);
}

}  // namespace

std::unique_ptr<SequenceModel<float>> import_mlstm(StateDict& dict, const ImportOptions& options, const Task& task) {
  return import_stock(
      dict, options, task,
      {"stock-mlstm", "igate_preact.weight", "norm_mlstm.weight", "norm_ffn.weight", "ffn.proj_up_gate.weight",
       "ffn.proj_up.weight", "ffn.proj_down.weight", "out_norm.weight", describe_mlstm});
}

std::unique_ptr<SequenceModel<float>> import_slstm(StateDict& dict, const ImportOptions& options, const Task& task) {
  return import_stock(dict, options, task,
                      {"stock-slstm", "slstm_cell._recurrent_kernel_", "", "", "", "", "", "", describe_slstm});
}

}  // namespace krohn
