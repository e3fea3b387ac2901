// gpu/networks/pair_search.cuh — one level of a breadth-first search over pairs (automaton state, network state), a
// chunk of pairs at a time, in four kernels: make all successors; insert them into a hash set; see which are new;
// number those. Between kernels everything is written, so that no record is ever read while another thread writes it.
// For the processor and for CUDA devices.
//
// A pair's record: the automaton's state; the labels of all layers but the last; the bit patterns of all numbers, −0 as
// +0; and, not compared, the codewords found last, which are hints. An entry of the table is 0 when empty; the number
// of a pair, from 1 on; or, with the highest bit, the number of a candidate of this chunk. An entry never changes its
// record: of equal candidates the least stays, so that pairs are numbered as a search one by one would.
#pragma once

#include <cstdint>

#include "krohn/gpu/device/threads.cuh"
#include "krohn/gpu/networks/device_network.cuh"

namespace krohn {

/// Numbers as 32-bit words of a record: a 16-bit format is held in floats.
template <class Number>
inline constexpr std::uint32_t kWordsPerNumber = sizeof(Number) / sizeof(std::uint32_t);

/// Where records, parents and the table of pairs are, and the chunk at hand.
struct PairMemory {
  static constexpr std::uint32_t kCandidate = 0x80000000U;

  std::uint32_t words = 0, key_words = 0;  ///< of a record; that are compared
  std::uint32_t *records = nullptr, *parents = nullptr, *table = nullptr;
  std::uint64_t table_mask = 0;

  // Candidate c of the chunk is letter c mod letters after pair first + c / letters.
  std::uint64_t first = 0, candidates = 0;
  std::uint32_t letters = 0;
  std::uint32_t* candidate_records = nullptr;
  std::uint64_t* slots = nullptr;         ///< where in the table each candidate is
  std::uint32_t* winners = nullptr;       ///< a bit each
  std::uint64_t* numbers = nullptr;       ///< of the first new pair in each 32 candidates
  unsigned long long* failing = nullptr;  ///< the least candidate that was read wrongly
  std::uint64_t most_pairs = 0;           ///< beyond them, new pairs are dropped

  KROHN_HOST_DEVICE const std::uint32_t* record_of(std::uint32_t entry) const {
    return (entry & kCandidate) != 0 ? candidate_records + std::uint64_t{entry & ~kCandidate} * words
                                     : records + std::uint64_t{entry - 1} * words;
  }
};

/// Makes candidate `item`, and notes it when the network reads it wrongly.
template <class D>
struct MakeSuccessors {
  using Number = typename D::Number;

  PairMemory memory;
  DeviceNetwork<Number> network;
  // Columns of all candidates of the chunk.
  Number* numbers = nullptr;
  std::uint32_t* codewords = nullptr;
  std::uint32_t* labels = nullptr;
  std::uint32_t columns = 0;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const WordPlace<Number> word{{numbers + item, columns},
                                 {numbers + std::uint64_t{network.numbers} * columns + item, columns},
                                 {codewords + item, columns},
                                 {labels + item, columns}};
    const std::uint32_t state = load(memory.records + (memory.first + item / memory.letters) * memory.words, word);
    const auto letter = static_cast<std::uint32_t>(item % memory.letters);
    const std::uint32_t right = network.next[std::uint64_t{state} * network.letters + letter];
    if (read_letter<D>(network, network, word, letter) != right)
      take_minimum(memory.failing, static_cast<unsigned long long>(item));
    store(right, word, memory.candidate_records + item * memory.words);
  }

  /// The label of the last layer is not needed.
  KROHN_HOST_DEVICE std::uint32_t load(const std::uint32_t* record, const WordPlace<Number>& word) const {
    const std::uint32_t state = *record++;
    for (std::uint32_t k = 0; k + 1 < network.layer_count; ++k) word.labels[k] = *record++;
    word.labels[network.layer_count - 1] = 0;
    for (std::uint32_t e = 0; e < network.numbers; ++e, record += kWordsPerNumber<Number>)
      word.numbers[e] = number_of(record);
    for (std::uint32_t k = 0; k < network.layer_count; ++k) word.codewords[k] = *record++;
    return state;
  }

  KROHN_HOST_DEVICE void store(std::uint32_t state, const WordPlace<Number>& word, std::uint32_t* record) const {
    *record++ = state;
    for (std::uint32_t k = 0; k + 1 < network.layer_count; ++k) *record++ = word.labels[k];
    for (std::uint32_t e = 0; e < network.numbers; ++e) {
      const Number number = word.numbers[e];
      const auto bits = number == 0 ? decltype(bits_of(number)){0} : bits_of(number);
      *record++ = static_cast<std::uint32_t>(bits);
      if constexpr (kWordsPerNumber<Number> == 2) *record++ = static_cast<std::uint32_t>(bits >> 32);
    }
    for (std::uint32_t k = 0; k < network.layer_count; ++k) *record++ = word.codewords[k];
  }

  KROHN_HOST_DEVICE static Number number_of(const std::uint32_t* record) {
    if constexpr (kWordsPerNumber<Number> == 1)
      return float_of(record[0]);
    else
      return double_of(record[0] | std::uint64_t{record[1]} << 32);
  }
};

/// Finds the entry of candidate `item`, or makes it. Equal records meet in one entry: everybody goes the same way, and
/// an entry that somebody went past was taken then and stays so.
struct InsertCandidates {
  PairMemory memory;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint32_t* const record = memory.candidate_records + item * memory.words;
    const std::uint32_t own = PairMemory::kCandidate | static_cast<std::uint32_t>(item);
    std::uint64_t at = hash(record) & memory.table_mask;
    for (;; at = (at + 1) & memory.table_mask) {
      // Most successors are there already, and are seen without an exchange.
      std::uint32_t found = *static_cast<const volatile std::uint32_t*>(memory.table + at);
      if (found == 0) found = compare_and_swap(memory.table + at, 0, own);
      if (found == 0) break;
      if (!is_equal(record, memory.record_of(found))) continue;
      if ((found & PairMemory::kCandidate) != 0) take_minimum(memory.table + at, own);
      break;
    }
    memory.slots[item] = at;
  }

  KROHN_HOST_DEVICE std::uint64_t hash(const std::uint32_t* record) const {
    std::uint64_t state = kGolden;
    for (std::uint32_t i = 0; i < memory.key_words; ++i) state = splitmix_finaliser(state ^ record[i]) + kGolden;
    return state;
  }
  KROHN_HOST_DEVICE bool is_equal(const std::uint32_t* a, const std::uint32_t* b) const {
    for (std::uint32_t i = 0; i < memory.key_words; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
};

/// Which of candidates 32 · item … 32 · item + 31 are new.
struct FindWinners {
  PairMemory memory;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < 32 && 32 * item + i < memory.candidates; ++i) {
      const std::uint64_t candidate = 32 * item + i;
      const std::uint32_t own = PairMemory::kCandidate | static_cast<std::uint32_t>(candidate);
      if (memory.table[memory.slots[candidate]] == own) bits |= 1U << i;
    }
    memory.winners[item] = bits;
  }
};

/// Gives candidate `item` its number and its place among the pairs, if it is new and there is room.
struct NumberWinners {
  PairMemory memory;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint32_t bits = memory.winners[item / 32], bit = static_cast<std::uint32_t>(item % 32);
    if ((bits >> bit & 1) == 0) return;
    const std::uint64_t pair = memory.numbers[item / 32] + count_bits(bits & ((1U << bit) - 1));
    if (pair >= memory.most_pairs) return;
    for (std::uint32_t i = 0; i < memory.words; ++i)
      memory.records[pair * memory.words + i] = memory.candidate_records[item * memory.words + i];
    memory.parents[pair] = static_cast<std::uint32_t>(memory.first + item / memory.letters);
    memory.table[memory.slots[item]] = static_cast<std::uint32_t>(pair + 1);
  }
};

}  // namespace krohn
