// gpu/networks/device_network.cuh — one letter of one word through all layers of a network, beside the automaton. For
// the processor and for CUDA devices.
#pragma once

#include <cstdint>

#include "krohn/gpu/networks/lane_step.cuh"
#include "krohn/simulate/words/random_letters.h"

namespace krohn {

/// The layers of a small network by value. A kernel that has them among its parameters reads them as constants, which
/// no store to memory can change: they take neither the cache nor a second look.
template <class Number>
struct FewLayers {
  static constexpr std::uint32_t kMaxLayers = 3, kMaxStages = 16;

  DeviceLayer<Number> layers[kMaxLayers];
  LaneStage<Number> all_stages[kMaxStages];
  std::uint32_t first_stage[kMaxLayers] = {};

  KROHN_HOST_DEVICE const DeviceLayer<Number>& layer(std::uint32_t k) const { return layers[k]; }
  KROHN_HOST_DEVICE const LaneStage<Number>* stages(std::uint32_t k) const { return all_stages + first_stage[k]; }
};

/// Plain pointers into one piece of memory, the device's or the processor's (gpu/networks/network_image.h).
template <class Number>
struct DeviceNetwork {
  KROHN_HOST_DEVICE const DeviceLayer<Number>& layer(std::uint32_t k) const { return layers[k]; }
  KROHN_HOST_DEVICE const LaneStage<Number>* stages(std::uint32_t k) const { return layers[k].program.stages; }

  const DeviceLayer<Number>* layers = nullptr;
  std::uint32_t layer_count = 0;
  std::uint32_t numbers = 0;  ///< of all layers
  std::uint32_t scratch = 0;  ///< the greatest dimension
  const Number* initial = nullptr;
  const std::uint32_t* initial_codewords = nullptr;  ///< by layer, as are the labels
  const std::uint32_t* initial_labels = nullptr;
  // The automaton: next[state · letters + letter], and the output of every state.
  const std::uint32_t* next = nullptr;
  const std::uint32_t* outputs = nullptr;
  std::uint32_t letters = 0, states = 0, initial_state = 0, initial_answer = 0;
};

/// One word's place: what is kept between letters, and room for one step.
template <class Number>
struct WordPlace {
  Column<Number> numbers, scratch;
  Column<std::uint32_t> codewords, labels;  ///< by layer; of the last layer, the label is that of the last letter
};

/// Reads a letter: the state of the readout, or all bits for none. A layer whose context is unknown stays as it is, and
/// decodes nothing. `layers`: the network, or its FewLayers.
template <class D, class Layers>
KROHN_HOST_DEVICE std::uint32_t read_letter(const DeviceNetwork<typename D::Number>& network, const Layers& layers,
                                            const WordPlace<typename D::Number>& word, std::uint32_t letter) {
  std::uint32_t context = letter, node = 0;
  for (std::uint32_t k = 0; k < network.layer_count; ++k) {
    const auto& layer = layers.layer(k);
    const LaneStep<D> step(layer, layers.stages(k), word.numbers + layer.first_number, word.scratch);
    const std::uint32_t before = word.labels[k];
    std::uint32_t label = layer.program.labels;
    if (!step.holds(context)) {
      const std::uint32_t action = step.action_of(context);
      step.move(action);
      const std::uint32_t codeword = step.decode(action, word.codewords[k]);
      word.codewords[k] = codeword;
      label = step.label_of(codeword);
    }
    word.labels[k] = label;
    if (k + 1 < network.layer_count) context = step.context_above(context, before);
    node = step.node_after(node, label);
  }
  return node;
}

/// Puts a word at its beginning.
template <class Number>
KROHN_HOST_DEVICE void start_word(const DeviceNetwork<Number>& network, const WordPlace<Number>& word) {
  for (std::uint32_t e = 0; e < network.numbers; ++e) word.numbers[e] = network.initial[e];
  for (std::uint32_t k = 0; k < network.layer_count; ++k) {
    word.codewords[k] = network.initial_codewords[k];
    word.labels[k] = network.initial_labels[k];
  }
}

/// How one word fared so far.
struct WordOutcome {
  std::uint32_t state = 0, answer = 0;           ///< the automaton's, and the network's or all bits
  std::uint64_t right_letters = 0;               ///< letters after which the outputs agreed
  std::uint64_t failing_at = ~std::uint64_t{0};  ///< letters after which the states first differed; all bits: never
};

/// Letters [position, position + count) of the random word with this key, compared at every letter.
template <class D, class Layers>
KROHN_HOST_DEVICE void read_random_letters(const DeviceNetwork<typename D::Number>& network, const Layers& layers,
                                           const WordPlace<typename D::Number>& word, std::uint64_t key,
                                           std::uint64_t position, std::uint64_t count, WordOutcome& outcome) {
  const std::uint32_t per_block = letters_per_block(network.letters);
  const std::uint64_t end = position + count;
  auto skip = static_cast<std::uint32_t>(position % per_block);
  for (std::uint64_t block = position / per_block; position < end; ++block, skip = 0) {
    std::uint64_t fraction = random_fraction(key, block, network.letters);
    for (std::uint32_t digit = 0; digit < per_block && position < end; ++digit) {
      const std::uint32_t letter = next_letter(fraction, network.letters);
      if (digit < skip) continue;
      ++position;
      outcome.state = network.next[std::uint64_t{outcome.state} * network.letters + letter];
      outcome.answer = read_letter<D>(network, layers, word, letter);
      if (outcome.answer == outcome.state) {
        ++outcome.right_letters;
        continue;
      }
      if (position < outcome.failing_at) outcome.failing_at = position;
      if (outcome.answer < network.states && network.outputs[outcome.answer] == network.outputs[outcome.state])
        ++outcome.right_letters;
    }
  }
}

// Random words through a network beside its automaton, one word an item, some letters at a time. For the processor and
// for CUDA devices.

/// Word w is RandomWord(letters, seed, first_stream + w), of which letters [position, position + count) are read. What
/// is kept of the words lies in columns, entry e of word w at [e · words + w].
template <class D>
struct NetworkWordsJob {
  using Number = typename D::Number;

  DeviceNetwork<Number> network;
  FewLayers<Number> few;
  bool has_few = false;  ///< `few` are the network's layers
  std::uint64_t seed = 0, first_stream = 0, words = 0, position = 0, count = 0;
  Number* numbers = nullptr;
  std::uint32_t *codewords = nullptr, *labels = nullptr;
  WordOutcome* outcomes = nullptr;

  /// Numbers, and 32-bit words, that an item works with: kept ones first, then scratch.
  KROHN_HOST_DEVICE std::uint32_t work_numbers() const { return network.numbers + network.scratch; }
  KROHN_HOST_DEVICE std::uint32_t work_words() const { return 2 * network.layer_count; }

  /// Reads word `item` in the place given, whatever that held before, by `layers`, `few` or the network.
  template <class Layers>
  KROHN_HOST_DEVICE void read(const Layers& layers, std::uint64_t item, const Column<Number>& numbers_here,
                              const Column<std::uint32_t>& words_here) const {
    WordPlace<Number> word{numbers_here, numbers_here + network.numbers, words_here, words_here + network.layer_count};
    WordOutcome outcome;
    if (position == 0) {
      start_word(network, word);
      outcome.state = network.initial_state;
      outcome.answer = network.initial_answer;
      if (outcome.answer != outcome.state) outcome.failing_at = 0;
    } else {
      for (std::uint32_t e = 0; e < network.numbers; ++e) word.numbers[e] = numbers[e * words + item];
      for (std::uint32_t k = 0; k < network.layer_count; ++k) {
        word.codewords[k] = codewords[k * words + item];
        word.labels[k] = labels[k * words + item];
      }
      outcome = outcomes[item];
    }
    read_random_letters<D>(network, layers, word, random_key(seed, first_stream + item), position, count, outcome);
    for (std::uint32_t e = 0; e < network.numbers; ++e) numbers[e * words + item] = word.numbers[e];
    for (std::uint32_t k = 0; k < network.layer_count; ++k) {
      codewords[k * words + item] = word.codewords[k];
      labels[k * words + item] = word.labels[k];
    }
    outcomes[item] = outcome;
  }
};

/// Starts the kernel, with the words' places in shared memory where they fit. There small networks are read as
/// FewLayers.
template <class D>
void cuda_read_words(const NetworkWordsJob<D>& job);

}  // namespace krohn
