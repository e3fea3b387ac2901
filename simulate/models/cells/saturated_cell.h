// simulate/models/cells/saturated_cell.h — weights by which a nonlinear cell is an automaton: its units saturate, so
// that what it remembers is one of finitely many codes, bit for bit, whatever the last bits of tanh are.
#pragma once

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/models/cells/cell_network.h"

namespace krohn {

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
