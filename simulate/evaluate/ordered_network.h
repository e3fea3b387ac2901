// simulate/evaluate/ordered_network.h — a network with its weights rounded to one arithmetic, read in an order that
// composes letters (simulate/arithmetic/order.h).
#pragma once

#include <memory>
#include <vector>

#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/layer_run.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {

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

/// make_evaluator for the orders but `sequential`.
std::unique_ptr<Evaluator> make_ordered_evaluator(const Network& network, ArithmeticName arithmetic, Form form,
                                                  Order order);

}  // namespace krohn
