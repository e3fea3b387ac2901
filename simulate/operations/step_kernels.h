// simulate/operations/step_kernels.h — one step of a plan (simulate/operations/plan.h), and the loops that run it, for
// each instruction set that the processor may have. Plain data: the loops are compiled for several sets, so this header
// brings no inline code of a library with it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"

namespace krohn {

/// The computed operations of docs/reference/certificate-file.md.
enum class StepFunction : std::uint8_t {
  kDot,
  kCopy,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kGreater,
  kRoot,
  kBf16,
  kSigmoid,
  kSigmoid32,
  kExp,
  kExp32,
  kSoftplus,
  kSoftplus32,
  kLogistic,
  kTanh,
  kSoftplus64,
  kLogSigmoid,
  kCosine,
  kSine,
  kNorm
};

/// Where the numbers of an operand are: the same for all words, in a row for each token, or the word's own.
enum class Space : std::uint8_t { kConstant, kToken, kWord };

struct StepOperand {
  Space space = Space::kConstant;
  std::uint32_t first = 0;
  std::uint32_t strides[4] = {};  ///< by axis of the result
  std::uint32_t term = 0;         ///< of a dot product or a norm: the stride of the sum
};

/// A list of numbers made of others. The last axis runs over vectors: of one word it is the last axis of the list, of
/// many words side by side it is the words.
struct Step {
  static constexpr std::uint32_t kDense = UINT32_MAX;

  StepFunction function = StepFunction::kCopy;
  std::uint32_t operands = 0, terms = 0;
  std::uint32_t extents[4] = {1, 1, 1, 1};
  StepOperand of[3];
  std::uint32_t to = 0;        ///< the first number of the result, among the word's own
  std::uint32_t few = kDense;  ///< of a dot product with few constants that are not 0: the first of its rows
  std::uint32_t by = 0;        ///< and which operand is not that constant
  double exponent = 0;         ///< of a norm
  bool kept = false;           ///< the result is the memory: a sum, −0 as +0 and with one bit pattern for no number
};

/// The numbers that a step takes and makes. Behind every list that a vector may begin in there are `kPadding` more.
template <class Real>
struct StepNumbers {
  static constexpr std::size_t kPadding = 16;

  const Real* of[3] = {};  ///< by space
  Real* own = nullptr;     ///< of[Space::kWord]
  /// Rows of dot products with few constants: row r has the entries from ends[r] to ends[r + 1], each with the place of
  /// the other factor and its weight: of one word, a row is eight outputs and a weight is eight numbers.
  const std::uint32_t *ends = nullptr, *places = nullptr;
  const Real* weights = nullptr;
};

template <class Real>
using StepKernel = void (*)(const Step&, const StepNumbers<Real>&);

/// The numbers of a step over words side by side, and the gradient by them. The places of its operands are in their own
/// lists; an operand of stride 0 along the words is one number for all of them. Behind every list there are
/// StepNumbers::kPadding more numbers.
template <class Real>
struct StepAdjoint {
  const Real* of[3] = {};
  Real* by[3] = {};  ///< added to; null where nobody asks
  const Real *result = nullptr, *by_result = nullptr;
};

template <class Real>
using StepAdjointKernel = void (*)(const Step&, const StepAdjoint<Real>&);

/// The kernels that run a step of one word, or of words side by side (`words`). Numbers of bf16 are held in floats.
struct StepKernels {
  StepKernel<double> (*fp64)(const Step& step, bool words) = nullptr;
  StepKernel<float> (*fp32)(const Step& step, bool words) = nullptr;
  StepKernel<float> (*bf16)(const Step& step, bool words) = nullptr;
  /// Number n of word w becomes table[n · tokens + token[w]], for a whole vector of words at a time.
  void (*look_up_floats)(const float* table, std::size_t numbers, std::size_t tokens, const std::uint32_t* token,
                         std::size_t words, float* to) = nullptr;
  void (*look_up_doubles)(const double* table, std::size_t numbers, std::size_t tokens, const std::uint32_t* token,
                          std::size_t words, double* to) = nullptr;
  /// For words side by side, a multiple of 16, the place of the greatest of `count` logits, the logit itself, which is
  /// no number where one of them is not finite, and the greatest of the others.
  void (*best_floats)(const float* logits, std::size_t count, std::size_t words, std::uint32_t* places, float* best,
                      float* second) = nullptr;
  void (*best_doubles)(const double* logits, std::size_t count, std::size_t words, std::uint32_t* places, double* best,
                       double* second) = nullptr;
  /// The adjoint of a function's steps over words side by side, as many as a multiple of 16, or over one word.
  StepAdjointKernel<double> (*fp64_adjoint)(StepFunction function) = nullptr;
  StepAdjointKernel<float> (*fp32_adjoint)(StepFunction function) = nullptr;
};

/// Throws InputError for a set that is not available.
StepKernels step_kernels(InstructionSet set);

// One per translation unit; those of x86 are defined there only.
StepKernels portable_step_kernels();
StepKernels avx2_step_kernels();
StepKernels avx512_step_kernels();

/// exp_table of simulate/arithmetic/stated_exp.h.
extern const std::uint64_t* const kExpTable;

}  // namespace krohn
