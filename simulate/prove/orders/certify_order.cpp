#include <fmt/format.h>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/messages.h"
#include "krohn/simulate/evaluate/layer_run.h"
#include "krohn/simulate/evaluate/reflection_chunk.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/claims/closed_layer.h"
#include "krohn/simulate/prove/orders/certify_order.h"
#include "krohn/simulate/prove/orders/exact_order.h"
#include "krohn/simulate/prove/orders/ordered_search.h"

namespace krohn {
namespace {

/// One letter from any state, as the order makes it.
template <class A>
class OneLetter {
 public:
  using Number = typename A::Number;

  explicit OneLetter(const OrderedLayer<A>& layer) : layer_(layer) {
    if (layer.affine() != nullptr)
      sums_ = layer.affine()->make_sums();
    else
      chunk_.emplace(layer.dimension(), layer.columns(), layer.factors_per_letter());
  }

  void operator()(Action action, const std::vector<Number>& from, std::vector<Number>& to) {
    if (!chunk_) return layer_.affine()->apply(layer_.affine()->letter(action), from.data(), to.data(), sums_);
    chunk_->start(from.data());
    for (const auto& factor : layer_.reflections()[action].factors) chunk_->append(factor);
    chunk_->state(to.data());
  }

 private:
  const OrderedLayer<A>& layer_;
  std::vector<typename A::Sum> sums_;
  std::optional<ReflectionChunk<A>> chunk_;
};

/// The result of the proof that nothing rounds.
struct ExactNetwork {
  LabelMachine machine;
  std::vector<std::string> evidence;  ///< per layer
  bool only_maps = true;
  std::uint64_t pairs = 0;
};

template <class A>
std::optional<ExactNetwork> find_exact(const Network& network, const OrderedNetwork<A>& ordered,
                                       const CertifyOptions& options) {
  ExactNetwork exact;
  exact.machine.readout = network.readout.next;
  const ExactnessLimits limits{.max_maps = options.max_pairs, .max_bytes = options.max_bytes};
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const OrderedLayer<A>& layer = ordered.layers()[k];
    ClosedLayer<A> closed(ordered.rounded(), k, network.layers[k]);
    OneLetter<A> one_letter(layer);
    const auto move = [&](Action action, const auto& from, auto& to) {
      if (++exact.pairs % (1 << 16) == 0 && options.progress) options.progress(exact.pairs);
      one_letter(action, from, to);
    };
    if (!closed.close(move)) return std::nullopt;
    StateExtent extent;
    std::vector<double> numbers;
    for (Label state = 0; state < closed.states(); ++state) {
      numbers.clear();
      for (const auto number : closed.numbers(state)) numbers.push_back(to_double(number));
      extent.add(numbers, layer.dimension());
    }
    const std::optional<std::string> reason = exactness(layer, extent, limits);
    if (!reason) return std::nullopt;
    exact.evidence.push_back(*reason);
    exact.only_maps = exact.only_maps && layer.affine() != nullptr;
    exact.machine.layers.push_back(closed.take_machine());
  }
  return exact;
}

Certificate begin_certificate(const CertifyOptions& options) {
  Certificate certificate;
  certificate.arithmetic = options.arithmetic;
  certificate.form = options.form;
  certificate.order = options.order;
  return certificate;
}

template <class A>
std::optional<Certificate> certify_associations(const Network& network, const OrderedNetwork<A>& ordered,
                                                const CertifyOptions& options) {
  const std::optional<ExactNetwork> exact = find_exact<A>(network, ordered, options);
  if (!exact) return std::nullopt;
  const std::optional<std::string> emulation = emulation_evidence(exact->machine, network, options);
  if (!emulation) return std::nullopt;
  Certificate certificate = begin_certificate(options);
  certificate.claim = Proved{.every_association = exact->only_maps};
  certificate.method = "exact in every association";
  certificate.pairs = exact->pairs;
  certificate.evidence = fmt::format(
      "every action takes every codeword to a codeword ({}), the labels so found emulate the automaton {}, and "
      "{}nothing rounds",
      counted(exact->pairs, "pair"), *emulation, exact->only_maps ? "once the letters' matrices are stored " : "");
  for (std::size_t k = 0; k < exact->evidence.size(); ++k)
    certificate.evidence += exact->evidence.size() == 1 ? fmt::format(": {}", exact->evidence[k])
                                                        : fmt::format("; layer {}: {}", k + 1, exact->evidence[k]);
  return certificate;
}

Certificate undecided(const CertifyOptions& options, std::string limit) {
  Certificate certificate = begin_certificate(options);
  certificate.limit = std::move(limit);
  return certificate;
}

/// The failing word once more, by the evaluator of the order: the claim must not rest on the search alone.
void replay(const Network& network, const Certificate& certificate, const CertifyOptions& options) {
  if (!certificate.failing_word()) return;
  const auto evaluator = make_evaluator(network, options.arithmetic, options.form, options.order);
  State state = network.automaton.initial();
  std::optional<State> answer = evaluator->current();
  for (const Letter letter : *certificate.failing_word()) {
    state = network.automaton.next(state, letter);
    answer = evaluator->step(letter);
  }
  if (answer == state)
    throw Error("the search found a failing word that the evaluator reads rightly; please report this");
}

}  // namespace

Certificate certify_order(const Network& network, const CertifyOptions& options) {
  if (options.order.is_sequential())
    throw InputError("--order sequential", "this order has certificates of its own; take another");
  return with_arithmetic(options.arithmetic, [&](auto type) {
    using A = decltype(type);
    const OrderedNetwork<A> ordered(network, options.form, options.order);
    if (auto exact = within_time(0.5, [&] { return certify_associations<A>(network, ordered, options); }))
      return *std::move(exact);
    if (network.layers.size() > 1)
      return undecided(options, "a layer rounds or leaves its codewords, and the search in this order takes one layer");
    Certificate found = search_order(network.automaton, *make_order_system<A>(network, ordered), options);
    replay(network, found, options);
    return found;
  });
}

}  // namespace krohn
