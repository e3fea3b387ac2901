// simulate/imports/stock_reader.h — stacks of another library's layers (simulate/models/stock/) from a state dict: one
// bare layer, or blocks of norm, layer and MLP with residuals, as its language models have them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "krohn/simulate/imports/around.h"
#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/models/stock/stock_kinds.h"

namespace krohn {

/// The first layer's tensors, by their names in it.
class StockDict {
 public:
  StockDict(const StateDict& dict, std::string prefix) : dict_(dict), prefix_(std::move(prefix)) {}

  bool has(const std::string& name) const { return dict_.has(prefix_ + name); }
  /// Extent `index` of a tensor of `rank` extents. Throws InputError naming it when it is missing or has another rank.
  std::uint32_t extent(const std::string& name, std::size_t rank, std::size_t index) const;
  /// `all` over `parts`. Throws InputError naming the tensor when they do not divide it.
  std::uint32_t part(const std::string& name, std::uint32_t all, std::uint32_t parts) const;
  [[noreturn]] void fail(const std::string& name, const std::string& why) const;

 private:
  const StateDict& dict_;
  std::string prefix_;
};

/// How a library calls things.
struct StockNames {
  std::string_view kind;       ///< among stock_kinds
  std::string_view signature;  ///< a tensor that every layer has
  /// In a block beside the layer; a block without `norm` is the layer alone. The MLP's may be empty: there is none.
  std::string_view norm, mlp_norm, mlp_gate, mlp_up, mlp_down;
  std::string_view final_norm;  ///< in the model beside the list of blocks
  /// Sets width and the kind's numbers. `is_stack`: blocks with residuals, so that the library's model has set its ε.
  using Describe = void (*)(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack);
  Describe describe = nullptr;
};

/// The model of that name, which files will have, too, with those tensors.
std::unique_ptr<SequenceModel<float>> filled_model(const std::string& name, const Task& task,
                                                   const TensorFile& tensors);

std::unique_ptr<SequenceModel<float>> import_stock(StateDict& dict, const ImportOptions& options, const Task& task,
                                                   const StockNames& names);

}  // namespace krohn
