// The adjoints of steps over words side by side: from the gradient by a step's results, that by its operands. Compiled,
// with the steps' own loops, once for every instruction set (krohn_kernel_for in CMakeLists.txt).

#include <algorithm>

#include "krohn/simulate/operations/step_kernel_body.h"

namespace krohn {
namespace {

/// Adds to the gradient by an operand's number, that is one for all words (stride 0) or has words of its own.
template <class V, class Real>
inline void give(Real* to, std::size_t first, std::uint32_t stride, std::size_t words, const V& gradient) {
  if (stride != 0)
    store(to + first, V(load<V>(to + first) + gradient));
  else
    *to += words == 1 ? gradient[0] : sum_of<Real, kLanesOf<V>>(gradient);
}

/// body(places of the operands, place of the result) at every place of the first three axes.
template <class Body>
inline void for_adjoint_places(const Step& step, const Body& body) {
  std::size_t result = 0;
  for (std::uint32_t i = 0; i < step.extents[0]; ++i)
    for (std::uint32_t j = 0; j < step.extents[1]; ++j)
      for (std::uint32_t k = 0; k < step.extents[2]; ++k, result += step.extents[3]) {
        std::size_t of[3];
        for (std::size_t v = 0; v < 3; ++v) {
          const StepOperand& operand = step.of[v];
          of[v] = operand.first + std::size_t{i} * operand.strides[0] + std::size_t{j} * operand.strides[1] +
                  std::size_t{k} * operand.strides[2];
        }
        body(of, result);
      }
}

/// The gradients by a and by b that follow from the gradient g by y = f(a, b). Where two numbers are equally great, b is taken.
template <class Format, StepFunction kFunction, class V>
inline std::pair<V, V> partials(const V& a, const V& b, const V& y, const V& g) {
  using enum StepFunction;
  using Real = typename Format::Real;
  const auto logistic_of = [](const V& x) { return logistic<Real, kLanesOf<V>>(x); };
  if constexpr (kFunction == kCopy || kFunction == kBf16) return {g, V{}};
  if constexpr (kFunction == kAdd) return {g, g};
  if constexpr (kFunction == kSubtract) return {g, -g};
  if constexpr (kFunction == kMultiply) return {g * b, g * a};
  if constexpr (kFunction == kDivide) return {g / b, -(g / b) * y};
  if constexpr (kFunction == kGreater) return {a > b ? g : V{}, a > b ? V{} : g};
  if constexpr (kFunction == kRoot) return {y > 0 ? g / (2 * y) : V{}, V{}};
  if constexpr (kFunction == kSigmoid || kFunction == kSigmoid32) {
    const V s = logistic_of(b);
    return {g * s, g * a * s * (1 - s)};
  }
  if constexpr (kFunction == kExp || kFunction == kExp32) return {g * y, V{}};
  if constexpr (kFunction == kSoftplus || kFunction == kSoftplus32 || kFunction == kSoftplus64)
    return {g * logistic_of(a), V{}};
  if constexpr (kFunction == kLogistic) return {g * y * (1 - y), V{}};
  if constexpr (kFunction == kTanh) return {g * (1 - y * y), V{}};
  if constexpr (kFunction == kLogSigmoid) return {g * logistic_of(-a), V{}};
  constexpr std::size_t kDoubles = kVectorBytes / sizeof(double);
  const auto circular = [&]<StepFunction kOther>() {
    V other;
    for (std::size_t first = 0; first < kLanesOf<V>; first += kDoubles) {
      Vector<Real, kDoubles> x;
      for (std::size_t l = 0; l < kDoubles; ++l) x[l] = a[first + l];
      x = value_of<Format, kOther>(x, x);
      for (std::size_t l = 0; l < kDoubles; ++l) other[first + l] = x[l];
    }
    return other;
  };
  if constexpr (kFunction == kCosine) return {-g * circular.template operator()<kSine>(), V{}};
  if constexpr (kFunction == kSine) return {g * circular.template operator()<kCosine>(), V{}};
}

template <class Format, StepFunction kFunction>
void each_adjoint(const Step& step, const StepAdjoint<typename Format::Real>& numbers) {
  using Real = typename Format::Real;
  using V = Vector<Real, kVectorBytes / sizeof(Real)>;
  const std::size_t words = step.extents[3], last = step.operands - 1;
  for_adjoint_places(step, [&](const std::size_t (&of)[3], std::size_t result) {
    const auto taken = [&](std::size_t v, std::size_t first) {
      const Real* const from = numbers.of[v] + of[v];
      return step.of[v].strides[3] != 0 ? load<V>(from + first) : spread<V>(*from);
    };
    for (std::size_t first = 0; first < words; first += kLanesOf<V>) {
      const V a = taken(0, first), b = taken(last, first), y = load<V>(numbers.result + result + first),
              g = load<V>(numbers.by_result + result + first);
      const auto [by_a, by_b] = partials<Format, kFunction>(a, b, y, g);
      if (numbers.by[0] != nullptr) give(numbers.by[0] + of[0], first, step.of[0].strides[3], words, by_a);
      if (last > 0 && numbers.by[1] != nullptr) give(numbers.by[1] + of[1], first, step.of[1].strides[3], words, by_b);
    }
  });
}

/// sum + a · b, rounded once where that is one instruction.
template <class V>
inline V plus_product(const V& sum, const V& a, const V& b) {
#ifdef __FMA__
  if constexpr (sizeof(V) == 32 && sizeof(a[0]) == 4) return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#endif
#ifdef __AVX512F__
  if constexpr (sizeof(V) == 64 && sizeof(a[0]) == 4) return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)sum);
#endif
  return sum + a * b;
}

/// The gradient by a factor with numbers for every word, beside one for all words or for every word, too.
template <class V, class Real>
void word_factor_adjoint(const Step& step, const StepAdjoint<Real>& numbers, std::size_t v) {
  const StepOperand &own = step.of[v], &other = step.of[1 - v];
  const std::size_t words = step.extents[3], outputs = step.extents[2];
  Step outer = step;
  outer.extents[2] = 1;
  const auto taken = [&](const Real* from, std::size_t first) {
    return other.strides[3] != 0 ? load<V>(from + first) : spread<V>(*from);
  };
  std::size_t results = 0;
  for_adjoint_places(outer, [&](const std::size_t (&of)[3], std::size_t) {
    const Real* const g = numbers.by_result + results;
    results += outputs * words;
    Real* const by = numbers.by[v] + of[v];
    const Real* const factors = numbers.of[1 - v] + of[1 - v];
    if (own.strides[2] == 0) {  // a factor of many outputs: the sum over these stays in registers, of four factors
      constexpr std::size_t kBlock = 4;
      std::uint32_t t = 0;
      for (; t + kBlock <= step.terms; t += kBlock)
        for (std::size_t first = 0; first < words; first += kLanesOf<V>) {
          V sums[kBlock];
          for (std::size_t q = 0; q < kBlock; ++q) sums[q] = load<V>(by + (t + q) * std::size_t{own.term} + first);
          for (std::size_t k = 0; k < outputs; ++k) {
            const V gradient = load<V>(g + k * words + first);
            const Real* const factor = factors + k * std::size_t{other.strides[2]};
            for (std::size_t q = 0; q < kBlock; ++q)
              sums[q] = plus_product(sums[q], taken(factor + (t + q) * std::size_t{other.term}, first), gradient);
          }
          for (std::size_t q = 0; q < kBlock; ++q) store(by + (t + q) * std::size_t{own.term} + first, sums[q]);
        }
      for (; t < step.terms; ++t)
        for (std::size_t first = 0; first < words; first += kLanesOf<V>) {
          V sum = load<V>(by + t * std::size_t{own.term} + first);
          for (std::size_t k = 0; k < outputs; ++k)
            sum = plus_product(sum, taken(factors + k * std::size_t{other.strides[2]} + t * std::size_t{other.term}, first),
                               load<V>(g + k * words + first));
          store(by + t * std::size_t{own.term} + first, sum);
        }
      return;
    }
    for (std::size_t k = 0; k < outputs; ++k)
      for (std::uint32_t t = 0; t < step.terms; ++t) {
        Real* const to = by + k * std::size_t{own.strides[2]} + t * std::size_t{own.term};
        const Real* const factor = factors + k * std::size_t{other.strides[2]} + t * std::size_t{other.term};
        for (std::size_t first = 0; first < words; first += kLanesOf<V>)
          store(to + first, plus_product(load<V>(to + first), taken(factor, first), load<V>(g + k * words + first)));
      }
  });
}

/// The gradient by a factor that is one for all words: sums over these, of eight terms at a time.
template <class V, class Real>
void constant_factor_adjoint(const Step& step, const StepAdjoint<Real>& numbers, std::size_t v) {
  const StepOperand &own = step.of[v], &other = step.of[1 - v];
  const std::size_t words = step.extents[3];
  for_adjoint_places(step, [&](const std::size_t (&of)[3], std::size_t result) {
    Real* const by = numbers.by[v] + of[v];
    const Real* const factors = numbers.of[1 - v] + of[1 - v];
    for (std::uint32_t t = 0; t < step.terms; t += 8) {
      const std::size_t count = std::min(8U, step.terms - t);
      V sums[8]{};
      for (std::size_t first = 0; first < words; first += kLanesOf<V>) {
        const V g = words == 1 ? V{numbers.by_result[result]} : load<V>(numbers.by_result + result + first);
        for (std::size_t q = 0; q < count; ++q) {
          const Real* const factor = factors + (t + q) * std::size_t{other.term};
          sums[q] = plus_product(sums[q], g, other.strides[3] != 0 ? load<V>(factor + first) : spread<V>(*factor));
        }
      }
      if (own.term == 1)
        add_sums<Real, kLanesOf<V>>(sums, by + t, count);
      else
        for (std::size_t q = 0; q < count; ++q)
          by[(t + q) * std::size_t{own.term}] += sum_of<Real, kLanesOf<V>>(sums[q]);
    }
  });
}

template <class Format>
void dot_adjoint(const Step& step, const StepAdjoint<typename Format::Real>& numbers) {
  using Real = typename Format::Real;
  using V = Vector<Real, kVectorBytes / sizeof(Real)>;
  for (const std::size_t v : {0, 1}) {
    if (numbers.by[v] == nullptr) continue;
    if (step.of[v].strides[3] != 0)
      word_factor_adjoint<V>(step, numbers, v);
    else
      constant_factor_adjoint<V>(step, numbers, v);
  }
  if (step.operands < 3 || numbers.by[2] == nullptr) return;
  for_adjoint_places(step, [&](const std::size_t (&of)[3], std::size_t result) {
    for (std::size_t first = 0; first < step.extents[3]; first += kLanesOf<V>)
      give(numbers.by[2] + of[2], first, step.of[2].strides[3], step.extents[3],
           load<V>(numbers.by_result + result + first));
  });
}

/// ∂‖a‖/∂a = sign(a) (|a| / ‖a‖)^{p−1}, and 0 where all are 0.
template <class Format>
void norm_adjoint(const Step& step, const StepAdjoint<typename Format::Real>& numbers) {
  using Real = typename Format::Real;
  if (numbers.by[0] == nullptr) return;
  const std::uint32_t stride = step.of[0].strides[3];
  for_adjoint_places(step, [&](const std::size_t (&of)[3], std::size_t result) {
    for (std::size_t word = 0; word < step.extents[3]; ++word) {
      const double norm = numbers.result[result + word], g = numbers.by_result[result + word];
      for (std::uint32_t t = 0; t < step.terms && norm > 0; ++t) {
        const std::size_t place = of[0] + t * std::size_t{step.of[0].term} + word * stride;
        const double a = numbers.of[0][place], share = stated::pow(__builtin_fabs(a) / norm, step.exponent - 1);
        numbers.by[0][place] += static_cast<Real>(a < 0 ? -g * share : g * share);
      }
    }
  });
}

template <class Format, std::size_t... kFunctions>
StepAdjointKernel<typename Format::Real> each_adjoint_of(StepFunction function, std::index_sequence<kFunctions...>) {
  StepAdjointKernel<typename Format::Real> found = nullptr;
  ((function == static_cast<StepFunction>(kFunctions + 1)
        ? void(found = each_adjoint<Format, static_cast<StepFunction>(kFunctions + 1)>)
        : void()),
   ...);
  return found;
}

template <class Format>
StepAdjointKernel<typename Format::Real> adjoint_of(StepFunction function) {
  if (function == StepFunction::kDot) return dot_adjoint<Format>;
  if (function == StepFunction::kNorm) return norm_adjoint<Format>;
  return each_adjoint_of<Format>(function, std::make_index_sequence<static_cast<std::size_t>(StepFunction::kNorm) - 1>());
}

}  // namespace

StepKernels portable_step_kernels() {
  return {&kernel_of<InFp64>, &kernel_of<InFp32>,    &kernel_of<InBf16>,    &look_up<float>,
          &look_up<double>,   &best_of_words<float>, &best_of_words<double>,
          &adjoint_of<InFp64>, &adjoint_of<InFp32>};
}

}  // namespace krohn
