// gpu/training/product_job.cuh — products of matrices, one a model, by tiles of kTile × kTile numbers that a team
// makes. Every number is summed in the order of k, in parts of kSumPart terms where the sum is over tokens, so its bits
// do not depend on the tiles, the rows that other models need, or the place.
#pragma once

#include <cstdint>

#include "krohn/gpu/device/team.h"
#include "krohn/gpu/training/batch_rows.cuh"

namespace krohn {

/// c(i, j) = Σ_k a(i, k) b(k, j), and more where it is asked for.
struct ProductJob {
  static constexpr std::uint32_t kTile = 64, kStep = 16, kThreads = 256, kSide = 16, kOwn = kTile / kSide;
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

  std::uint32_t parts() const {
    return in_parts ? static_cast<std::uint32_t>((depth.room() + kSumPart - 1) / kSumPart) : 1;
  }
  KROHN_HOST_DEVICE std::uint64_t row_tiles() const { return (rows.room() + kTile - 1) / kTile; }
  KROHN_HOST_DEVICE std::uint64_t column_tiles() const { return (columns + std::uint64_t{kTile} - 1) / kTile; }
  std::uint64_t teams() const { return models * parts() * row_tiles() * column_tiles(); }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return 4 * std::size_t{kStep} * kPitch; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const std::uint64_t j0 = index % column_tiles() * kTile, i0 = index / column_tiles() % row_tiles() * kTile;
    const std::uint64_t outer = index / column_tiles() / row_tiles();
    const std::uint64_t m = outer % models, part = outer / models;
    const std::uint64_t own_rows = rows.of(m), own_depth = depth.of(m);
    const std::uint64_t begin = part * (in_parts ? kSumPart : 0);
    const std::uint64_t end = in_parts && begin + kSumPart < own_depth ? begin + kSumPart : own_depth;
    if (i0 >= own_rows || (in_parts && begin >= own_depth)) return;
    PerThread<Sums, kThreads> sums;
    add_tile(
        team, begin, end, sums, a_across,
        [&](std::uint32_t i, std::uint64_t k) {
          return i0 + i >= own_rows ? 0.f : a_across ? a.of(m, k)[i0 + i] : a.of(m, i0 + i)[k];
        },
        b_across,
        [&](std::uint64_t k, std::uint32_t j) {
          return j0 + j >= columns ? 0.f : b_across ? b.of(m, j0 + j)[k] : b.of(m, k)[j0 + j];
        });
    for_tile(team, sums, [&](std::uint32_t i, std::uint32_t j, float sum) {
      if (i0 + i < own_rows && j0 + j < columns) store(m, part, i0 + i, j0 + j, sum);
    });
  }

  /// A thread's numbers of the tile, kSide apart, so that its warp meets in no bank.
  struct Sums {
    float of[kOwn][kOwn];
  };

  /// Adds Σ left(i, k) right(k, j) for begin ≤ k < end to a tile's sums. A side whose numbers lie across k in memory
  /// (`left_across`: those of next i beside each other; `right_across`: those of next k) is read so.
  template <class Left, class Right>
  KROHN_HOST_DEVICE static void add_tile(const Team& team, std::uint64_t begin, std::uint64_t end,
                                         PerThread<Sums, kThreads>& sums, bool left_across, const Left& left,
                                         bool right_across, const Right& right) {
    constexpr std::uint32_t kEach = kTile * kStep / kThreads, kSteps = kStep * kPitch;  // left [k][i], right [k][j]
    struct Fetched {
      float left[kEach], right[kEach];
    };
    const auto for_own = [&](std::uint32_t thread, auto&& body) {
      KROHN_UNROLL
      for (std::uint32_t n = 0; n < kEach; ++n) {
        const std::uint32_t e = thread + n * kThreads;
        body(n, left_across ? e % kTile : e / kStep, left_across ? e / kTile : e % kStep,
             right_across ? e / kStep : e % kTile, right_across ? e % kStep : e / kTile);
      }
    };
    const auto fetch = [&](std::uint32_t thread, std::uint64_t k0, Fetched& fetched) {
      for_own(thread, [&](std::uint32_t n, std::uint32_t i, std::uint32_t k, std::uint32_t j, std::uint32_t l) {
        fetched.left[n] = k0 + k < end ? left(i, k0 + k) : 0.f;
        fetched.right[n] = k0 + l < end ? right(k0 + l, j) : 0.f;
      });
    };
    const auto put = [&](std::uint32_t thread, float* to, const Fetched& fetched) {
      for_own(thread, [&](std::uint32_t n, std::uint32_t i, std::uint32_t k, std::uint32_t j, std::uint32_t l) {
        to[k * kPitch + i] = fetched.left[n];
        to[kSteps + l * kPitch + j] = fetched.right[n];
      });
    };
    float *here = team.numbers, *there = team.numbers + 2 * kSteps;
    team.each(kThreads, [&](std::uint32_t thread) {
      Fetched first{};
      fetch(thread, begin, first);
      put(thread, here, first);
    });
    // The next step's numbers are on their way while those of this one are multiplied.
    for (std::uint64_t k0 = begin; k0 < end; k0 += kStep) {
      team.each(kThreads, [&](std::uint32_t thread) {
        Fetched next{};
        if (k0 + kStep < end) fetch(thread, k0 + kStep, next);
        add_step(here, here + kSteps, thread, sums[thread]);
        if (k0 + kStep < end) put(thread, there, next);
      });
      float* const made = there;
      there = here;
      here = made;
    }
  }
  /// Calls body(i, j, sum) for the numbers of the tile.
  template <class Body>
  KROHN_HOST_DEVICE static void for_tile(const Team& team, PerThread<Sums, kThreads>& sums, const Body& body) {
    team.each(kThreads, [&](std::uint32_t thread) {
      KROHN_UNROLL
      for (std::uint32_t r = 0; r < kOwn; ++r) KROHN_UNROLL
      for (std::uint32_t s = 0; s < kOwn; ++s)
        body(thread / kSide + r * kSide, thread % kSide + s * kSide, sums[thread].of[r][s]);
    });
  }

 private:
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
    const std::uint64_t count = (depth.of(m) + kSumPart - 1) / kSumPart;
    float sum = 0;
    for (std::uint64_t part = 0; part < count; ++part) sum += parts.of(m, part * rows + i)[j];
    to.of(m, i)[j] = sum;
  }
};

}  // namespace krohn
