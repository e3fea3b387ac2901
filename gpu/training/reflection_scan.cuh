// gpu/training/reflection_scan.cuh — the recurrence of simulate/models/mixers.h over all tokens of a word in
// one kernel: a team takes a head of a word and keeps its state, keys × values numbers, from the first token to the
// last. The adjoint takes every step back, as simulate/models/kernels/training_kernel_table.h does, so no state but the
// last is stored.
#pragma once

#include <cstdint>

#include "krohn/gpu/device/team.h"
#include "krohn/gpu/training/batch_rows.cuh"

namespace krohn {

/// Numbers of a team that lie in shared memory at most; larger ones are given `large`.
inline constexpr std::size_t kMaxTeamNumbers = 24 * 1024;

struct ReflectionScan {
  Source source;
  std::uint32_t heads = 0, keys = 0, values = 0, reflections = 0;
  /// q of all heads, then all k, v and β, by head and reflection: a row a source; and as gradients a row a token.
  Table ready, by_ready;
  Table read, by_read;      ///< o: heads × values a token
  Table lacks;              ///< v − Sᵀk: heads × reflections × values a token
  float* states = nullptr;  ///< the last ones, [model][word][head]
  float* large = nullptr;   ///< the teams' numbers where they are many

  KROHN_HOST_DEVICE std::uint32_t k_column(std::uint32_t head) const { return (heads + head * reflections) * keys; }
  KROHN_HOST_DEVICE std::uint32_t v_column(std::uint32_t head) const {
    return k_column(heads) + head * reflections * values;
  }
  KROHN_HOST_DEVICE std::uint32_t beta_column(std::uint32_t head) const { return v_column(heads) + head * reflections; }
  KROHN_HOST_DEVICE std::uint32_t columns() const { return beta_column(heads); }
  KROHN_HOST_DEVICE std::uint32_t pitch() const { return values + 1; }  // rows of a state begin in other banks
  std::uint64_t teams() const { return std::uint64_t{source.b.models} * source.b.words * heads; }
  std::uint32_t rounded(std::uint32_t threads) const { return threads > 992 ? 1024 : (threads + 31) / 32 * 32; }

  /// A head of a word, and where its state is worked on and stored.
  struct Head {
    std::uint64_t m, first;
    std::uint32_t length, head;
    float *state, *stored;
  };
  KROHN_HOST_DEVICE Head head_of(const Team& team, std::uint64_t index, std::uint64_t numbers) const {
    const std::uint64_t head = index % heads, word = index / heads % source.b.words, m = index / heads / source.b.words;
    return {m,
            source.b.first_of(m, word),
            source.b.length_of(m, word),
            static_cast<std::uint32_t>(head),
            large == nullptr ? team.numbers : large + index * numbers,
            states + index * keys * values};
  }
};

/// column_i ← column_i + k_i by, for the entries of a state's column, `pitch` apart: eight are read before the first is
/// written, so that none waits for another.
KROHN_HOST_DEVICE inline void add_multiple(float* column, std::uint32_t pitch, const float* k, std::uint32_t count,
                                           float by) {
  constexpr std::uint32_t kAtOnce = 8;
  std::uint32_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    float numbers[kAtOnce];
    KROHN_UNROLL
    for (std::uint32_t e = 0; e < kAtOnce; ++e) numbers[e] = multiply_add(k[i + e], by, column[(i + e) * pitch]);
    KROHN_UNROLL
    for (std::uint32_t e = 0; e < kAtOnce; ++e) column[(i + e) * pitch] = numbers[e];
  }
  for (; i < count; ++i) column[i * pitch] = multiply_add(k[i], by, column[i * pitch]);
}

/// Σ_i k_i column_i.
KROHN_HOST_DEVICE inline float dot_along(const float* column, std::uint32_t pitch, const float* k,
                                         std::uint32_t count) {
  float sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) sum = multiply_add(k[i], column[i * pitch], sum);
  return sum;
}

/// Every thread has columns of its own, which know nothing of each other.
struct ReflectionForward {
  ReflectionScan s;

  std::uint64_t teams() const { return s.teams(); }
  std::uint32_t threads() const { return s.rounded(s.values); }
  KROHN_HOST_DEVICE std::uint64_t own_numbers() const { return std::uint64_t{s.keys} * s.pitch(); }
  std::size_t team_numbers() const { return s.large == nullptr ? own_numbers() : 0; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const auto at = s.head_of(team, index, own_numbers());
    team.each(s.values, [&](std::uint32_t c) {
      float* const state = at.state + c;
      for (std::uint32_t i = 0; i < s.keys; ++i) state[i * s.pitch()] = 0;
      for (std::uint32_t t = 0; t < at.length; ++t) read_token(at, t, c, state);
      for (std::uint32_t i = 0; i < s.keys; ++i) at.stored[std::uint64_t{i} * s.values + c] = state[i * s.pitch()];
    });
  }

  KROHN_HOST_DEVICE void read_token(const ReflectionScan::Head& at, std::uint32_t t, std::uint32_t c,
                                    float* state) const {
    const float* const ready = s.ready.of(at.m, s.source.of(at.m, at.first + t));
    const float* const q = ready + at.head * s.keys;
    float* const lacks = s.lacks.of(at.m, at.first + t) + std::uint64_t{at.head} * s.reflections * s.values + c;
    for (std::uint32_t j = 0; j < s.reflections; ++j) {
      const float* const k = ready + s.k_column(at.head) + j * s.keys;
      const float lack = ready[s.v_column(at.head) + j * s.values + c] - dot_along(state, s.pitch(), k, s.keys);
      lacks[std::uint64_t{j} * s.values] = lack;
      add_multiple(state, s.pitch(), k, s.keys, ready[s.beta_column(at.head) + j] * lack);
    }
    s.read.of(at.m, at.first + t)[at.head * s.values + c] = dot_along(state, s.pitch(), q, s.keys);
  }
};

/// Threads take columns of the state, or rows of it where they sum over the columns.
struct ReflectionAdjoint {
  ReflectionScan s;

  std::uint64_t teams() const { return s.teams(); }
  std::uint32_t threads() const { return s.rounded(s.values + s.keys); }
  KROHN_HOST_DEVICE std::uint64_t own_numbers() const {
    return 2 * std::uint64_t{s.keys} * s.pitch() + 3 * std::uint64_t{s.values};
  }
  std::size_t team_numbers() const { return s.large == nullptr ? own_numbers() : 0; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const auto at = s.head_of(team, index, own_numbers());
    const Work work{at, at.state, at.state + s.keys * s.pitch(), at.state + 2 * s.keys * s.pitch()};
    team.each(s.values, [&](std::uint32_t c) {
      for (std::uint32_t i = 0; i < s.keys; ++i) {
        work.state[i * s.pitch() + c] = at.stored[std::uint64_t{i} * s.values + c];
        work.by_state[i * s.pitch() + c] = 0;
      }
    });
    for (std::uint32_t t = at.length; t-- > 0;) take_back_token(team, work, at.first + t);
  }

 private:
  struct Work {
    ReflectionScan::Head at;
    float *state, *by_state, *by_change;  ///< by_change: a number a column, and behind them the columns' two others
    KROHN_HOST_DEVICE float* change(std::uint32_t values) const { return by_change + values; }
    KROHN_HOST_DEVICE float* by_beta(std::uint32_t values) const { return by_change + 2 * values; }
  };

  KROHN_HOST_DEVICE void take_back_token(const Team& team, const Work& work, std::uint64_t row) const {
    const std::uint32_t head = work.at.head, keys = s.keys, values = s.values, pitch = s.pitch();
    const float* const ready = s.ready.of(work.at.m, s.source.of(work.at.m, row));
    float* const by_ready = s.by_ready.of(work.at.m, row);
    const float* const by_read = s.by_read.of(work.at.m, row) + head * values;
    const float *const q = ready + head * keys, *const k = ready + s.k_column(head);
    team.each(values + keys, [&](std::uint32_t n) {
      if (n < values) {
        add_multiple(work.by_state + n, pitch, q, keys, by_read[n]);
        work.by_change[n] = dot_along(work.by_state + n, pitch, k + (s.reflections - 1) * keys, keys);
      } else {
        const std::uint32_t i = n - values;
        float sum = 0;
        for (std::uint32_t c = 0; c < values; ++c) sum = multiply_add(work.state[i * pitch + c], by_read[c], sum);
        by_ready[head * keys + i] = sum;
      }
    });
    for (std::uint32_t j = s.reflections; j-- > 0;) take_back_reflection(team, work, row, j, ready, by_ready);
  }

  KROHN_HOST_DEVICE void take_back_reflection(const Team& team, const Work& work, std::uint64_t row, std::uint32_t j,
                                              const float* ready, float* by_ready) const {
    const std::uint32_t head = work.at.head, keys = s.keys, values = s.values, pitch = s.pitch();
    const float* const lacks = s.lacks.of(work.at.m, row) + (std::uint64_t{head} * s.reflections + j) * values;
    const float* const k = ready + s.k_column(head) + j * keys;
    const float beta = ready[s.beta_column(head) + j];
    float *const change = work.change(values), *const by_beta = work.by_beta(values);
    team.each(values, [&](std::uint32_t c) {
      change[c] = beta * lacks[c];
      by_beta[c] = lacks[c] * work.by_change[c];
      work.by_change[c] *= beta;  // by v, and with the other sign by Sᵀk
      by_ready[s.v_column(head) + j * values + c] = work.by_change[c];
      add_multiple(work.state + c, pitch, k, keys, -change[c]);  // the state before this reflection
    });
    team.each(keys + 1, [&](std::uint32_t i) {
      float sum = 0;
      if (i < keys) {
        for (std::uint32_t c = 0; c < values; ++c) {
          sum = multiply_add(work.by_state[i * pitch + c], change[c], sum);
          sum = multiply_add(-work.state[i * pitch + c], work.by_change[c], sum);
        }
        by_ready[s.k_column(head) + j * keys + i] = sum;
      } else {
        for (std::uint32_t c = 0; c < values; ++c) sum += by_beta[c];
        by_ready[s.beta_column(head) + j] = sum;
      }
    });
    team.each(values, [&](std::uint32_t c) {
      add_multiple(work.by_state + c, pitch, k, keys, -work.by_change[c]);
      if (j > 0) work.by_change[c] = dot_along(work.by_state + c, pitch, k - keys, keys);
    });
  }
};

/// The recurrence's inputs from a map, or from the convolution after it: SiLU of q, k and v, and β. An
/// operation of EachNumber.
struct MakeReady {
  Table mixed, raw, ready;  ///< β is not convolved
  std::uint32_t mixed_columns = 0;
  float range = 1;  ///< of β
  bool plain = false;

  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    float& to = ready.of(m, row)[j];
    if (j >= mixed_columns)
      to = range * logistic(raw.of(m, row)[j]);
    else
      to = plain ? mixed.of(m, row)[j] : silu(mixed.of(m, row)[j]);
  }
};
/// In place.
struct MakeReadyAdjoint {
  MakeReady forward;
  Table by;

  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    float& number = by.of(m, row)[j];
    if (j >= forward.mixed_columns) {
      const float beta = forward.ready.of(m, row)[j];
      number *= beta * (1 - beta / forward.range);
    } else if (!forward.plain) {
      number *= silu_slope(forward.mixed.of(m, row)[j]);
    }
  }
};

}  // namespace krohn
