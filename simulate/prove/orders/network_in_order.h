// simulate/prove/orders/network_in_order.h — a network in an order that composes letters, its numbers as doubles in
// every arithmetic: proofs about orders are written, and compiled, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/orders/ordered_search.h"

namespace krohn {

/// A format, as the proofs that nothing rounds need it: significant bits, those that survive every operation (tf32 cuts
/// the operands of products), and the exponents of normal numbers.
struct FormatLimits {
  int digits, kept_digits, least_exponent, greatest_exponent;
};

template <class A>
constexpr FormatLimits format_limits() {
  return {A::digits, A::name.kind() == ArithmeticName::Kind::kTf32 ? 11 : A::digits, A::least_exponent,
          A::greatest_exponent};
}

/// A factor I − β k kᵀ.
struct OrderFactor {
  std::vector<double> key;
  double beta;
  friend bool operator==(const OrderFactor&, const OrderFactor&) = default;
};

/// The maps H ↦ A H + B of a layer: a list of the `entries` of A's diagonal blocks, row by row, and then the
/// `additions` of B, by columns.
struct MapShape {
  Action letters = 0;
  std::vector<std::uint32_t> blocks;  ///< their sizes; none where A only moves numbers
  std::size_t entries = 0, additions = 0;

  bool only_moves() const { return blocks.empty(); }
  bool adds() const { return additions > 0; }
};

class LayerInOrder {
 public:
  virtual ~LayerInOrder() = default;
  virtual FormatLimits format() const = 0;
  virtual std::uint32_t dimension() const = 0;
  virtual std::span<const NearestCodeword> books() const = 0;
  /// False in the UT form, which has factors instead.
  virtual bool has_maps() const = 0;

  virtual const MapShape& maps() const = 0;
  virtual void read_map(Action letter, std::vector<double>& numbers) const = 0;
  /// The map that reads a letter after `map`, in this arithmetic.
  virtual void extend_map(const std::vector<double>& map, Action letter, std::vector<double>& numbers) = 0;

  /// The factors of all letters, one after another; H_0.
  virtual std::vector<OrderFactor> factors() const = 0;
  virtual std::vector<double> initial() const = 0;

  /// The state after one letter from any state, as the order makes it.
  virtual void move(Action letter, const std::vector<double>& from, std::vector<double>& to) = 0;
};

struct NetworkInOrder {
  virtual ~NetworkInOrder() = default;
  /// The system of the only layer, for a search; views this.
  virtual std::unique_ptr<OrderSystem> make_system() const = 0;

  std::vector<std::unique_ptr<LayerInOrder>> layers;
};

/// In the arithmetic, form and order of the options. Views the network. Throws LimitError where letters take too many
/// numbers, and InputError when the network snaps.
std::unique_ptr<NetworkInOrder> network_in_order(const Network& network, const CertifyOptions& options);

}  // namespace krohn
