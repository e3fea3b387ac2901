// gpu/training/block_scan.cuh — the recurrences whose letters have matrices of their own, over all tokens of a word in
// one kernel: Fan et al.'s blocks (simulate/models/mixers.h) and the dense baseline
// (simulate/models/dense_model.h). The states after every token are kept: the matrices' gradients need them.
#pragma once

#include <cstdint>

#include "krohn/gpu/device/team.h"
#include "krohn/gpu/training/batch_rows.cuh"
#include "krohn/gpu/training/product_job.cuh"
#include "krohn/gpu/training/row_jobs.cuh"

namespace krohn {

/// x ← A x + u. A row of A: blocks of size × size, entry (row, column) of a block at column · size + row.
struct BlockScanJob {
  Source source;
  std::uint32_t blocks = 0, size = 0;
  Table matrices, inputs;  ///< a row a source
  const float* start = nullptr;
  std::uint64_t start_model = 0;
  Table states, by_states;  ///< a row a token: after it
  Table by_start;           ///< a row a word

  KROHN_HOST_DEVICE std::uint32_t width() const { return blocks * size; }
  std::uint64_t teams() const { return std::uint64_t{source.b.models} * source.b.words; }
  std::uint32_t threads() const { return width() < 512 ? (width() + 31) / 32 * 32 : 512; }

  /// The state before a token.
  KROHN_HOST_DEVICE const float* before(std::uint64_t m, std::uint64_t token) const {
    return token == source.b.first_of(m, source.b.word_at(m, token)) ? start + m * start_model
                                                                     : states.of(m, token - 1);
  }
};

struct BlockForward {
  BlockScanJob s;
  std::uint64_t teams() const { return s.teams(); }
  std::uint32_t threads() const { return s.threads(); }
  std::size_t team_numbers() const { return 0; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t word = index % s.source.b.words, m = index / s.source.b.words;
    const std::uint64_t first = s.source.b.first_of(m, word), end = s.source.b.first_of(m, word + 1);
    for (std::uint64_t token = first; token < end; ++token) {
      const std::uint64_t from = s.source.of(m, token);
      team.each(s.width(), [&](std::uint32_t row) {
        const std::uint32_t block = row / s.size * s.size;
        const float* const a = s.matrices.of(m, from) + std::uint64_t{block} * s.size + row % s.size;
        const float* const x = s.before(m, token) + block;
        float sum = s.inputs.of(m, from)[row];
        for (std::uint32_t column = 0; column < s.size; ++column)
          sum = multiply_add(a[std::uint64_t{column} * s.size], x[column], sum);
        s.states.of(m, token)[row] = sum;
      });
    }
  }
};

/// by_states, as the rest of the model sees the states, becomes the gradient through all that follows.
struct BlockAdjoint {
  BlockScanJob s;
  std::uint64_t teams() const { return s.teams(); }
  std::uint32_t threads() const { return s.threads(); }
  std::size_t team_numbers() const { return 0; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t word = index % s.source.b.words, m = index / s.source.b.words;
    const std::uint64_t first = s.source.b.first_of(m, word), end = s.source.b.first_of(m, word + 1);
    if (first == end) {
      team.each(s.width(), [&](std::uint32_t column) { s.by_start.of(m, word)[column] = 0; });
      return;
    }
    for (std::uint64_t token = end; token-- > first;) {
      const std::uint64_t from = s.source.of(m, token);
      team.each(s.width(), [&](std::uint32_t column) {
        const std::uint32_t block = column / s.size * s.size;
        const float *const a = s.matrices.of(m, from) + std::uint64_t{column} * s.size, *const by =
                                                                                            s.by_states.of(m, token) +
                                                                                            block;
        float sum = 0;
        for (std::uint32_t row = 0; row < s.size; ++row) sum = multiply_add(a[row], by[row], sum);
        if (token == first)
          s.by_start.of(m, word)[column] = sum;
        else
          s.by_states.of(m, token - 1)[column] += sum;
      });
    }
  }
};

/// The gradient by a token's matrix: the term of sums over those that read a letter, or an operation of EachNumber
/// where tokens have matrices of their own.
struct BlockOuter {
  BlockScanJob s;
  Table to;
  KROHN_HOST_DEVICE float operator()(std::uint64_t m, std::uint64_t token, std::uint32_t j) const {
    const std::uint32_t column = j / s.size, row = column / s.size * s.size + j % s.size;
    return s.by_states.of(m, token)[row] * s.before(m, token)[column];
  }
};
struct MakeBlockOuter {
  BlockOuter outer;
  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t token, std::uint32_t j) const {
    outer.to.of(m, token)[j] = outer(m, token, j);
  }
};

/// Columns of blocks divided by max(1, their p-norms). Operations of RowSums, with a row a column.
struct DivideColumns {
  Grouped raw, divided;
  Table norm;  ///< a number a column
  float p = 1;

  /// |x|^{p−1}.
  KROHN_HOST_DEVICE float power(float x) const {
    const float size = fabsf(x) > 1e-30f ? fabsf(x) : 1e-30f;
    return p == 1 ? 1.f : expf(logf(size) * (p - 1));
  }
  KROHN_HOST_DEVICE float term(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    const float x = raw.of(m, row)[j];
    return power(x) * fabsf(x);
  }
  KROHN_HOST_DEVICE void finish(std::uint64_t m, std::uint64_t row, std::uint32_t j, float sum) const {
    const float length = powf(sum, 1 / p);
    divided.of(m, row)[j] = raw.of(m, row)[j] * (1 / (length > 1 ? length : 1.f));
    if (j == 0) *norm.of(m, row) = length;
  }
};

/// In place. ∂‖v‖/∂v = sign(v) |v|^{p−1} ‖v‖^{1−p}
struct DivideColumnsAdjoint {
  DivideColumns forward;
  Grouped by;

  KROHN_HOST_DEVICE float term(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    return forward.raw.of(m, row)[j] * by.of(m, row)[j];
  }
  KROHN_HOST_DEVICE void finish(std::uint64_t m, std::uint64_t row, std::uint32_t j, float sum) const {
    const float length = *forward.norm.of(m, row), x = forward.raw.of(m, row)[j];
    if (length <= 1) return;
    const float along = sum / (length * length) * powf(length, 1 - forward.p);
    const float sign = x > 0 ? 1.f : x < 0 ? -1.f : 0.f;
    float& number = by.of(m, row)[j];
    number = number / length - along * sign * forward.power(x);
  }
};

/// H ← A H from H = I, n×n matrices by rows. Columns of H know nothing of each other: a team takes kColumns of a word.
struct DenseScan {
  static constexpr std::uint32_t kColumns = 32;

  BatchRows b;
  std::uint32_t n = 0;
  Table matrices;           ///< a row a letter
  Table states, by_states;  ///< a row a token: after it

  std::uint64_t teams() const { return std::uint64_t{b.models} * b.words * pieces(); }
  KROHN_HOST_DEVICE std::uint32_t pieces() const { return (n + kColumns - 1) / kColumns; }
  KROHN_HOST_DEVICE float before(std::uint64_t m, std::uint64_t token, std::uint32_t row, std::uint32_t column) const {
    if (token == b.first_of(m, b.word_at(m, token))) return row == column ? 1.f : 0.f;
    return states.of(m, token - 1)[std::uint64_t{row} * n + column];
  }
};

template <bool kAdjoint>
struct DenseRun {
  DenseScan s;
  std::uint64_t teams() const { return s.teams(); }
  std::uint32_t threads() const { return 256; }
  std::size_t team_numbers() const { return 0; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const auto first_column = static_cast<std::uint32_t>(index % s.pieces() * DenseScan::kColumns);
    const std::uint64_t word = index / s.pieces() % s.b.words, m = index / s.pieces() / s.b.words;
    const std::uint64_t first = s.b.first_of(m, word), end = s.b.first_of(m, word + 1);
    for (std::uint64_t i = first; i < end; ++i) {
      const std::uint64_t token = kAdjoint ? first + end - 1 - i : i;
      if (kAdjoint && token == first) return;  // what stands before is no parameter
      const float* const a = s.matrices.of(m, s.b.letter_at(m, token));
      team.each(s.n * DenseScan::kColumns, [&](std::uint32_t at) {
        const std::uint32_t row = at / DenseScan::kColumns, column = first_column + at % DenseScan::kColumns;
        if (column < s.n) kAdjoint ? take_back(m, token, a, row, column) : read(m, token, a, row, column);
      });
    }
  }

 private:
  KROHN_HOST_DEVICE void read(std::uint64_t m, std::uint64_t token, const float* a, std::uint32_t row,
                              std::uint32_t column) const {
    float sum = 0;
    for (std::uint32_t k = 0; k < s.n; ++k)
      sum = multiply_add(a[std::uint64_t{row} * s.n + k], s.before(m, token, k, column), sum);
    s.states.of(m, token)[std::uint64_t{row} * s.n + column] = sum;
  }
  KROHN_HOST_DEVICE void take_back(std::uint64_t m, std::uint64_t token, const float* a, std::uint32_t row,
                                   std::uint32_t column) const {
    const float* const by = s.by_states.of(m, token);
    float sum = 0;
    for (std::uint32_t k = 0; k < s.n; ++k)
      sum = multiply_add(a[std::uint64_t{k} * s.n + row], by[std::uint64_t{k} * s.n + column], sum);
    s.by_states.of(m, token - 1)[std::uint64_t{row} * s.n + column] += sum;
  }
};

/// The gradients by letters' matrices: entry (i, j) is Σ by(i, k) before(j, k) over k and the tokens that read the
/// letter. Team: model, letter, tile.
struct DenseOuter {
  static constexpr std::uint32_t kThreads = ProductJob::kThreads;

  DenseScan s;
  Table to;  ///< a row a letter

  KROHN_HOST_DEVICE std::uint32_t tiles() const { return (s.n + ProductJob::kTile - 1) / ProductJob::kTile; }
  std::uint64_t teams() const { return std::uint64_t{s.b.models} * s.b.letters * tiles() * tiles(); }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return ProductJob{}.team_numbers(); }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const auto j0 = static_cast<std::uint32_t>(index % tiles() * ProductJob::kTile),
               i0 = static_cast<std::uint32_t>(index / tiles() % tiles() * ProductJob::kTile);
    const std::uint64_t letter = index / tiles() / tiles() % s.b.letters, m = index / tiles() / tiles() / s.b.letters;
    const std::uint32_t* const first = s.b.first_reader + m * (s.b.letters + std::uint64_t{1}) + letter;
    const std::uint32_t* const readers = s.b.readers + m * s.b.most_rows + first[0];
    PerThread<ProductJob::Sums, kThreads> sums;
    ProductJob::add_tile(
        team, 0, std::uint64_t{first[1] - first[0]} * s.n, sums, false,
        [&](std::uint32_t i, std::uint64_t k) {
          return i0 + i < s.n ? s.by_states.of(m, readers[k / s.n])[std::uint64_t{i0 + i} * s.n + k % s.n] : 0.f;
        },
        true,
        [&](std::uint64_t k, std::uint32_t j) {
          return j0 + j < s.n ? s.before(m, readers[k / s.n], j0 + j, static_cast<std::uint32_t>(k % s.n)) : 0.f;
        });
    ProductJob::for_tile(team, sums, [&](std::uint32_t i, std::uint32_t j, float sum) {
      if (i0 + i < s.n && j0 + j < s.n) to.of(m, letter)[std::uint64_t{i0 + i} * s.n + j0 + j] = sum;
    });
  }
};

}  // namespace krohn
