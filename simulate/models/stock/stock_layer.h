// simulate/models/stock/stock_layer.h — a recurrent layer of another library: what it remembers, and what it makes of
// one token's numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/files/tensor_values.h"

namespace krohn {

/// A stack of one kind of layer, between an embedding and a linear read-out.
struct StockShape {
  std::string kind;                     ///< a name among stock_kinds
  std::uint32_t layers = 1, width = 1;  ///< numbers that a layer takes and gives
  std::uint32_t mlp = 0;                ///< units of the SwiGLU behind each layer; 0: there is none
  bool residual = false;                ///< every layer (and MLP) has a norm before it and is added to its input
  bool final_norm = false;              ///< a norm before the read-out
  double norm_epsilon = 1e-5;           ///< of those norms
  double logit_cap = 0;                 ///< c: logits become c tanh(logit / c); 0: they stay
  std::map<std::string, double, std::less<>> numbers;  ///< what else the kind has, by name

  std::size_t count(std::string_view name) const { return static_cast<std::size_t>(number(name)); }
  double number(std::string_view name) const;
  friend bool operator==(const StockShape&, const StockShape&) = default;
};

/// A tensor of a layer, under the name that its library gives it.
struct StockTensor {
  std::string name;
  Shape shape;  ///< an extent of 0: this layer has none
};

/// Real is float or double. Immutable, shared by threads.
template <class Real>
class StockLayer {
 public:
  virtual ~StockLayer() = default;
  /// Numbers remembered between tokens, all 0 at first; the first `recurrent()` of them are the recurrent state, the
  /// others earlier tokens that a convolution looks at.
  virtual std::size_t memory() const = 0;
  virtual std::size_t recurrent() const = 0;
  /// Reads a token: `width` numbers x, and as many y.
  virtual void read(std::span<const Real> x, std::span<Real> memory, std::span<Real> y) const = 0;
};

}  // namespace krohn
