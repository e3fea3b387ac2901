// simulate/models/stock/stock_operations.h — stacks of layers of other libraries between an embedding and a linear
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
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/simulate/models/cells/cell_network.h"
#include "krohn/simulate/models/stock/stock_kinds.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {

struct StockOperations {
  Operations operations;  ///< a token is a letter
  std::vector<std::pair<std::size_t, std::size_t>>
      states;  ///< by layer: where its recurrent state begins, and its size
};

/// The tensors are those of stock_tensors.
StockOperations stock_operations(const StockShape& shape, const TensorFile& tensors, Precision format);

/// Layers of a cell (simulate/models/cells/cell_network.h), in fp64, fp32 or bf16.
StockOperations cell_operations(const CellShape& shape, Letter letters, const TensorFile& tensors, Precision format);

}  // namespace krohn
