// simulate/evaluate/layer_run.h — one layer reading a word in an evaluation order (simulate/arithmetic/order.h), letter
// by letter.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/arithmetic/rounded_matrix.h"
#include "krohn/simulate/evaluate/affine_layer.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {

/// A layer in motion. In every order the state after t letters depends on those letters alone, so that letters can be
/// given one at a time; nothing but the products that the order makes is ever made. Memory: a map for each bit of the
/// number of letters in the scans, one in a chunk of affine maps, O(factors²) in a chunk of reflections.
template <class A>
class LayerRun {
 public:
  using Number = typename A::Number;

  virtual ~LayerRun() = default;
  /// Back to H_0.
  virtual void reset() = 0;
  /// Reads a letter: the state after it, n·d numbers by columns.
  virtual const std::vector<Number>& read(Action letter) = 0;
  virtual const std::vector<Number>& state() const = 0;
};

/// The part that the runs of one layer share, in any order but the sequential one, which RoundedLayer::move is.
/// Immutable once made.
template <class A>
class OrderedLayer {
 public:
  using Number = typename A::Number;
  using Reflections = RoundedReflections<Number>;

  /// `rounded` is the same layer and must outlive this. Throws LimitError as AffineLayer does.
  OrderedLayer(const Layer& layer, const RoundedLayer<A>& rounded, Form form, Order order);

  static constexpr std::uint64_t kMaxChunk = std::uint64_t{1} << 26;

  const Order& order() const { return order_; }
  const RoundedLayer<A>& rounded() const { return *rounded_; }
  /// The letters as maps; none where chunks of reflections are in the UT form.
  const AffineLayer<A>* affine() const { return affine_ ? &*affine_ : nullptr; }
  /// The letters' factors, in the UT form.
  const std::vector<Reflections>& reflections() const { return reflections_; }
  std::uint32_t dimension() const { return dimension_; }
  std::uint32_t columns() const { return columns_; }

  /// The most factors of one letter, in the UT form.
  std::size_t factors_per_letter() const { return factors_per_letter_; }
  /// The most factors of a chunk, in the UT form. Throws LimitError when they could need more than kMaxChunk
  /// numbers.
  std::size_t factors_per_chunk() const;

  /// Throws LimitError as factors_per_chunk() does.
  std::unique_ptr<LayerRun<A>> make_run() const;

 private:
  const RoundedLayer<A>* rounded_;
  Order order_;
  std::uint32_t dimension_, columns_;
  std::optional<AffineLayer<A>> affine_;
  std::vector<Reflections> reflections_;
  std::size_t factors_per_letter_ = 0;
};

/// True when a chunk of this layer takes the UT form: structured weights, reflections only, no B.
bool takes_ut_form(const Layer& layer, Form form);

// A network with its weights rounded to one arithmetic, read in an order that
// composes letters (simulate/arithmetic/order.h).

/// Immutable and shared by threads. Views the network, which must outlive it.
template <class A>
class OrderedNetwork {
 public:
  /// Throws LimitError as OrderedLayer does, and InputError when the network snaps.
  OrderedNetwork(const Network& network, Form form, Order order) : rounded_(network, form) {
    require_linear(network, "order " + to_string(order));
    layers_.reserve(network.layers.size());
    for (std::size_t k = 0; k < network.layers.size(); ++k)
      layers_.emplace_back(network.layers[k], rounded_.layers()[k], form, order);
  }
  OrderedNetwork(const OrderedNetwork&) = delete;
  OrderedNetwork& operator=(const OrderedNetwork&) = delete;

  const RoundedNetwork<A>& rounded() const { return rounded_; }
  const std::vector<OrderedLayer<A>>& layers() const { return layers_; }

 private:
  RoundedNetwork<A> rounded_;
  std::vector<OrderedLayer<A>> layers_;
};

/// make_evaluator for the orders but `sequential`. Instantiated for all arithmetics in layer_run.cpp.
template <class A>
std::unique_ptr<Evaluator> ordered_evaluator(const Network& network, Form form, Order order);

}  // namespace krohn
