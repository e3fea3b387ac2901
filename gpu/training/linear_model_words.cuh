// gpu/training/linear_model_words.cuh — samples of a task through a model of one linear layer and a linear read-out,
// one word a block: its threads take the rows of the state and of the read-out. For the processor and for CUDA devices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "krohn/gpu/device/threads.cuh"
#include "krohn/gpu/operations/word_plan.cuh"
#include "krohn/simulate/words/host_device.h"

namespace krohn {

/// first + Σ a_j x_j, from left to right: every product and every sum is a rounding of its own. a_j is at a[j · step].
KROHN_HOST_DEVICE inline float linear_sum(float first, const float* a, std::size_t step, const float* x,
                                          std::size_t terms) {
  for (std::size_t j = 0; j < terms; ++j) first += a[j * step] * x[j];
  return first;
}

/// Pointers to a LinearModel's numbers (simulate/models/sequence_model.h). Matrices and read-out are column by column,
/// number j of row i of a letter's at (letter · block + j) · hidden + i: the threads of a warp, a row each, read
/// numbers beside each other.
struct PlacedView {
  std::uint32_t hidden = 0, block = 0, labels = 0;
  const float *matrices = nullptr, *additions = nullptr, *initial = nullptr, *readout = nullptr, *bias = nullptr;
};

/// The part of a word that is kept between launches, besides its state.
struct LinearRecord {
  std::uint64_t right = 0, targets = 0;
  std::uint32_t oracle = 0;
};

/// The shared memory of a block: the answer that one thread tells the others, the state, the one after it, and logits.
struct LinearMemory {
  std::uint32_t* answer = nullptr;
  float *state = nullptr, *next = nullptr, *logits = nullptr;

  KROHN_HOST_DEVICE LinearMemory(const PlacedView& view, std::uint32_t* at)
      : answer(at), state(reinterpret_cast<float*>(at + 1)), next(state + view.hidden), logits(next + view.hidden) {}
  static std::size_t bytes(const PlacedView& view) {
    return sizeof(std::uint32_t) + (2 * std::size_t{view.hidden} + view.labels) * sizeof(float);
  }
};

/// Tokens [begin, end) of words first_word … first_word + words − 1. What is kept of word w is records[w], and its
/// state from w · hidden on.
struct LinearWords {
  PlacedView view;
  PlacedPlan plan;
  std::uint64_t first_word = 0, begin = 0, end = 0;
  float* states = nullptr;
  LinearRecord* records = nullptr;

  template <class Threads>
  KROHN_HOST_DEVICE void read_word(const Threads& threads, LinearMemory memory, std::uint64_t word) const {
    LinearRecord record = begin == 0 ? LinearRecord{} : records[word];
    if (begin == 0) record.oracle = plan.initial;
    threads.each([&](std::uint32_t thread) {
      const float* const from = begin == 0 ? view.initial : states + word * view.hidden;
      for (std::uint32_t i = thread; i < view.hidden; i += threads.count) memory.state[i] = from[i];
    });
    PlanReader tokens(plan, first_word + word, begin);
    for (std::uint64_t at = begin; at < end; ++at) {
      const std::uint32_t letter = tokens.next(plan);
      record.oracle = plan.next[std::size_t{record.oracle} * plan.oracle_letters + letter];
      move(threads, memory, letter);
      if (!plan.is_due(at)) continue;
      ++record.targets;
      record.right += answer(threads, memory) == plan.outputs[record.oracle];
    }
    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t i = thread; i < view.hidden; i += threads.count)
        states[word * view.hidden + i] = memory.state[i];
      if (thread != 0) return;
      records[word] = record;
    });
  }

 private:
  template <class Threads>
  KROHN_HOST_DEVICE void move(const Threads& threads, LinearMemory& memory, std::uint32_t letter) const {
    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t row = thread; row < view.hidden; row += threads.count) {
        const float* const a = view.matrices + std::size_t{letter} * view.block * view.hidden + row;
        float sum = linear_sum(0, a, view.hidden, memory.state + row / view.block * view.block, view.block);
        if (view.additions != nullptr) sum += view.additions[std::size_t{letter} * view.hidden + row];
        memory.next[row] = sum;
      }
    });
    float* const moved = memory.next;
    memory.next = memory.state;
    memory.state = moved;
  }

  template <class Threads>
  KROHN_HOST_DEVICE std::uint32_t answer(const Threads& threads, const LinearMemory& memory) const {
    threads.each([&](std::uint32_t thread) {
      for (std::uint32_t label = thread; label < view.labels; label += threads.count)
        memory.logits[label] =
            linear_sum(view.bias[label], view.readout + label, view.labels, memory.state, view.hidden);
    });
    threads.each([&](std::uint32_t thread) {
      if (thread == 0) *memory.answer = greatest_logit(view.labels, [&](std::uint32_t i) { return memory.logits[i]; });
    });
    return *memory.answer;
  }
};

#ifdef KROHN_WITH_CUDA
/// A block a word.
void cuda_read_linear_words(const LinearWords& job, std::uint64_t words);
#endif

}  // namespace krohn
