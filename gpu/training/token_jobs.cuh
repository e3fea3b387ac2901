// gpu/training/token_jobs.cuh — what changes tokens number by number, and the short convolution, as
// simulate/models/token_layers.h and the mixers have it. Operations of EachNumber.
#pragma once

#include <cstdint>

#include "krohn/gpu/training/batch_rows.cuh"

namespace krohn {

/// A token's row is its letter's.
struct TakeLetters {
  BatchRows b;
  Table from, to;
  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    to.of(m, row)[j] = from.of(m, b.letter_at(m, row))[j];
  }
};

/// A target's row is its token's; and back, into a table of zeros.
struct TakeTargets {
  BatchRows b;
  Table from, to;
  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    to.of(m, row)[j] = from.of(m, b.target(m, row).row)[j];
  }
};
struct PutTargets {
  BatchRows b;
  Table from, to;
  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    to.of(m, b.target(m, row).row)[j] = from.of(m, row)[j];
  }
};

struct CopyNumbers {
  Table from, to;
  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    to.of(m, row)[j] = from.of(m, row)[j];
  }
};

/// A layer's sum: what its tokens read, and what it made of them.
struct AddToSource {
  Source source;
  Table x, made, to;
  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    to.of(m, row)[j] = x.of(m, source.of(m, row))[j] + made.of(m, row)[j];
  }
};

struct Activate {
  Table x, y;
  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    y.of(m, row)[j] = silu(x.of(m, row)[j]);
  }
};
struct ActivateAdjoint {
  Table x, by;  ///< by: in place
  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    by.of(m, row)[j] *= silu_slope(x.of(m, row)[j]);
  }
};

/// SwiGLU's middle: silu(first half) ∘ second half.
struct Gate {
  Table x, y;
  std::uint32_t width = 0;
  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    const float* const from = x.of(m, row);
    y.of(m, row)[j] = silu(from[j]) * from[width + j];
  }
};
struct GateAdjoint {
  Table x, by_y, by_x;
  std::uint32_t width = 0;
  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    const float* const from = x.of(m, row);
    float* const to = by_x.of(m, row);
    const float by = by_y.of(m, row)[j];
    to[j] = by * from[width + j] * silu_slope(from[j]);
    to[width + j] = by * silu(from[j]);
  }
};

/// y_t = Σ_j taps(j) ∘ x_{t−j}, each word alone.
struct Convolve {
  BatchRows b;
  Table x, y;
  const float* taps = nullptr;
  std::uint64_t taps_model = 0;
  std::uint32_t count = 0, width = 0;

  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t c) const {
    const std::uint64_t t = row - b.first_of(m, b.word_at(m, row));
    float sum = 0;
    for (std::uint32_t j = 0; j < count && j <= t; ++j)
      sum = multiply_add(taps[m * taps_model + std::uint64_t{j} * width + c], x.of(m, row - j)[c], sum);
    y.of(m, row)[c] = sum;
  }
};
struct ConvolveAdjoint {
  Convolve forward;
  Table by_y, by_x;

  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t c) const {
    const std::uint64_t left = forward.b.first_of(m, forward.b.word_at(m, row) + std::uint64_t{1}) - row;
    const float* const taps = forward.taps + m * forward.taps_model + c;
    float sum = 0;
    for (std::uint32_t j = 0; j < forward.count && j < left; ++j)
      sum = multiply_add(taps[std::uint64_t{j} * forward.width], by_y.of(m, row + j)[c], sum);
    by_x.of(m, row)[c] = sum;
  }
};
/// The term of ColumnSums for the taps: column j · width + c.
struct TapTerm {
  Convolve forward;
  Table by_y;

  KROHN_HOST_DEVICE float operator()(std::uint64_t m, std::uint64_t row, std::uint32_t column) const {
    const std::uint32_t j = column / forward.width, c = column % forward.width;
    const std::uint64_t t = row - forward.b.first_of(m, forward.b.word_at(m, row));
    return j <= t ? by_y.of(m, row)[c] * forward.x.of(m, row - j)[c] : 0.f;
  }
};

}  // namespace krohn
