// gpu/training/product_job.cuh — products of matrices, one a model, by tiles of kTile × kTile numbers that a team
// makes. Every number is summed in the order of k, in parts of kPart terms where the sum is over tokens, so its bits do
// not depend on the tiles, the rows that other models need, or the place.
#pragma once

#include <cstdint>

#include "krohn/gpu/device/team.h"
#include "krohn/gpu/training/token_tables.cuh"

namespace krohn {

/// c(i, j) = Σ_k a(i, k) b(k, j), and more where it is asked for.
struct ProductJob {
  static constexpr std::uint32_t kTile = 64, kStep = 16, kThreads = 256, kSide = 16, kOwn = kTile / kSide;
  static constexpr std::uint32_t kPart = 256;
  static constexpr std::uint32_t kPitch = kTile + 1;

  std::uint32_t models = 0, columns = 0;
  RowCount rows, depth;
  Table a, b, c;
  bool a_across = false;        ///< a is stored k by k: a(i, k) in row k, column i
  bool b_across = false;        ///< b(k, j) in row j, column k
  bool add = false;             ///< to what c holds
  bool in_parts = false;        ///< part p of the sum over k goes to row p · rows + i of c
  const float* bias = nullptr;  ///< a number a column to begin with; of the next model `bias_model` further
  std::uint64_t bias_model = 0;
  Table addend;  ///< a row to begin with, where `at` is set: that of the source
  Source source;

  std::uint32_t parts() const { return in_parts ? static_cast<std::uint32_t>((depth.room() + kPart - 1) / kPart) : 1; }
  KROHN_HOST_DEVICE std::uint64_t row_tiles() const { return (rows.room() + kTile - 1) / kTile; }
  KROHN_HOST_DEVICE std::uint64_t column_tiles() const { return (columns + std::uint64_t{kTile} - 1) / kTile; }
  std::uint64_t teams() const { return models * parts() * row_tiles() * column_tiles(); }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return 2 * std::size_t{kStep} * kPitch; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t j0 = index % column_tiles() * kTile, i0 = index / column_tiles() % row_tiles() * kTile;
    const std::uint64_t outer = index / column_tiles() / row_tiles();
    const std::uint64_t m = outer % models, part = outer / models;
    const std::uint64_t own_rows = rows.of(m), own_depth = depth.of(m);
    const std::uint64_t begin = part * (in_parts ? kPart : 0);
    const std::uint64_t end = in_parts && begin + kPart < own_depth ? begin + kPart : own_depth;
    if (i0 >= own_rows || (in_parts && begin >= own_depth)) return;
    float* const left = team.numbers;  // [k][i]
    float* const right = team.numbers + kStep * kPitch;
    PerThread<Sums, kThreads> sums;
    for (std::uint64_t k0 = begin; k0 < end; k0 += kStep) {
      team.each(kThreads, [&](std::uint32_t thread) {
        for (std::uint32_t e = thread; e < kTile * kStep; e += kThreads) {
          const std::uint32_t i = a_across ? e % kTile : e / kStep, k = a_across ? e / kTile : e % kStep;
          const bool inside = i0 + i < own_rows && k0 + k < end;
          left[k * kPitch + i] = !inside ? 0.f : a_across ? a.of(m, k0 + k)[i0 + i] : a.of(m, i0 + i)[k0 + k];
          const std::uint32_t j = b_across ? e / kStep : e % kTile, l = b_across ? e % kStep : e / kTile;
          const bool within = j0 + j < columns && k0 + l < end;
          right[l * kPitch + j] = !within ? 0.f : b_across ? b.of(m, j0 + j)[k0 + l] : b.of(m, k0 + l)[j0 + j];
        }
      });
      team.each(kThreads, [&](std::uint32_t thread) { add_step(left, right, thread, sums[thread]); });
    }
    team.each(kThreads, [&](std::uint32_t thread) {
      KROHN_UNROLL
      for (std::uint32_t r = 0; r < kOwn; ++r) {
        const std::uint64_t i = i0 + thread / kSide + r * kSide;
        KROHN_UNROLL
        for (std::uint32_t s = 0; s < kOwn; ++s) {
          const std::uint64_t j = j0 + thread % kSide + s * kSide;
          if (i < own_rows && j < columns) store(m, part, i, j, sums[thread].of[r][s]);
        }
      }
    });
  }

 private:
  /// A thread's numbers of the tile, kSide apart, so that its warp meets in no bank.
  struct Sums {
    float of[kOwn][kOwn];
  };

  KROHN_HOST_DEVICE static void add_step(const float* left, const float* right, std::uint32_t thread, Sums& sums) {
    KROHN_UNROLL
    for (std::uint32_t k = 0; k < kStep; ++k) {
      float x[kOwn], y[kOwn];
      KROHN_UNROLL
      for (std::uint32_t r = 0; r < kOwn; ++r) x[r] = left[k * kPitch + thread / kSide + r * kSide];
      KROHN_UNROLL
      for (std::uint32_t s = 0; s < kOwn; ++s) y[s] = right[k * kPitch + thread % kSide + s * kSide];
      KROHN_UNROLL
      for (std::uint32_t r = 0; r < kOwn; ++r) KROHN_UNROLL
      for (std::uint32_t s = 0; s < kOwn; ++s) sums.of[r][s] = multiply_add(x[r], y[s], sums.of[r][s]);
    }
  }

  KROHN_HOST_DEVICE void store(std::uint64_t m, std::uint64_t part, std::uint64_t i, std::uint64_t j, float sum) const {
    if (bias != nullptr) sum += bias[m * bias_model + j];
    if (addend.at != nullptr) sum += addend.of(m, source.of(m, i))[j];
    float& to = c.of(m, part * rows.room() + i)[j];
    to = add ? to + sum : sum;
  }
};

/// Item: model, row, column. The parts of a product, one after another.
struct AddPartsJob {
  std::uint32_t models = 0, rows = 0, columns = 0;
  RowCount depth;
  Table parts, to;
  std::uint64_t items() const { return std::uint64_t{models} * rows * columns; }

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t j = item % columns, i = item / columns % rows, m = item / columns / rows;
    const std::uint64_t count = (depth.of(m) + ProductJob::kPart - 1) / ProductJob::kPart;
    float sum = 0;
    for (std::uint64_t part = 0; part < count; ++part) sum += parts.of(m, part * rows + i)[j];
    to.of(m, i)[j] = sum;
  }
};

}  // namespace krohn
