// simulate/models/kernels/training_selective_scan.h — Mamba's recurrence with its eigenvalues made on the way, which
// are as many numbers as the states and would be read from memory otherwise. Included by the translation unit of every
// instruction set, and nothing else.
#pragma once

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/kernels/training_vectors.h"

namespace krohn {
namespace {

template <class Real, std::size_t kLanes, bool kSigned>
Vector<Real, kLanes> eigenvalues(const Vector<Real, kLanes>& powers) {
  if constexpr (kSigned) return powers + powers - Real{1};
  return powers;
}

template <class Real>
std::size_t row_of(const SelectiveScan<Real>& run, std::size_t token) {
  return run.source == nullptr ? token : run.source[token];
}

template <class Real, std::size_t kLanes, bool kSigned>
void scan_word(const SelectiveScan<Real>& run) {
  using V = Vector<Real, kLanes>;
  const std::size_t states = run.states, channels = run.channels;
  const Real* before = run.start;
  for (std::size_t t = 0; t < run.tokens; ++t) {
    const std::size_t row = row_of(run, t);
    const Real *const delta = run.delta + row * channels, *const u = run.u + row * channels;
    const Real *const b = run.b + row * run.narrow_row, *const q = run.q + row * run.narrow_row;
    Real* const after = run.after + t * run.after_row;
    for (std::size_t c = 0; c < channels; c += kLanes) {
      const std::size_t count = channels - c < kLanes ? channels - c : kLanes;
      const V step = load_some<V>(delta + c, count), in = load_some<V>(u + c, count);
      V y{};
      for (std::size_t n = 0, at = c; n < states; ++n, at += channels) {
        V h = in * b[n];
        if (before != nullptr)
          h += eigenvalues<Real, kLanes, kSigned>(
                   exponential<Real, kLanes>(step * load_some<V>(run.rates + at, count))) *
               load_some<V>(before + at, count);
        store_some(after + at, h, count);
        y += h * q[n];
      }
      store_some(run.y + t * channels + c, y, count);
    }
    before = after;
  }
}

/// States whose sums over all channels are taken at once.
inline constexpr std::size_t kScanStates = 8;

/// One token of states from `first` on, at most kScanStates of them.
template <class Real, std::size_t kLanes, bool kSigned>
void scan_token_adjoint(const SelectiveScan<Real>& run, const SelectiveScanAdjoint<Real>& adjoint, std::size_t t,
                        std::size_t first) {
  using V = Vector<Real, kLanes>;
  const std::size_t states = run.states, channels = run.channels, row = row_of(run, t);
  const std::size_t some = states - first < kScanStates ? states - first : kScanStates;
  const std::size_t narrow = row * run.narrow_row + first;
  const Real *const b = run.b + narrow, *const q = run.q + narrow;
  const Real *const after = run.after + t * run.after_row, *const before = after - run.after_row;
  V by_b[kScanStates] = {}, by_q[kScanStates] = {};
  for (std::size_t c = 0; c < channels; c += kLanes) {
    const std::size_t count = channels - c < kLanes ? channels - c : kLanes, wide = row * channels + c;
    const V step = load_some<V>(run.delta + wide, count), in = load_some<V>(run.u + wide, count),
            by = load_some<V>(adjoint.by_y + t * channels + c, count);
    Real *const by_delta = adjoint.by_delta + wide, *const by_u = adjoint.by_u + wide;
    V by_step = load_some<V>(by_delta, count), by_in = load_some<V>(by_u, count);
    for (std::size_t n = 0, at = first * channels + c; n < some; ++n, at += channels) {
      Real* const by_state = adjoint.scratch + at;  // of the token that comes after
      const V by_h = load_some<V>(by_state, count) + by * q[n];
      by_b[n] += by_h * in;
      by_q[n] += load_some<V>(after + at, count) * by;
      by_in += by_h * b[n];
      if (t == 0) continue;  // there is no state before
      const V rate = load_some<V>(run.rates + at, count), power = exponential<Real, kLanes>(step * rate);
      const V by_log = by_h * load_some<V>(before + at, count) * (kSigned ? power + power : power);
      by_step += by_log * rate;
      Real* const by_rate = adjoint.by_rates + at;
      store_some(by_rate, load_some<V>(by_rate, count) + by_log * step, count);
      store_some(by_state, by_h * eigenvalues<Real, kLanes, kSigned>(power), count);
    }
    store_some(by_delta, by_step, count);
    store_some(by_u, by_in, count);
  }
  add_sums<Real, kLanes>(by_b, adjoint.by_b + narrow, some);
  add_sums<Real, kLanes>(by_q, adjoint.by_q + narrow, some);
}

template <class Real, std::size_t kLanes, bool kSigned>
void scan_word_adjoint(const SelectiveScan<Real>& run, const SelectiveScanAdjoint<Real>& adjoint) {
  std::memset(adjoint.scratch, 0, run.states * run.channels * sizeof(Real));
  for (std::size_t t = run.tokens; t-- > 0;)
    for (std::size_t first = 0; first < run.states; first += kScanStates)
      scan_token_adjoint<Real, kLanes, kSigned>(run, adjoint, t, first);
}

template <class Real, std::size_t kLanes>
void scan_selectively(const SelectiveScan<Real>& run) {
  run.is_signed ? scan_word<Real, kLanes, true>(run) : scan_word<Real, kLanes, false>(run);
}

template <class Real, std::size_t kLanes>
void scan_selectively_adjoint(const SelectiveScan<Real>& run, const SelectiveScanAdjoint<Real>& adjoint) {
  run.is_signed ? scan_word_adjoint<Real, kLanes, true>(run, adjoint)
                : scan_word_adjoint<Real, kLanes, false>(run, adjoint);
}

}  // namespace
}  // namespace krohn
