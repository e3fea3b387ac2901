// simulate/models/linear_model_reader.h — reads words through a LinearModel, in float, one word after the other. The
// operations and their order are those of simulate/models/linear_model_reader.h.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/words/host_device.h"

namespace krohn {

// The operations of a LinearModel (simulate/models/sequence_model.h) in their
// order, for the processor and for CUDA devices: every product and every sum is a rounding of its own.

/// Σ a_j x_j: of the columns ≡ 0, 1, 2, 3 modulo 4 by themselves, each from 0 on in increasing j; the four sums are
/// then added from left to right.
KROHN_HOST_DEVICE inline float row_sum(const float* a, const float* x, std::size_t columns) {
  float sums[4] = {0, 0, 0, 0};
  std::size_t column = 0;
#ifndef __CUDACC__
  // Compilers do not see that this is one addition of four numbers.
  typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
  Four four = {0, 0, 0, 0};
  for (; column + 4 <= columns; column += 4)
    four += *reinterpret_cast<const Four*>(a + column) * *reinterpret_cast<const Four*>(x + column);
  for (std::size_t j = 0; j < 4; ++j) sums[j] = four[j];
#else
  KROHN_DO_NOT_UNROLL
  for (; column + 4 <= columns; column += 4) KROHN_UNROLL
  for (std::size_t j = 0; j < 4; ++j) sums[j] += a[column + j] * x[column + j];
#endif
  KROHN_UNROLL
  for (std::size_t j = 0; j < 3; ++j)
    if (column + j < columns) sums[j] += a[column + j] * x[column + j];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

/// Letters after which the norm of a state is kept: about as many as models are trained on.
inline constexpr std::uint64_t kSettledLetters = 8;

/// The factor of a state after `read` letters that gives it the norm that it had after kSettledLetters,
/// which `norm` keeps: 1 up to there, and for the state 0, which has no scale. The sum of squares is in double, from
/// left to right.
KROHN_HOST_DEVICE inline float norm_scale(const float* state, std::size_t hidden, std::uint64_t read, double& norm) {
  double sum = 0;
  for (std::size_t i = 0; i < hidden; ++i) sum += double{state[i]} * double{state[i]};
  const double now = std::sqrt(sum);
  if (read <= kSettledLetters) norm = now;
  return now == 0 ? 1.0f : static_cast<float>(norm / now);
}

/// bias + Σ w_i x_i, from left to right.
KROHN_HOST_DEVICE inline float logit_of(const float* weights, const float* state, std::size_t hidden, float bias) {
  for (std::size_t i = 0; i < hidden; ++i) bias += weights[i] * state[i];
  return bias;
}

/// The label of the greatest logit; no answer where two are greatest, ModelReader::kNoAnswer, or one is not finite,
/// ModelReader::kNotFinite. That is how simulate/learned/trained_reader.h answers too, so that accuracies and verdicts
/// count the same words as wrong.
template <class Real>
KROHN_HOST_DEVICE inline std::uint32_t answer_of(const Real* logits, std::uint32_t labels) {
  std::uint32_t best = 0;
  bool is_tied = false;
  for (std::uint32_t label = 0; label < labels; ++label) {
    // Neither infinite nor no number: then the difference from itself is 0.
    if (logits[label] - logits[label] != 0) return UINT32_MAX - 1;
    if (label == 0 || logits[label] > logits[best])
      best = label, is_tied = false;
    else if (logits[label] == logits[best])
      is_tied = true;
  }
  return is_tied ? UINT32_MAX : best;
}

/// The effect on a model's answers of multiplying every state by a positive number of its own.
enum class Rescaling : std::uint8_t {
  kNone,     ///< additions: a scale of the state does not stay one, and no reader rescales
  kNeutral,  ///< no additions, and one bias for all labels: s A h = A (s h), and arg max s W h + c = arg max W h
  kAnotherFunction,  ///< no additions, but a bias: it counts for less the larger the state, so answers may differ
};
Rescaling rescaling_of(const LinearModel& view);

/// Readers of a linear model. `rescaled`: from the ninth letter on every state is scaled to the Euclidean norm that it
/// had after the eighth (Ebrahimi §2.2 normalises at inference), unless the model has additions. Neutral or not, what
/// overflows as trained then goes on: a verdict on the model says nothing about the rescaled one.
std::function<std::unique_ptr<ModelReader>(std::uint32_t words)> linear_readers(LinearModel view, bool rescaled);

}  // namespace krohn
