// gpu/networks/ordered_positions.cuh — what the layers of a network read and say at the positions of one long word,
// when one layer after another reads the whole word in an order that composes letters (simulate/arithmetic/order.h).
// For the processor and for CUDA devices.
#pragma once

#include <cstdint>

#include "krohn/gpu/device/threads.cuh"
#include "krohn/gpu/networks/device_network.cuh"
#include "krohn/simulate/words/random_letters.h"

namespace krohn {

/// The outcome of one word.
struct OrderedOutcome {
  std::uint32_t state = 0, answer = 0;  ///< after the last letter
  unsigned long long right_letters = 0;
  unsigned long long failing_at = ~0ULL;  ///< in letters of the word
};

/// A segment of a random word before one layer. A layer that is alone reads the letters and is compared with the
/// automaton at once; several give each other their labels, position by position.
template <class D>
struct LayerWord {
  DeviceNetwork<typename D::Number> network;
  std::uint32_t layer = 0;
  const std::uint32_t* actions = nullptr;  ///< by context: the letter of the layer
  std::uint64_t key = 0;
  std::uint64_t segment = 0, letters = 0;  ///< the segment's first letter in the word, and the letters that are read
  // By letter of the segment, null where the layer is alone. Nodes are those of the readout below this layer.
  const std::uint32_t* contexts = nullptr;
  std::uint32_t *labels = nullptr, *nodes = nullptr;

  KROHN_HOST_DEVICE bool is_alone() const { return contexts == nullptr; }
};

/// The contexts of a layer from a letter of the segment on.
template <class D>
class ContextReader {
 public:
  KROHN_HOST_DEVICE ContextReader(const LayerWord<D>& word, std::uint64_t first)
      : random_(word.key, word.network.letters, word.segment + first),
        stored_(word.is_alone() ? nullptr : word.contexts + first) {}

  KROHN_HOST_DEVICE std::uint32_t next() { return stored_ == nullptr ? random_.next() : *stored_++; }

 private:
  RandomReader random_;
  const std::uint32_t* stored_;
};

/// How the positions of a block fare beside the automaton.
struct Tally {
  std::uint32_t state = 0, answer = 0;  ///< the automaton's and the network's at the position read last
  unsigned long long right = 0, failing = ~0ULL;

  /// `read` letters of the word with this one, after which the network says `says`.
  template <class Network>
  KROHN_HOST_DEVICE void add(const Network& network, std::uint64_t read, std::uint32_t letter, std::uint32_t says) {
    state = network.next[std::uint64_t{state} * network.letters + letter];
    answer = says;
    if (answer == state) {
      ++right;
      return;
    }
    if (read < failing) failing = read;
    if (answer < network.states && network.outputs[answer] == network.outputs[state]) ++right;
  }
  KROHN_HOST_DEVICE void tell(OrderedOutcome* outcome, bool is_last) const {
    add_to(&outcome->right_letters, right);
    if (failing != ~0ULL) take_minimum(&outcome->failing_at, failing);
    if (!is_last) return;
    outcome->state = state;
    outcome->answer = answer;
  }
};

/// Decodes states of a block's letters, one after another.
template <class D>
class PositionJudge {
 public:
  using Number = typename D::Number;

  KROHN_HOST_DEVICE PositionJudge(const LayerWord<D>& word, const Column<Number>& state, std::uint32_t automaton_state)
      : word_(word),
        step_(word.network.layer(word.layer), word.network.stages(word.layer), state, state),
        codeword_(word.network.initial_codewords[word.layer]) {
    tally_.state = automaton_state;
  }

  /// The state after letter `at` of the segment is there.
  KROHN_HOST_DEVICE void judge(std::uint64_t at, std::uint32_t context) {
    codeword_ = step_.decode(step_.action_of(context), codeword_);
    const std::uint32_t label = step_.label_of(codeword_);
    if (word_.is_alone()) return tally_.add(word_.network, word_.segment + at + 1, context, step_.node_after(0, label));
    word_.labels[at] = label;
    word_.nodes[at] = step_.node_after(word_.layer == 0 ? 0 : word_.nodes[at], label);
  }
  KROHN_HOST_DEVICE void tell(OrderedOutcome* outcome, bool is_last) const {
    if (word_.is_alone()) tally_.tell(outcome, is_last);
  }

 private:
  const LayerWord<D>& word_;
  LaneStep<D> step_;
  std::uint32_t codeword_;
  Tally tally_;
};

/// Letters that an item of the jobs below has.
inline constexpr std::uint64_t kLettersAnItem = 64;

/// The word's letters are the contexts of the lowest layer.
struct WriteLetters {
  std::uint64_t key = 0, segment = 0, count = 0;
  std::uint32_t letters = 1;
  std::uint32_t* contexts = nullptr;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t first = item * kLettersAnItem;
    RandomReader reader(key, letters, segment + first);
    for (std::uint64_t at = first; at < first + kLettersAnItem && at < count; ++at) contexts[at] = reader.next();
  }
};

/// The contexts of the layer above: of this layer's context, and its label before the letter.
template <class Number>
struct MakeContexts {
  DeviceNetwork<Number> network;
  std::uint32_t layer = 0, label_before = 0;  ///< this layer, and its label before the segment
  const std::uint32_t* labels = nullptr;
  std::uint32_t* contexts = nullptr;
  unsigned long long* first_unknown = nullptr;  ///< the least letter whose context above is not known

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const LaneProgram<Number>& program = network.layers[layer].program;
    const std::uint32_t before = item == 0 ? label_before : labels[item - 1];
    const auto above = static_cast<std::uint32_t>(program.next[contexts[item] * (program.labels + 1) + before]);
    contexts[item] = above;
    if (above == network.layers[layer + 1].program.contexts) take_minimum(first_unknown, item);
  }
};

/// The answers of all layers beside the automaton. From letter `known` on some layer has no context: no answer.
template <class Number>
struct CompareNodes {
  DeviceNetwork<Number> network;
  std::uint64_t key = 0, segment = 0, count = 0, known = 0, first_item = 0;
  const std::uint32_t *nodes = nullptr, *automaton_states = nullptr;
  OrderedOutcome* outcome = nullptr;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t first = (first_item + item) * kLettersAnItem;
    const std::uint64_t last = first + kLettersAnItem < count ? first + kLettersAnItem : count;
    RandomReader reader(key, network.letters, segment + first);
    Tally tally;
    tally.state = automaton_states[item];
    for (std::uint64_t at = first; at < last; ++at)
      tally.add(network, segment + at + 1, reader.next(), at < known ? nodes[at] : UINT32_MAX);
    tally.tell(outcome, last == count);
  }
};

}  // namespace krohn
