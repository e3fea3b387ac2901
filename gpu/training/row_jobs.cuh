// gpu/training/row_jobs.cuh — what needs a sum over a row (norms) or over a column (gradients by what all rows share),
// as simulate/models/token_layers.h has it. A team takes kRows rows, or kColumns columns; its threads sum every 32nd
// number and the 32 sums are added in order, so the bits depend on the numbers alone.
#pragma once

#include <cmath>
#include <cstdint>

#include "krohn/gpu/device/team.h"
#include "krohn/gpu/training/batch_rows.cuh"

namespace krohn {

/// For every row of every model: sum = Σ_j op.term(m, row, j) for j < width, then op.finish(m, row, j, sum).
template <class Op>
struct RowSums {
  static constexpr std::uint32_t kRows = 8, kLanes = 32, kThreads = kRows * kLanes;

  Op op;
  RowCount rows;
  std::uint32_t models = 0, width = 0;

  KROHN_HOST_DEVICE std::uint64_t groups() const { return (rows.room() + kRows - 1) / kRows; }
  std::uint64_t teams() const { return models * groups(); }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return kRows * (kLanes + 2); }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t m = index / groups(), first = index % groups() * kRows, end = rows.of(m);
    if (first >= end) return;
    float* const lanes = team.numbers;
    float* const sums = lanes + kRows * (kLanes + 1);
    team.each(kThreads, [&](std::uint32_t thread) {
      const std::uint64_t row = first + thread / kLanes;
      float sum = 0;
      if (row < end)
        for (std::uint32_t j = thread % kLanes; j < width; j += kLanes) sum += op.term(m, row, j);
      lanes[thread / kLanes * (kLanes + 1) + thread % kLanes] = sum;
    });
    team.each(kRows, [&](std::uint32_t r) {
      float sum = 0;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) sum += lanes[r * (kLanes + 1) + lane];
      sums[r] = sum;
    });
    team.each(kThreads, [&](std::uint32_t thread) {
      const std::uint64_t row = first + thread / kLanes;
      if (row < end)
        for (std::uint32_t j = thread % kLanes; j < width; j += kLanes) op.finish(m, row, j, sums[thread / kLanes]);
    });
  }
};

/// A row cut into `groups` of `width` numbers, each a row of its own.
struct Grouped {
  Table table;
  std::uint32_t groups = 1, width = 0;
  KROHN_HOST_DEVICE float* of(std::uint64_t m, std::uint64_t row) const {
    return table.of(m, row / groups) + row % groups * width;
  }
};

/// y = gain ∘ x / √(mean x² + 10⁻⁵).
struct RmsNorm {
  Grouped x, y;
  const float* gain = nullptr;
  std::uint64_t gain_model = 0;
  Table scale;  ///< a number a row

  KROHN_HOST_DEVICE float term(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    const float number = x.of(m, row)[j];
    return number * number;
  }
  KROHN_HOST_DEVICE void finish(std::uint64_t m, std::uint64_t row, std::uint32_t j, float sum) const {
    const float by = 1 / sqrtf(sum / static_cast<float>(x.width) + 1e-5f);
    y.of(m, row)[j] = x.of(m, row)[j] * gain[m * gain_model + j] * by;
    if (j == 0) *scale.of(m, row) = by;
  }
};

struct RmsNormAdjoint {
  RmsNorm norm;
  Grouped by_y, by_x;
  bool add = false;

  KROHN_HOST_DEVICE float along(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    return by_y.of(m, row)[j] * norm.gain[m * norm.gain_model + j];
  }
  KROHN_HOST_DEVICE float term(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    return along(m, row, j) * norm.x.of(m, row)[j];
  }
  KROHN_HOST_DEVICE void finish(std::uint64_t m, std::uint64_t row, std::uint32_t j, float sum) const {
    const float scale = *norm.scale.of(m, row);
    const float by = along(m, row, j) * scale -
                     norm.x.of(m, row)[j] * (sum / static_cast<float>(norm.x.width) * scale * scale * scale);
    float& to = by_x.of(m, row)[j];
    to = add ? to + by : by;
  }
};

/// x ← x / √(Σ x² + 10⁻⁶).
struct UnitNorm {
  Grouped x;
  Table scale;

  KROHN_HOST_DEVICE float term(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    const float number = x.of(m, row)[j];
    return number * number;
  }
  KROHN_HOST_DEVICE void finish(std::uint64_t m, std::uint64_t row, std::uint32_t j, float sum) const {
    const float by = 1 / sqrtf(sum + 1e-6f);
    x.of(m, row)[j] *= by;
    if (j == 0) *scale.of(m, row) = by;
  }
};

/// The gradient by what was normed becomes that by what it was before: s (g − n Σ g n), with n the normed row.
struct UnitNormAdjoint {
  UnitNorm norm;
  Grouped by;

  KROHN_HOST_DEVICE float term(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    return by.of(m, row)[j] * norm.x.of(m, row)[j];
  }
  KROHN_HOST_DEVICE void finish(std::uint64_t m, std::uint64_t row, std::uint32_t j, float sum) const {
    float& number = by.of(m, row)[j];
    number = *norm.scale.of(m, row) * (number - norm.x.of(m, row)[j] * sum);
  }
};

/// y = x / max(1, ‖x‖).
struct Project {
  Table x, y, norm;

  KROHN_HOST_DEVICE float term(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    const float number = x.of(m, row)[j];
    return number * number;
  }
  KROHN_HOST_DEVICE void finish(std::uint64_t m, std::uint64_t row, std::uint32_t j, float sum) const {
    const float length = sqrtf(sum);
    y.of(m, row)[j] = x.of(m, row)[j] / (length > 1 ? length : 1.f);
    if (j == 0) *norm.of(m, row) = length;
  }
};

/// In place.
struct ProjectAdjoint {
  Project project;
  Table by;

  KROHN_HOST_DEVICE float term(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    return project.y.of(m, row)[j] * by.of(m, row)[j];
  }
  KROHN_HOST_DEVICE void finish(std::uint64_t m, std::uint64_t row, std::uint32_t j, float sum) const {
    const float length = *project.norm.of(m, row);
    float& number = by.of(m, row)[j];
    if (length > 1) number = (number - project.y.of(m, row)[j] * sum) / length;
  }
};

/// For every column j < columns of every model and group: Σ term(m, group, row, j) over the rows of the group. Without
/// readers all rows are one group; with them, rows that read a letter are.
template <class Term>
struct ColumnSums {
  static constexpr std::uint32_t kColumns = 32, kSlices = 32, kThreads = kColumns * kSlices;

  Term term;
  BatchRows b;
  RowCount rows;           ///< of a single group
  bool by_letter = false;  ///< the rows are tokens, a group a letter
  std::uint32_t columns = 0;
  Table to;               ///< a row a group
  bool in_parts = false;  ///< of a single group: the sum of kSumPart rows goes to a row of its own

  KROHN_HOST_DEVICE std::uint64_t groups() const {
    return by_letter ? b.letters : in_parts ? (rows.room() + kSumPart - 1) / kSumPart : 1;
  }
  KROHN_HOST_DEVICE std::uint64_t pieces() const { return (columns + std::uint64_t{kColumns} - 1) / kColumns; }
  std::uint64_t teams() const { return b.models * groups() * pieces(); }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return kThreads; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t first = index % pieces() * kColumns, group = index / pieces() % groups(),
                        m = index / pieces() / groups();
    const std::uint32_t* const readers = by_letter ? b.readers + m * b.most_rows : nullptr;
    const std::uint32_t* const begin = b.first_reader + m * (b.letters + std::uint64_t{1}) + group;
    const std::uint64_t from = by_letter ? begin[0] : in_parts ? group * kSumPart : 0;
    std::uint64_t end = by_letter ? begin[1] : rows.of(m);
    if (in_parts && from >= end) return;
    if (in_parts && from + kSumPart < end) end = from + kSumPart;
    float* const slices = team.numbers;
    team.each(kThreads, [&](std::uint32_t thread) {
      const std::uint64_t column = first + thread % kColumns;
      float sum = 0;
      if (column < columns)
        for (std::uint64_t i = from + thread / kColumns; i < end; i += kSlices)
          sum += term(m, readers == nullptr ? i : readers[i], static_cast<std::uint32_t>(column));
      slices[thread] = sum;
    });
    team.each(kColumns, [&](std::uint32_t lane) {
      if (first + lane >= columns) return;
      float sum = 0;
      for (std::uint32_t slice = 0; slice < kSlices; ++slice) sum += slices[slice * kColumns + lane];
      to.of(m, group)[first + lane] = sum;
    });
  }
};

struct RecheckedTerm {
  Table by;
  KROHN_HOST_DEVICE float operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    return by.of(m, row)[j];
  }
};

/// The gradient by a norm's gain.
struct GainTerm {
  RmsNorm norm;
  Grouped by_y;
  KROHN_HOST_DEVICE float operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    return by_y.of(m, row)[j] * norm.x.of(m, row)[j] * *norm.scale.of(m, row);
  }
};

// Changes of tokens number by number, and the short convolution, as simulate/models/token_layers.h and the mixers
// have it. Operations of EachNumber.

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
