#include "krohn/simulate/imports/import_mamba2.h"

#include "krohn/simulate/imports/stock_reader.h"

namespace krohn {
namespace {

void describe(StockShape& shape, const StockDict& layer, Settings& settings, bool) {
  const std::uint32_t heads = layer.extent("A_log", 1, 0), inner = layer.extent("norm.weight", 1, 0),
                      convolved = layer.extent("conv1d.weight", 3, 0);
  const std::uint32_t groups = settings.count(
      "groups", "how many groups share B and C cannot be seen in the tensors (n_groups in the model's config)");
  if (convolved <= inner) layer.fail("conv1d.weight", "it has no channels for B and C");
  shape.width = layer.extent("in_proj.weight", 2, 1);
  shape.numbers["heads"] = heads;
  shape.numbers["per-head"] = layer.part("norm.weight", inner, heads);
  shape.numbers["groups"] = groups;
  shape.numbers["states"] = layer.part("conv1d.weight", convolved - inner, 2 * groups);
  shape.numbers["taps"] = layer.extent("conv1d.weight", 3, 2);
  shape.numbers["bias"] = layer.has("in_proj.bias");
  shape.numbers["conv-bias"] = layer.has("conv1d.bias");
  shape.norm_epsilon = settings.real("eps", 1e-5);
  shape.numbers["eps"] = shape.norm_epsilon;
}

}  // namespace

std::unique_ptr<SequenceModel<float>> import_mamba2(StateDict& dict, const ImportOptions& options, const Task& task) {
  return import_stock(dict, options, task,
                      {"stock-mamba2", "dt_bias", "norm.weight", "", "", "", "", "norm_f.weight", describe});
}

}  // namespace krohn
