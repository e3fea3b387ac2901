// gpu/networks/network_words.cuh — random words through a network beside its automaton, one word an item, some letters
// at a time. For the processor and for CUDA devices.
#pragma once

#include <cstdint>

#include "krohn/gpu/networks/device_network.cuh"

namespace krohn {

/// Word w is RandomWord(letters, seed, first_stream + w), of which letters [position, position + count) are read. What
/// is kept of the words lies in columns, entry e of word w at [e · words + w].
template <class D>
struct NetworkWordsJob {
  using Number = typename D::Number;

  DeviceNetwork<Number> network;
  std::uint64_t seed = 0, first_stream = 0, words = 0, position = 0, count = 0;
  Number* numbers = nullptr;
  std::uint32_t *codewords = nullptr, *labels = nullptr;
  WordOutcome* outcomes = nullptr;

  /// Numbers, and 32-bit words, that an item works with: kept ones first, then scratch.
  KROHN_HOST_DEVICE std::uint32_t work_numbers() const { return network.numbers + network.scratch; }
  KROHN_HOST_DEVICE std::uint32_t work_words() const { return 2 * network.layer_count; }

  /// Reads word `item` in the place given, whatever that held before.
  KROHN_HOST_DEVICE void read(std::uint64_t item, const Column<Number>& numbers_here,
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
    read_random_letters<D>(network, word, random_key(seed, first_stream + item), position, count, outcome);
    for (std::uint32_t e = 0; e < network.numbers; ++e) numbers[e * words + item] = word.numbers[e];
    for (std::uint32_t k = 0; k < network.layer_count; ++k) {
      codewords[k * words + item] = word.codewords[k];
      labels[k * words + item] = word.labels[k];
    }
    outcomes[item] = outcome;
  }
};

/// Starts the kernel, with the words' places in shared memory where they fit.
template <class D>
void cuda_read_words(const NetworkWordsJob<D>& job);

}  // namespace krohn
