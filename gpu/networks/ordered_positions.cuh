// gpu/networks/ordered_positions.cuh — what the layers of a network read and say at the positions of words that are
// read side by side, when one layer after another reads all of them in an order that composes letters
// (simulate/arithmetic/order.h). For the processor and for CUDA devices.
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
  unsigned long long known = ~0ULL;       ///< of the letters, from 0, the first whose context some layer does not know
};

/// The same segment of the random words `first_word`, first_word + 1, …, all of one length. What is kept by letter lies
/// word after word.
struct WordSegments {
  std::uint64_t seed = 0, first_word = 0, words = 1;
  std::uint64_t segment = 0, letters = 0;  ///< the segment's first letter in a word, and the letters that are read

  /// The letters of word `which` from letter `first` of the segment on, of `base` letters each.
  KROHN_HOST_DEVICE RandomReader reader(std::uint32_t base, std::uint64_t which, std::uint64_t first) const {
    return {random_key(seed, first_word + which), base, segment + first};
  }
};

/// A kernel's items: parts first, first + 1, … of every word, `each` of them, word after word.
struct PartsOfWords {
  std::uint64_t first = 0, each = 1;

  KROHN_HOST_DEVICE std::uint64_t word(std::uint64_t item) const { return item / each; }
  KROHN_HOST_DEVICE std::uint64_t part(std::uint64_t item) const { return first + item % each; }
};

/// The segment before one layer. A layer that is alone reads the letters and is compared with the automaton at once;
/// several give each other their labels, position by position.
template <class D>
struct LayerWord : WordSegments {
  DeviceNetwork<typename D::Number> network;
  std::uint32_t layer = 0;
  const std::uint32_t* actions = nullptr;  ///< by context: the letter of the layer
  // By letter of the segment, null where the layer is alone. Nodes are those of the readout below this layer.
  const std::uint32_t* contexts = nullptr;
  std::uint32_t *labels = nullptr, *nodes = nullptr;

  KROHN_HOST_DEVICE bool is_alone() const { return contexts == nullptr; }
};

/// The contexts of a layer in a word from a letter of the segment on.
template <class D>
class ContextReader {
 public:
  KROHN_HOST_DEVICE ContextReader(const LayerWord<D>& word, std::uint64_t which, std::uint64_t first)
      : random_(word.reader(word.network.letters, which, first)),
        stored_(word.is_alone() ? nullptr : word.contexts + which * word.letters + first) {}

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

  KROHN_HOST_DEVICE PositionJudge(const LayerWord<D>& word, std::uint64_t which, const Column<Number>& state,
                                  std::uint32_t automaton_state)
      : word_(word),
        which_(which),
        step_(word.network.layer(word.layer), word.network.stages(word.layer), state, state),
        codeword_(word.network.initial_codewords[word.layer]) {
    tally_.state = automaton_state;
  }

  /// The state after letter `at` of the segment is there.
  KROHN_HOST_DEVICE void judge(std::uint64_t at, std::uint32_t context) {
    codeword_ = step_.decode(step_.action_of(context), codeword_);
    const std::uint32_t label = step_.label_of(codeword_);
    if (word_.is_alone()) return tally_.add(word_.network, word_.segment + at + 1, context, step_.node_after(0, label));
    at += which_ * word_.letters;
    word_.labels[at] = label;
    word_.nodes[at] = step_.node_after(word_.layer == 0 ? 0 : word_.nodes[at], label);
  }
  KROHN_HOST_DEVICE void tell(OrderedOutcome* outcomes, bool is_last) const {
    if (word_.is_alone()) tally_.tell(outcomes + which_, is_last);
  }

 private:
  const LayerWord<D>& word_;
  std::uint64_t which_;
  LaneStep<D> step_;
  std::uint32_t codeword_;
  Tally tally_;
};

/// Letters that an item of the jobs below has.
inline constexpr std::uint64_t kLettersAnItem = 64;

/// to[i · to_step + e] = from[i · from_step + e] for all e below `size`: a number of a row an item.
template <class T>
struct CopyRows {
  const T* from = nullptr;
  std::uint64_t from_step = 0;
  T* to = nullptr;
  std::uint64_t to_step = 1, size = 1;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    to[item / size * to_step + item % size] = from[item / size * from_step + item % size];
  }
};

/// The automaton's states before letters first, first + step, … of every word's segment, `count` of them; after them
/// the outcome has the state. A word an item.
struct WriteStates {
  WordSegments words;
  const std::uint32_t* next = nullptr;
  std::uint32_t letters = 1;
  std::uint64_t first = 0, step = 1, count = 0;
  OrderedOutcome* outcomes = nullptr;
  std::uint32_t* before = nullptr;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    RandomReader reader = words.reader(letters, item, first);
    std::uint32_t state = outcomes[item].state;
    for (std::uint64_t i = 0, at = first; i < count; ++i) {
      before[item * count + i] = state;
      for (std::uint64_t end = at + step; at < end && at < words.letters; ++at)
        state = next[std::uint64_t{state} * letters + reader.next()];
    }
    outcomes[item].state = state;
  }
};

/// The words' letters are the contexts of the lowest layer.
struct WriteLetters {
  WordSegments words;
  PartsOfWords parts;
  std::uint32_t letters = 1;
  std::uint32_t* contexts = nullptr;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t which = parts.word(item), first = parts.part(item) * kLettersAnItem;
    RandomReader reader = words.reader(letters, which, first);
    std::uint32_t* const to = contexts + which * words.letters;
    for (std::uint64_t at = first; at < first + kLettersAnItem && at < words.letters; ++at) to[at] = reader.next();
  }
};

/// The contexts of the layer above: of this layer's context, and its label before the letter. A context that is not
/// known is written as 0: no answer counts from there on, and all before do not depend on it.
template <class Number>
struct MakeContexts {
  DeviceNetwork<Number> network;
  WordSegments words;
  std::uint32_t layer = 0;
  const std::uint32_t *labels_before = nullptr,
                      *labels = nullptr;  ///< before the segment, by word and layer; by letter
  std::uint32_t* contexts = nullptr;
  OrderedOutcome* outcomes = nullptr;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const LaneProgram<Number>& program = network.layers[layer].program;
    const std::uint64_t which = item / words.letters, at = item % words.letters;
    const std::uint32_t before = at == 0 ? labels_before[which * network.layer_count + layer] : labels[item - 1];
    const auto above = static_cast<std::uint32_t>(program.next[contexts[item] * (program.labels + 1) + before]);
    const bool is_known = above != network.layers[layer + 1].program.contexts;
    contexts[item] = is_known ? above : 0;
    if (!is_known) take_minimum(&outcomes[which].known, words.segment + at);
  }
};

/// The answers of all layers beside the automaton. From a word's first letter without a context on: no answer.
template <class Number>
struct CompareNodes {
  DeviceNetwork<Number> network;
  WordSegments words;
  PartsOfWords parts;
  const std::uint32_t *nodes = nullptr, *automaton_states = nullptr;
  OrderedOutcome* outcomes = nullptr;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t which = parts.word(item), first = parts.part(item) * kLettersAnItem;
    const std::uint64_t last = first + kLettersAnItem < words.letters ? first + kLettersAnItem : words.letters;
    RandomReader reader = words.reader(network.letters, which, first);
    Tally tally;
    tally.state = automaton_states[item];
    for (std::uint64_t at = first; at < last; ++at)
      tally.add(network, words.segment + at + 1, reader.next(),
                words.segment + at < outcomes[which].known ? nodes[which * words.letters + at] : UINT32_MAX);
    tally.tell(outcomes + which, last == words.letters);
  }
};

}  // namespace krohn
