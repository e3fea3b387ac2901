// gpu/networks/ordered_chunks.cuh — words through a layer of reflections in chunks of the UT form, with the
// operations of simulate/evaluate/reflection_chunk.h in their order. What does not depend on the state, T and W, is
// made for the chunks of all words side by side; the states are then handed from chunk to chunk; at last every chunk is
// read factor by factor from its start. For the processor and for CUDA devices.
#pragma once

#include <cstdint>
#include <type_traits>

#include "krohn/gpu/device/team.h"
#include "krohn/gpu/networks/ordered_positions.cuh"

namespace krohn {

template <class D>
struct ChunkedWord : LayerWord<D> {
  using Number = typename D::Number;

  std::uint32_t dimension = 0, columns = 0;
  std::uint64_t chunk = 1;  ///< letters
  std::uint64_t each = 1;   ///< chunks in work of a word: item i is chunk i % each of word i / each
  std::uint32_t rows = 0;   ///< the most factors of a chunk
  // The layer's letters: factors factor_begin[action] … factor_begin[action + 1] − 1, rows of K and K̂ each.
  const std::uint32_t* factor_begin = nullptr;
  const Number *keys = nullptr, *scaled = nullptr;

  KROHN_HOST_DEVICE std::uint32_t size() const { return dimension * columns; }
  /// The numbers of the state before an item's chunk; one more follows a word's last chunk.
  KROHN_HOST_DEVICE std::uint64_t start(std::uint64_t item) const { return (item + item / each) * size(); }
  KROHN_HOST_DEVICE std::uint64_t begin(std::uint64_t which) const { return which * chunk; }
  KROHN_HOST_DEVICE std::uint64_t end(std::uint64_t which) const {
    return begin(which + 1) < this->letters ? begin(which + 1) : this->letters;
  }
};

/// Room for chunks in work, entry by entry: chunk i of `items` has entry e at [e · items + i].
template <class Number>
struct ChunkRoom {
  std::uint32_t items = 0;
  std::uint32_t *factors = nullptr, *counts = nullptr;     ///< each row's factor; the rows
  Number *solved = nullptr, *row = nullptr, *w = nullptr;  ///< T − I by rows; one row of L; W
  Number *sums = nullptr, *state = nullptr;                ///< Σ k_r U_r; a state

  KROHN_HOST_DEVICE Column<Number> column(Number* first, std::uint64_t item) const { return {first + item, items}; }
  KROHN_HOST_DEVICE Column<std::uint32_t> factors_of(std::uint64_t item) const { return {factors + item, items}; }
};

/// The factors, T and W of the chunks.
template <class D>
struct MakeChunks {
  using Number = typename D::Number;
  /// In accumulators of their own the rows are solved in fp32.
  using Solver = std::conditional_t<D::kRoundsStored, DeviceFp32, D>;

  ChunkedWord<D> word;
  ChunkRoom<Number> room;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t which = item % word.each;
    ContextReader<D> contexts(word, item / word.each, word.begin(which));
    std::uint32_t r = 0;
    for (std::uint64_t at = word.begin(which); at < word.end(which); ++at) {
      const std::uint32_t action = word.actions[contexts.next()];
      for (std::uint32_t f = word.factor_begin[action]; f < word.factor_begin[action + 1]; ++f) append(item, r++, f);
    }
    room.counts[item] = r;
  }

 private:
  KROHN_DO_NOT_INLINE KROHN_HOST_DEVICE void append(std::uint64_t item, std::uint32_t r, std::uint32_t factor) const {
    const std::uint32_t n = word.dimension;
    const Column<std::uint32_t> factors = room.factors_of(item);
    const Column<Number> solved = room.column(room.solved, item), row = room.column(room.row, item);
    const Number* const own = word.scaled + std::uint64_t{factor} * n;
    factors[r] = factor;
    for (std::uint32_t j = 0; j < r; ++j) {
      const Number* const key = word.keys + std::uint64_t{factors[j]} * n;
      Number dot = D::product(own[0], key[0]);
      for (std::uint32_t i = 1; i < n; ++i) dot = D::add_product(dot, own[i], key[i]);
      row[j] = -dot;
    }
    const std::uint64_t line = std::uint64_t{r} * word.rows;
    for (std::uint32_t j = 0; j < r; ++j) {
      Number out = row[j];
      if (j + 1 < r) {
        Number sum = Solver::product(row[j + 1], solved[std::uint64_t{j + 1} * word.rows + j]);
        for (std::uint32_t l = j + 2; l < r; ++l)
          sum = Solver::add_product(sum, row[l], solved[std::uint64_t{l} * word.rows + j]);
        out = D::add(out, sum);
      }
      solved[line + j] = out;
    }
    const Column<Number> w = room.column(room.w, item);
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto scaled = [&](std::uint32_t j) { return word.scaled[std::uint64_t{factors[j]} * n + i]; };
      const auto t = [&](std::uint32_t j) { return j == r ? Number(1) : D::store(solved[line + j]); };
      Number sum = D::product(t(0), scaled(0));
      for (std::uint32_t j = 1; j <= r; ++j) sum = D::add_product(sum, t(j), scaled(j));
      w[std::uint64_t{r} * n + i] = D::store(sum);
    }
  }
};

/// −(W_r · h), stored.
template <class D>
KROHN_HOST_DEVICE typename D::Number chunk_update(const Column<typename D::Number>& w,
                                                  const Column<typename D::Number>& h, std::uint32_t n) {
  typename D::Number dot = D::product(w[0], h[0]);
  for (std::uint32_t i = 1; i < n; ++i) dot = D::add_product(dot, w[i], h[i]);
  return -D::store(dot);
}

/// The state after every chunk from that before it, one chunk after another. A team a word, whose threads share the
/// rows, then the numbers of the state; they bring W and the keys of `ahead` chunks near at a time, so that a chunk
/// does not wait for the device's memory.
template <class D>
struct ChainChunks {
  using Number = typename D::Number;
  static constexpr std::uint32_t kThreads = 512;
  static constexpr std::uint64_t kNearBytes = 40 * 1024, kMaxAhead = 16;

  ChunkedWord<D> word;
  ChunkRoom<Number> room;
  Number* starts = nullptr;
  Number* spare = nullptr;  ///< near_words() for a team, where one chunk is too much for its own memory

  /// 8-byte words of a chunk's rows, and of the state and the updates at work.
  KROHN_HOST_DEVICE std::uint64_t words_each() const { return 2 * std::uint64_t{word.rows} * word.dimension; }
  KROHN_HOST_DEVICE std::uint64_t work_words() const { return word.size() + std::uint64_t{word.rows} * word.columns; }
  KROHN_HOST_DEVICE std::uint64_t ahead() const {
    const std::uint64_t room_words = kNearBytes / 8, work = work_words();
    const std::uint64_t fitting = work < room_words ? (room_words - work) / words_each() : 0;
    return fitting < 1 ? 1 : fitting < kMaxAhead ? fitting : kMaxAhead;
  }
  KROHN_HOST_DEVICE std::uint64_t near_words() const { return work_words() + ahead() * words_each(); }
  bool fits() const { return near_words() * 8 <= kNearBytes; }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return fits() ? 2 * near_words() : 0; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t which) const {
    auto* const near = spare != nullptr ? spare + which * near_words() : team.numbers_as<Number>();
    const std::uint64_t first = which * word.each;
    Number *const state = near, *const update = state + word.size(), *const w = update + word.rows * word.columns;
    const std::uint32_t n = word.dimension, each = word.rows * n;
    const std::uint64_t most = ahead();
    Number* const keys = w + most * each;
    team.each(word.size(), [&](std::uint32_t e) { state[e] = starts[word.start(first) + e]; });
    for (std::uint64_t begin = 0; begin < word.each; begin += most) {
      const auto chunks = static_cast<std::uint32_t>(word.each - begin < most ? word.each - begin : most);
      team.each(chunks * each, [&](std::uint32_t i) {  // chunks lie beside each other
        const std::uint64_t item = first + begin + i % chunks;
        const std::uint32_t e = i / chunks, row = e / n, at = i % chunks * each + e;
        if (row >= room.counts[item]) return;
        w[at] = room.column(room.w, item)[e];
        keys[at] = word.keys[std::uint64_t{room.factors_of(item)[row]} * n + e % n];
      });
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const std::uint32_t rows = room.counts[first + begin + chunk];
        team.each(rows * word.columns, [&](std::uint32_t i) {
          const std::uint32_t r = i / word.columns, c = i % word.columns;
          update[i] = chunk_update<D>(Column<Number>{w + std::uint64_t{chunk} * each + r * n, 1},
                                      Column<Number>{state + c * n, 1}, n);
        });
        team.each(word.size(), [&](std::uint32_t e) {
          const std::uint32_t c = e / n;
          const Number* const key = keys + std::uint64_t{chunk} * each + e % n;
          Number sum = 0;
          for (std::uint32_t r = 0; r < rows; ++r)
            sum =
                r == 0 ? D::product(key[0], update[c]) : D::add_product(sum, key[r * n], update[r * word.columns + c]);
          if (rows > 0) state[e] = D::store(D::add(state[e], sum));
          starts[word.start(first + begin + chunk) + word.size() + e] = state[e];
        });
      }
    }
  }
};

/// Reads the chunks from their starts and decodes every position.
template <class D>
struct ReadChunks {
  using Number = typename D::Number;

  ChunkedWord<D> word;
  ChunkRoom<Number> room;
  Number* starts = nullptr;
  const std::uint32_t* automaton_states = nullptr;  ///< before each item's chunk; for a layer alone
  OrderedOutcome* outcomes = nullptr;
  bool is_last = true;  ///< the last letter is that of the segment

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t which = item % word.each;
    const Column<Number> start{starts + word.start(item), 1}, state = room.column(room.state, item);
    ContextReader<D> contexts(word, item / word.each, word.begin(which));
    PositionJudge<D> judge(word, item / word.each, state, word.is_alone() ? automaton_states[item] : 0);
    std::uint32_t r = 0;
    for (std::uint64_t at = word.begin(which); at < word.end(which); ++at) {
      const std::uint32_t context = contexts.next(), action = word.actions[context];
      for (std::uint32_t f = word.factor_begin[action]; f < word.factor_begin[action + 1]; ++f)
        append(item, r++, f, start);
      const Column<Number> sums = room.column(room.sums, item);
      for (std::uint32_t e = 0; e < word.size(); ++e)
        state[e] = r == 0 ? start[e] : D::store(D::add(start[e], sums[e]));
      judge.judge(at, context);
    }
    judge.tell(outcomes, is_last && word.end(which) == word.letters);
  }

 private:
  KROHN_DO_NOT_INLINE KROHN_HOST_DEVICE void append(std::uint64_t item, std::uint32_t r, std::uint32_t factor,
                                                    const Column<Number>& start) const {
    const std::uint32_t n = word.dimension;
    const Number* const key = word.keys + std::uint64_t{factor} * n;
    const Column<Number> sums = room.column(room.sums, item);
    const Column<Number> w = room.column(room.w, item) + std::uint64_t{r} * n;
    for (std::uint32_t c = 0; c < word.columns; ++c) {
      const Number update = chunk_update<D>(w, start + std::uint64_t{c} * n, n);
      for (std::uint32_t i = 0; i < n; ++i) {
        Number& sum = sums[std::uint64_t{c} * n + i];
        sum = r == 0 ? D::product(key[i], update) : D::add_product(sum, key[i], update);
      }
    }
  }
};

}  // namespace krohn
