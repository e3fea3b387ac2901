// simulate/models/stock/stock_kinds.h — recurrent layers of other libraries: stacks of them by their shape, their kinds
// by name, and their tensors. What they compute is in stock_operations.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/models/cells/cells.h"

namespace krohn {

/// A stack of one kind of layer, between an embedding and a linear read-out.
struct StockShape {
  /// The parts in order with '/' between them, where they are others than the blocks of which the members below tell:
  /// layer (of a cell: layer-UNITS), layer-norm, rms-norm, linear-ROWS, or a name among kStockFunctions; what stands
  /// between "(" and ")" is added to its input.
  std::string forward = {};
  std::string kind;                     ///< a name among stock_kinds
  std::uint32_t layers = 1, width = 1;  ///< numbers that a layer takes and gives; of an embedding's row
  std::uint32_t mlp = 0;                ///< units of the SwiGLU behind each layer; 0: there is none
  bool residual = false;                ///< every layer (and MLP) has a norm before it and is added to its input
  bool final_norm = false;              ///< a norm before the read-out
  double norm_epsilon = 1e-5;           ///< of those norms
  double logit_cap = 0;                 ///< c: logits become c tanh(logit / c); 0: they stay
  std::map<std::string, double, std::less<>> numbers;  ///< the kind's other numbers, by name

  std::size_t count(std::string_view name) const { return static_cast<std::size_t>(number(name)); }
  double number(std::string_view name) const;
  friend bool operator==(const StockShape&, const StockShape&) = default;
};

/// A tensor of a layer, under the name that its library gives it.
struct StockTensor {
  std::string name;
  Shape shape;  ///< an extent of 0: this layer has none
};

/// The facts about a kind besides its tensors.
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
};

const std::vector<StockKind>& stock_kinds();

/// The cell that a layer of that kind is (simulate/models/cells/), or null.
const Cell* cell_of(const StockShape& shape);

/// One part of a stack; kInput begins what is added to its input, and kAdd ends it.
struct StockStep {
  enum class Kind : std::uint8_t { kLayer, kRmsNorm, kLayerNorm, kSwiGlu, kLinear, kFunction, kInput, kAdd };
  Kind kind = Kind::kLayer;
  std::string name = {};              ///< the beginning of its tensors' names; or of a function
  std::uint32_t taken = 0, size = 0;  ///< numbers that come to it, and that it gives
  std::string behind = {};            ///< the end of its tensors' names
};

/// In order, up to the read-out. Throws InputError naming a part of `shape.forward` that is not understood or does not
/// fit to those before it.
std::vector<StockStep> stock_steps(const StockShape& shape);

/// The names of functions of one number that may stand between layers.
inline constexpr std::array<std::string_view, 6> kStockFunctions{"relu", "gelu", "gelu-tanh",
                                                                 "silu", "tanh", "sigmoid"};

/// The kind of that name, or null.
const StockKind* find_stock_kind(std::string_view name);

/// Every number of the kind at its usual value.
StockShape usual_stock_shape(const StockKind& kind);

/// Every tensor of the stack: embedding.weight [letters, width], those of layers.0.mixer., …, layers.0.norm.weight,
/// layers.0.mlp.…, norm.weight, or of part i of `forward` those of steps.i.; head.weight and head.bias.
std::vector<StockTensor> stock_tensors(const StockShape& shape, std::uint64_t letters, std::uint64_t labels);

}  // namespace krohn
