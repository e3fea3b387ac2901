// simulate/models/cells/cell_network.h — layers of a cell between an embedding and a linear read-out, whose operations
// simulate/models/stock/stock_operations.cpp writes.
//
// In a layer, a ← W x + b of the layer's input x and a' ← U h + c of its own output h, then the cell's units
// (below); the layer's output is the next one's input. Every product and every sum is rounded
// by itself, none is fused; sums begin with the bias and run from the first input to the last. What a letter gives the
// first layer is a row of the embedding, or without one a 1 at the letter's own place. Layers begin with zeros.
#pragma once

#include <Eigen/Core>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/models/cells/cell_units.h"

namespace krohn {

/// A number rounded once: to bf16 too, for which a way by float would round twice.
template <class Real>
Real rounded(double x) {
  if constexpr (sizeof(Real) == 2) {
    auto nearest = static_cast<float>(x);
    // Rounded to odd: then the second rounding cannot meet a tie that the first one made.
    if (const double back = nearest;
        std::isfinite(nearest) && back != x && std::bit_cast<std::uint32_t>(nearest) % 2 == 0)
      nearest = std::nextafter(nearest, back < x ? INFINITY : -INFINITY);
    return static_cast<Real>(nearest);
  } else {
    return static_cast<Real>(x);
  }
}

/// The functions of cells: stated operations in double (groups/base/stated_functions.h), rounded once to the format.
template <class Real>
Real cell_tanh(Real x) {
  return rounded<Real>(stated::tanh(static_cast<double>(x)));
}
template <class Real>
Real cell_sigmoid(Real x) {
  return rounded<Real>(1 / (1 + stated::exp(-static_cast<double>(x))));
}

/// For `gates` · `hidden` products, and for the state of a layer: gate g of unit j is at g · hidden + j.
struct Cell {
  CellKind kind;
  std::string_view name;
  std::size_t gates;  ///< products that a unit takes, from the input and from the state alike
  bool sums;          ///< it takes them added up alone
  std::size_t kept;   ///< numbers that a unit remembers; the first is its output, and the state of the products
};

/// Every cell, and the one of that name or null.
const std::vector<Cell>& cells();
const Cell* find_cell(std::string_view name);

struct CellShape {
  std::string cell = "gru";
  std::uint32_t hidden = 32, layers = 1;
  std::uint32_t inputs = 16;  ///< of the embedding; 0: there is none
  bool biased = true;
  friend bool operator==(const CellShape&, const CellShape&) = default;
};

/// The tensors are called as in PyTorch's modules, below "rnn.": rnn.weight_ih_l0 is W of the first layer, weight_hh U,
/// bias_ih b, bias_hh c; with embedding.weight, a row a letter, and head.weight and head.bias, a row a label.
std::string cell_tensor(const char* what, std::uint32_t layer);

// Weights by which a nonlinear cell is an automaton: its units saturate, so
// that what it remembers is one of finitely many codes, bit for bit, whatever the last bits of tanh are.

/// A unit for every state q of the minimal automaton and letter a, on when a was just read in q, and one that tells the
/// start, where everything is 0, from later. A unit is on where its letter is read and one of the units is on that lead
/// to its state: an "and" of two sums with a margin that takes tanh to ±1, and relu to 0 or 1. The gates of GRU and
/// LSTM stand fixed, open or shut, by biases of ±1000. One-hot inputs, a row of the read-out for each output of the
/// automaton; right for the empty word, too. In fp32 and fp64 all but the LSTM's numbers are integers and exact; the
/// LSTM's units are ±tanh(1).
struct SaturatedCell {
  CellShape shape;
  TensorFile tensors;
};

/// Throws LimitError past 4,096 units: states times letters, and one.
SaturatedCell saturated_cell(const Dfa& automaton, const std::string& cell);

}  // namespace krohn
