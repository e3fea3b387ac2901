// simulate/models/cells/cell_network.h — layers of a cell between an embedding and a linear read-out, in a stated
// arithmetic: what accuracy and proofs about them compute.
//
// In a layer, a ← W x + b of the layer's input x and a' ← U h + c of its own output h, then the cell's units
// (simulate/models/cells/cell.h); the layer's output is the next one's input. Every product and every sum is rounded by
// itself, none is fused; sums begin with the bias and run from the first input to the last. What a letter gives the
// first layer is a row of the embedding, or without one a 1 at the letter's own place. Layers begin with zeros.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/models/cells/cells.h"

namespace krohn {

struct CellShape {
  std::string cell = "gru";
  std::uint32_t hidden = 32, layers = 1;
  std::uint32_t inputs = 16;  ///< of the embedding; 0: there is none
  bool biased = true;
  friend bool operator==(const CellShape&, const CellShape&) = default;
};

/// The names that a shape may begin with.
std::vector<std::string> cell_names();

/// The tensors are called as in PyTorch's modules, below "rnn.": rnn.weight_ih_l0 is W of the first layer, weight_hh U,
/// bias_ih b, bias_hh c; with embedding.weight, a row a letter, and head.weight and head.bias, a row a label.
std::string cell_tensor(const char* what, std::uint32_t layer);

/// Immutable, shared by threads.
template <class Real>
class CellNetwork {
 public:
  CellNetwork(const CellShape& shape, Letter letters, const TensorFile& tensors);

  /// Numbers remembered between letters: layer after layer, of each first h, then what else the cell keeps.
  std::size_t memory() const { return layers_.size() * kept(); }
  std::size_t kept() const { return cell_->kept * hidden_; }
  std::size_t hidden() const { return hidden_; }

  /// Moves the memory on.
  void read(Letter letter, std::span<Real> memory) const;
  void answer(std::span<const Real> memory, std::span<Real> logits) const;

 private:
  struct Layer {
    std::vector<Real> input, state;  ///< transposed: a row an input
    std::vector<Real> input_bias, state_bias;
  };

  const Cell<Real>* cell_;
  std::size_t hidden_;
  std::vector<Layer> layers_;
  std::vector<Real> by_letter_;  ///< W x + b of the first layer, a row a letter
  std::vector<Real> head_, head_bias_;
};

extern template class CellNetwork<float>;
extern template class CellNetwork<double>;
extern template class CellNetwork<Eigen::bfloat16>;

}  // namespace krohn
