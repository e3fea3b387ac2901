// simulate/models/stock/stock_network.h — layers of another library between an embedding and a linear read-out, in the
// arithmetic of simulate/models/stock/stock_arithmetic.h: what accuracy and proofs about them compute.
//
//   x ← embedding of the letter
//   every layer:   x ← x + layer(norm(x)),   x ← x + W_down (silu(W_gate norm(x)) (W_up norm(x)))
//   logits = W norm(x) + b, or c tanh(logits / c)          norms are RMS norms
//
// Without residuals, x ← layer(x).
#pragma once

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/simulate/models/stock/stock_arithmetic.h"
#include "krohn/simulate/models/stock/stock_kinds.h"

namespace krohn {

/// Immutable, shared by threads. Real is float or double.
template <class Real>
class StockNetwork {
 public:
  /// The tensors are those of stock_tensors.
  StockNetwork(const StockShape& shape, const TensorFile& tensors);

  /// Numbers remembered between letters, layer after layer, all 0 at first.
  std::size_t memory() const { return memory_; }
  /// Where layer `layer` begins, and how many of its numbers are its recurrent state.
  std::pair<std::size_t, std::size_t> state(std::size_t layer) const {
    return {layers_[layer].first, layers_[layer].mixer->recurrent()};
  }
  std::size_t layers() const { return layers_.size(); }

  /// Moves the memory on, and writes the logits unless there is no room for any.
  void read(Letter letter, std::span<Real> memory, std::span<Real> logits) const;

 private:
  struct Layer {
    std::size_t first;  ///< of its numbers in the memory
    std::vector<Real> norm, mlp_norm;
    std::unique_ptr<StockLayer<Real>> mixer;
    StockLinear<Real> gate, up, down;
  };

  void normalise(std::span<Real> x, const std::vector<Real>& gain) const {
    if (!gain.empty()) stock_rms_norm<Real>(x, gain, gain.size(), epsilon_);
  }

  std::size_t width_, memory_ = 0;
  bool is_residual_;
  double epsilon_;
  Real logit_cap_;
  std::vector<Real> embedding_, norm_;
  std::vector<Layer> layers_;
  StockLinear<Real> head_;
};

extern template class StockNetwork<float>;
extern template class StockNetwork<double>;

}  // namespace krohn
