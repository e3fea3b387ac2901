// gpu/training/diagonal_scan.cuh — the recurrence of simulate/models/mixers.h over all tokens of a word in one
// kernel: a team takes kChannels channels of a word, a thread each, and keeps their states from the first token to the
// last. Decays are made on the way from Δ. A decay may be 0, so no step can be taken back: as on the processor the
// states before every token are kept for the adjoint.
#pragma once

#include <cstdint>

#include "krohn/gpu/device/team.h"
#include "krohn/gpu/training/batch_rows.cuh"
#include "krohn/gpu/training/reflection_scan.cuh"

namespace krohn {

struct DiagonalScan {
  static constexpr std::uint32_t kChannels = 32;

  Source source;
  std::uint32_t channels = 0, states = 0;
  bool negative = false, fixed = false;
  const float *decay = nullptr, *skip = nullptr;  ///< states × channels, channels
  std::uint64_t model = 0;                        ///< how much further the next model's are
  // A row a source: the maps' columns (u before its convolution, then the gate), u, what u selects (Δ, k, q), Δ, Δ ∘ u.
  Table gate, input, selected, steps, scaled;
  Table history;      ///< states × channels a token: before it
  Table read, gated;  ///< channels a token: y, and y gated
  Table by_gated;
  /// A row a token: the gradients by Δ, u and the gate, and for every kChannels channels their share of those by k and
  /// q.
  Table by_token;
  Table by_shared;         ///< a row a word: by the decays, then by the skip
  float* large = nullptr;  ///< the teams' numbers where they are many

  KROHN_HOST_DEVICE std::uint32_t chunks() const { return (channels + kChannels - 1) / kChannels; }
  KROHN_HOST_DEVICE std::uint32_t by_columns() const { return 3 * channels + chunks() * 2 * states; }
  std::uint64_t teams() const { return std::uint64_t{source.b.models} * source.b.words * chunks(); }

  /// Some channels of a word.
  struct Chunk {
    std::uint64_t m, word, first;
    std::uint32_t length, index, channel, count;
    float* numbers;
  };
  KROHN_HOST_DEVICE Chunk chunk_of(const Team& team, std::uint64_t index, std::uint64_t numbers) const {
    const auto chunk = static_cast<std::uint32_t>(index % chunks());
    const std::uint64_t word = index / chunks() % source.b.words, m = index / chunks() / source.b.words;
    const std::uint32_t left = channels - chunk * kChannels;
    return {m,
            word,
            source.b.first_of(m, word),
            source.b.length_of(m, word),
            chunk,
            chunk * kChannels,
            left < kChannels ? left : kChannels,
            large == nullptr ? team.numbers : large + index * numbers};
  }

  KROHN_HOST_DEVICE float rate(std::uint64_t m, std::uint32_t i, std::uint32_t c) const {
    return expf(decay[m * model + std::uint64_t{i} * channels + c]);
  }
  /// a, of exp(w) and Δ.
  KROHN_HOST_DEVICE float decay_of(float rate_of_state, float step) const {
    const float s = expf(fixed ? -rate_of_state : -rate_of_state * step);
    return negative ? 2 * s - 1 : s;
  }
};

/// Threads have channels of their own, which know nothing of each other.
struct DiagonalForward {
  DiagonalScan s;

  std::uint64_t teams() const { return s.teams(); }
  std::uint32_t threads() const { return DiagonalScan::kChannels; }
  KROHN_HOST_DEVICE std::uint64_t own_numbers() const { return 2 * std::uint64_t{s.states} * DiagonalScan::kChannels; }
  std::size_t team_numbers() const { return s.large == nullptr ? own_numbers() : 0; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const auto at = s.chunk_of(team, index, own_numbers());
    constexpr std::uint32_t kPitch = DiagonalScan::kChannels;
    team.each(at.count, [&](std::uint32_t lane) {
      const std::uint32_t c = at.channel + lane;
      float *const state = at.numbers + lane, *const rates = state + s.states * kPitch;
      for (std::uint32_t i = 0; i < s.states; ++i) {
        state[i * kPitch] = 0;
        rates[i * kPitch] = s.rate(at.m, i, c);
      }
      for (std::uint64_t token = at.first; token < at.first + at.length; ++token) {
        const std::uint64_t from = s.source.of(at.m, token);
        const float *const k = s.selected.of(at.m, from) + s.channels, *const q = k + s.states;
        const float step = s.steps.of(at.m, from)[c], u = s.scaled.of(at.m, from)[c];
        float* const history = s.history.of(at.m, token) + c;
        float sum = 0;
        for (std::uint32_t i = 0; i < s.states; ++i) {
          const float before = state[i * kPitch];
          history[std::uint64_t{i} * s.channels] = before;
          const float after = multiply_add(s.decay_of(rates[i * kPitch], step), before, k[i] * u);
          state[i * kPitch] = after;
          sum = multiply_add(q[i], after, sum);
        }
        sum += s.skip[at.m * s.model + c] * s.input.of(at.m, from)[c];
        s.read.of(at.m, token)[c] = sum;
        s.gated.of(at.m, token)[c] = sum * silu(s.gate.of(at.m, from)[c]);
      }
    });
  }
};

/// Threads have channels of their own, or states whose gradients they sum over the channels.
struct DiagonalScanAdjoint {
  DiagonalScan s;

  std::uint64_t teams() const { return s.teams(); }
  std::uint32_t threads() const { return 2 * s.states < 64 ? 64 : 256; }
  static constexpr std::uint32_t kPitch = DiagonalScan::kChannels + 1;  // rows begin in other banks
  /// Lists of states × channels: exp(w), the gradients by the state, by w, and those by k and q of this token; and of
  /// channels: by the skip.
  KROHN_HOST_DEVICE std::uint64_t own_numbers() const { return (5 * std::uint64_t{s.states} + 1) * kPitch; }
  std::size_t team_numbers() const { return s.large == nullptr ? own_numbers() : 0; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t index) const {
    const auto at = s.chunk_of(team, index, own_numbers());
    const std::uint32_t list = s.states * kPitch;
    float *const rates = at.numbers, *const by_state = rates + list, *const by_decay = by_state + list;
    float *const by_kq = by_decay + list, *const by_skip = by_kq + 2 * list;
    team.each(at.count, [&](std::uint32_t lane) {
      for (std::uint32_t i = 0; i < s.states; ++i) {
        rates[i * kPitch + lane] = s.rate(at.m, i, at.channel + lane);
        by_state[i * kPitch + lane] = 0;
        by_decay[i * kPitch + lane] = 0;
      }
      by_skip[lane] = 0;
    });
    for (std::uint64_t token = at.first + at.length; token-- > at.first;) {
      team.each(at.count, [&](std::uint32_t lane) {
        by_skip[lane] += take_back(at, token, lane, rates + lane, by_state + lane, by_decay + lane, by_kq + lane);
      });
      float* const to = s.by_token.of(at.m, token) + 3 * s.channels + at.index * 2 * s.states;
      team.each(2 * s.states, [&](std::uint32_t n) {
        float sum = 0;
        for (std::uint32_t lane = 0; lane < at.count; ++lane) sum += by_kq[n * kPitch + lane];
        to[n] = sum;
      });
    }
    team.each(at.count, [&](std::uint32_t lane) {
      float* const to = s.by_shared.of(at.m, at.word) + at.channel + lane;
      for (std::uint32_t i = 0; i < s.states; ++i) to[std::uint64_t{i} * s.channels] = by_decay[i * kPitch + lane];
      to[std::uint64_t{s.states} * s.channels] = by_skip[lane];
    });
  }

 private:
  /// A channel of a token; gives what the skip's gradient gains.
  KROHN_HOST_DEVICE float take_back(const DiagonalScan::Chunk& at, std::uint64_t token, std::uint32_t lane,
                                    const float* rates, float* by_state, float* by_decay, float* by_kq) const {
    const std::uint32_t c = at.channel + lane;
    const std::uint64_t from = s.source.of(at.m, token);
    const float *const k = s.selected.of(at.m, from) + s.channels, *const q = k + s.states;
    const float step = s.steps.of(at.m, from)[c], u = s.scaled.of(at.m, from)[c], input = s.input.of(at.m, from)[c];
    const float gate = s.gate.of(at.m, from)[c], by_gated = s.by_gated.of(at.m, token)[c];
    const float by_y = by_gated * silu(gate);
    const float* const history = s.history.of(at.m, token) + c;
    float by_step = 0, by_scaled = 0;
    for (std::uint32_t i = 0; i < s.states; ++i) {
      const float rate = rates[i * kPitch], a = s.decay_of(rate, step), before = history[std::uint64_t{i} * s.channels];
      const float after = multiply_add(a, before, k[i] * u), by = multiply_add(q[i], by_y, by_state[i * kPitch]);
      by_kq[i * kPitch] = by * u;
      by_kq[(s.states + i) * kPitch] = after * by_y;
      by_scaled = multiply_add(k[i], by, by_scaled);
      const float by_log = by * before * (s.negative ? a + 1 : a) * rate;  // by −log s
      by_decay[i * kPitch] -= s.fixed ? by_log : by_log * step;
      if (!s.fixed) by_step -= by_log;
      by_state[i * kPitch] = a * by;
    }
    float* const to = s.by_token.of(at.m, token) + c;
    to[0] = by_step + by_scaled * input;
    to[s.channels] = by_scaled * step + by_y * s.skip[at.m * s.model + c];
    to[2 * std::uint64_t{s.channels}] = by_gated * s.read.of(at.m, token)[c] * silu_slope(gate);
    return by_y * input;
  }
};

/// Δ = softplus of what is selected and a bias; Δ ∘ u. An operation of EachNumber.
struct MakeSteps {
  Table selected, input, steps, scaled;
  const float* bias = nullptr;
  std::uint64_t model = 0;

  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t c) const {
    const float raw = selected.of(m, row)[c] + bias[m * model + c];
    const float step = (raw > 0 ? raw : 0.f) + logf(expf(-fabsf(raw)) + 1);  // without overflow
    steps.of(m, row)[c] = step;
    scaled.of(m, row)[c] = step * input.of(m, row)[c];
  }
};

/// The gradient by what is selected: Δ before its softplus, whose derivative is 1 − exp(−softplus); k; q.
struct SelectedAdjoint {
  Table by_source, steps, by_selected;  ///< by_source: DiagonalScan's by_token, by sources
  std::uint32_t channels = 0, states = 0, chunks = 0;

  KROHN_HOST_DEVICE void operator()(std::uint64_t m, std::uint64_t row, std::uint32_t j) const {
    const float* const by = by_source.of(m, row);
    float sum = 0;
    if (j < channels)
      sum = by[j] * (1 - expf(-steps.of(m, row)[j]));
    else
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
        sum += by[3 * channels + chunk * 2 * states + j - channels];
    by_selected.of(m, row)[j] = sum;
  }
};

}  // namespace krohn
