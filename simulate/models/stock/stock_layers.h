// simulate/models/stock/stock_layers.h — recurrent layers of other libraries: their shapes, kinds and tensors, what
// they compute as lists of operations, and weights by which they are automata.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/random.h"
#include "krohn/simulate/models/cells/cell_network.h"
#include "krohn/simulate/prove/claims/operations.h"

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

/// Number i of a tensor at the beginning of training.
using FirstNumber = std::function<double(std::size_t i, Random& random)>;

/// A tensor of a layer, under the name that its library gives it.
struct StockTensor {
  std::string name;
  Shape shape;  ///< an extent of 0: this layer has none
  /// As its library begins it. Null: a matrix [m, …] uniform within 1/√(the numbers of a row), as torch.nn.Linear; of a vector, what
  /// is called weight 1 and all else 0.
  FirstNumber first = {};
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
  /// Its tensors, by the names of the library, of layer number `layer` of the shape.
  std::vector<StockTensor> (*tensors)(const StockShape& shape, std::uint32_t layer);
  /// For a model to train: what it is, and the numbers of the layer that follow from its width and the other numbers,
  /// where they are not given. Null: it begins with weights that are imported.
  std::string_view description = {}, source = {};
  void (*complete)(StockShape&) = nullptr;
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

/// The kind of that name, with or without "stock-" before it, or null.
const StockKind* find_stock_kind(std::string_view name);

/// Every number of the kind at its usual value.
StockShape usual_stock_shape(const StockKind& kind);

/// The beginning of number i of a tensor.
double first_number(const StockTensor& tensor, std::size_t i, Random& random);

/// Every tensor of the stack: embedding.weight [letters, width], those of layers.0.mixer., …, layers.0.norm.weight,
/// layers.0.mlp.…, norm.weight, or of part i of `forward` those of steps.i.; head.weight and head.bias.
std::vector<StockTensor> stock_tensors(const StockShape& shape, std::uint64_t letters, std::uint64_t labels);

// Stacks of layers of other libraries between an embedding and a linear
// read-out, as lists of operations:
//
//   x ← embedding of the letter
//   every layer:   x ← x + layer(norm(x)),   x ← x + W_down (silu(W_gate norm(x)) (W_up norm(x)))
//   logits = W norm(x) + b, or c tanh(logits / c)          norms are RMS norms
//
// Without residuals, x ← layer(x). Or a stack is what StockShape::forward says, part by part; a layer norm is
// (x − mean) / √(variance + ε) ∘ gain + bias, the variance divided by all n numbers, as in torch.nn.LayerNorm. Every
// product, sum, quotient and root is rounded by itself, and sums run from the first term to the last, from the bias on;
// the functions are softplus64, log sigmoid, logistic, tanh and exp of docs/reference/certificate-file.md.

struct StockOperations {
  Operations operations;  ///< a token is a letter
  std::vector<std::pair<std::size_t, std::size_t>>
      states;  ///< by layer: where its recurrent state begins, and its size
};

/// The tensors are those of stock_tensors.
StockOperations stock_operations(const StockShape& shape, const TensorFile& tensors, Precision format);

// Weights by which one bare layer of another library is an automaton: what it remembers is one of finitely many codes,
// bit for bit. One-hot embedding, the layer, a read-out of one row for each output; right after every letter.

struct ExactStock {
  StockShape shape;
  TensorFile tensors;  ///< by the names of stock_tensors
};

/// Any automaton, in xlstm's sLSTM: with the input gate at e^0 and the forget gate at e^−1000 = 0 the cell is tanh of
/// its recurrent sum, and its units those of the saturated RNN (simulate/models/cells/cell_network.h), ±1. Throws
/// LimitError past 4,096 units: states times letters, and one.
ExactStock exact_slstm(const Dfa& automaton);

/// Automata of which every letter keeps all states or takes all to one. A head of Mamba-2 stands for every state: a
/// step of 0 keeps it, one of 1,024 leaves e^−1024 = 0 of it and writes. Throws InputError naming a letter that does
/// anything else.
ExactStock exact_mamba2(const Dfa& automaton);

/// The same automata in the mLSTM of transformers, exact in fp32 alone. Its gates are capped at ±15, so that over the
/// reals a kept state decays by σ(15) = 1 − 3·10⁻⁷ a letter; but the layer keeps the logarithm of its scale apart, and
/// 15 + log σ(15) rounds to 15: the factor is e^(15 − 15) = 1. A state that is overwritten leaves a rest of 3·10⁻⁷ of
/// itself, which one of the next letter rounds away.
ExactStock exact_mlstm(const Dfa& automaton);

/// Layers of a cell (simulate/models/cells/cell_network.h), in fp64, fp32 or bf16.
StockOperations cell_operations(const CellShape& shape, Letter letters, const TensorFile& tensors, Precision format);

}  // namespace krohn
