// simulate/evaluate/rounded_network_definitions.h — the member functions of simulate/evaluate/rounded_network.h, for
// the few translation units that instantiate them. Nothing else includes this.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {

/// A weight as the arithmetic stores it; `where` says which one, where it has to be refused.
template <class A>
typename A::Number stored_weight(const A& in, long double weight, const auto& where) {
  if constexpr (std::is_empty_v<A>)
    return round_weight<A>(weight);
  else
    return in.weight(weight, where);
}

template <class A>
std::vector<typename A::Number> round_entries(const Eigen::MatrixXd& entries, const A& in, const auto& where) {
  std::vector<typename A::Number> rounded(static_cast<std::size_t>(entries.size()));
  std::transform(entries.data(), entries.data() + entries.size(), rounded.begin(),
                 [&](double entry) { return stored_weight(in, entry, where); });
  return rounded;
}

template <class A>
RoundedLayer<A>::RoundedLayer(const Layer& layer, Form form, const A& in, std::size_t number)
    : in_(in),
      dimension_(layer.dimension),
      columns_(layer.columns),
      labels_(layer.labels),
      initial_label_(layer.initial_label),
      initial_(round_entries(layer.initial, in, [&] { return fmt::format("layer {}, H_0", number); })),
      action_of_(layer.wiring.action_of),
      book_of_(layer.book_of_context),
      next_(layer.wiring.next) {
  for (const Transition& transition : layer.transitions) {
    const auto where = [&] { return fmt::format("layer {}, action {}", number, additions_.size()); };
    if constexpr (std::is_empty_v<A>)
      matrices_.push_back(round_matrix<typename A::Format>(transition.a, form));
    else
      matrices_.push_back(round_matrix_by<Number>(
          transition.a, form, [&](long double weight) { return stored_weight(in_, weight, where); }));
    additions_.push_back(round_entries(transition.b, in, where));
  }
  for (std::uint32_t book = 0; book < books_of(layer); ++book) books_.emplace_back(layer, book);
}

template <class A>
void RoundedLayer<A>::move(Action action, const Number* from, Number* to) const {
  using Sum = typename A::Sum;
  if constexpr (std::is_same_v<Number, Sum>) {
    move_sums(action, from, to);  // loading changes nothing, nor does storing unless the arithmetic is an object
    if constexpr (!std::is_empty_v<A>) std::transform(to, to + size(), to, [&](Sum sum) { return in_.store(sum); });
  } else {
    thread_local std::vector<Sum> sums;  // kept from letter to letter
    sums.resize(2 * size());
    Sum* const loaded = sums.data();
    std::transform(from, from + size(), loaded, A::load);
    move_sums(action, loaded, loaded + size());
    std::transform(loaded + size(), loaded + 2 * size(), to, A::store);
  }
}

template <class A>
RoundedNetwork<A>::RoundedNetwork(const Network& network, Form form, const A& in)
    : in_(in), readout_(network.readout.next), letters_(network.automaton.letters()), snap_every_(network.snap_every) {
  for (const Layer& layer : network.layers) {
    layers_.emplace_back(layer, form, in, layers_.size());
    size_ += layers_.back().size();
  }
  if (std::is_empty_v<A>) return;
  for (std::size_t k = 0; k < layers_.size(); ++k)  // no word meets a codeword that is none of the arithmetic's
    for (std::size_t i = 0; i < network.layers[k].decoder.codewords.size(); ++i)
      round_entries(network.layers[k].decoder.codewords[i], in_,
                    [&] { return fmt::format("layer {}, codeword {}", k, i); });
}

template <class A>
typename RoundedNetwork<A>::Scratch RoundedNetwork<A>::make_scratch() const {
  Scratch scratch;
  std::size_t greatest = 0;
  for (const auto& layer : layers_) {
    auto& hints = scratch.hints.emplace_back();
    for (const NearestCodeword& book : layer.books()) hints.push_back(book.make_hints());
    greatest = std::max(greatest, layer.size());
  }
  scratch.state.resize(greatest);
  return scratch;
}

template <class A>
void RoundedNetwork<A>::start(Number* numbers, Label* labels) const {
  for (const auto& layer : layers_) {
    numbers = std::copy(layer.initial().begin(), layer.initial().end(), numbers);
    *labels++ = layer.initial_label();
  }
}

template <class A>
Label RoundedNetwork<A>::label_of(std::size_t k, std::uint32_t book, const Number* numbers, Scratch& scratch) const {
  const std::size_t size = layers_[k].size();
  for (std::size_t i = 0; i < size; ++i) scratch.state[i] = to_double(numbers[i]);
  return layers_[k].books()[book].decode({scratch.state.data(), size}, scratch.hints[k][book]);
}

template <class A>
State RoundedNetwork<A>::step(const Number* from, const Label* pre, Letter letter, Number* to, Label* post,
                              Scratch& scratch) const {
  Context context = letter;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const RoundedLayer<A>& layer = layers_[k];
    if (context == kNoContext) {
      std::copy_n(from, layer.size(), to);
      post[k] = kNoLabel;
    } else {
      layer.move(layer.action_of(context), from, to);
      post[k] = label_of(k, layer.book_of(context), to, scratch);
      if (k + 1 < layers_.size()) context = pre[k] == kNoLabel ? kNoContext : layer.next(context, pre[k]);
    }
    from += layer.size();
    to += layer.size();
  }
  return read(post);
}

template <class A>
void RoundedNetwork<A>::snap(Number* numbers, const Label* labels, Scratch& scratch) const {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const std::size_t size = layers_[k].size();
    if (labels[k] != kNoLabel) {
      for (std::size_t i = 0; i < size; ++i) scratch.state[i] = to_double(numbers[i]);
      const NearestCodeword& book = layers_[k].books()[0];
      const std::uint32_t codeword = book.nearest({scratch.state.data(), size}, scratch.hints[k][0]);
      for (std::size_t i = 0; i < size; ++i)
        numbers[i] = stored_weight(in_, book.entry(codeword, i), [] { return std::string(); });
    }
    numbers += size;
  }
}

template <class A>
State RoundedNetwork<A>::read(const Label* labels) const {
  Context node = 0;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    if (labels[k] == kNoLabel) return kNoState;
    node = readout_[k][std::size_t{node} * layers_[k].labels() + labels[k]];
    if (node == kNoContext) return kNoState;
  }
  return node;
}

}  // namespace krohn
