// simulate/operations/step_kernel_body.h — the loops of steps, for step_kernels.cpp alone, which is compiled for every
// instruction set. Vectors run over outputs or over words, never over the terms of a sum, and nothing is fused or
// added in another order, so that every set gives the same bits.
#pragma once

#include <utility>

#include "krohn/simulate/operations/step_functions.h"

namespace krohn {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif

/// How an operand goes along the last axis.
enum class Along : std::uint8_t { kSame, kNext, kApart };

inline Along along(const Step& step, const StepOperand& operand) {
  const std::uint32_t stride = operand.strides[3];
  if (stride == 0 || step.extents[3] == 1) return Along::kSame;
  return stride == 1 ? Along::kNext : Along::kApart;
}

/// The operands' first numbers at a place of the first three axes.
template <class Real>
struct StepPlace {
  const Real* of[3] = {};
};

/// body(place, the first number of the result) for every place of the first three axes.
template <class Real, class Body>
inline void for_places(const Step& step, const StepNumbers<Real>& numbers, const Body& body) {
  Real* to = numbers.own + step.to;
  for (std::uint32_t i = 0; i < step.extents[0]; ++i)
    for (std::uint32_t j = 0; j < step.extents[1]; ++j) {
      StepPlace<Real> place;
      for (std::uint32_t v = 0; v < step.operands; ++v) {
        const StepOperand& operand = step.of[v];
        place.of[v] = numbers.of[static_cast<std::size_t>(operand.space)] + operand.first +
                      std::size_t{i} * operand.strides[0] + std::size_t{j} * operand.strides[1];
      }
      for (std::uint32_t k = 0; k < step.extents[2]; ++k, to += step.extents[3]) {
        body(place, to);
        for (std::size_t v = 0; v < 3; ++v) place.of[v] += step.of[v].strides[2];
      }
    }
}

template <class V, class Real>
inline V spread(Real number) {
  return number - V{};  // −0 stays what it is
}

/// Numbers `first` and those behind it along the last axis.
template <class V, Along kAlong, class Real>
inline V take(const Real* from, std::size_t first) {
  if constexpr (kAlong == Along::kSame)
    return spread<V>(*from);
  else
    return load<V>(from + first);
}

// ---- Number by number

template <class Format, StepFunction kFunction, Along kA, Along kB>
void each(const Step& step, const StepNumbers<typename Format::Real>& numbers) {
  using Real = typename Format::Real;
  constexpr std::size_t kLanes = kVectorBytes / (is_by_doubles(kFunction) ? sizeof(double) : sizeof(Real));
  using V = Vector<Real, kLanes>;
  const std::size_t count = step.extents[3], a_stride = step.of[0].strides[3], b_stride = step.of[1].strides[3];
  const auto taken = [&]<Along kAlong>(const Real* from, std::size_t first, std::size_t stride) {
    if constexpr (kAlong != Along::kApart) return take<V, kAlong>(from, first);
    if (is_by_doubles(kFunction) && stride == 1 && count > 1) return take<V, Along::kNext>(from, first);
    V vector{};
    for (std::size_t l = 0; l < kLanes && first + l < count; ++l) vector[l] = from[(first + l) * stride];
    return vector;
  };
  for_places(step, numbers, [&](const StepPlace<Real>& place, Real* to) {
    for (std::size_t first = 0; first < count; first += kLanes) {
      const V a = taken.template operator()<kA>(place.of[0], first, a_stride);
      const V b = step.operands > 1 ? taken.template operator()<kB>(place.of[1], first, b_stride) : a;
      store(to + first, value_of<Format, kFunction>(a, b));
    }
  });
}

template <class Format, StepFunction kFunction>
StepKernel<typename Format::Real> each_of(const Step& step) {
  using enum Along;
  const Along a = along(step, step.of[0]), b = step.operands > 1 ? along(step, step.of[1]) : a;
  if constexpr (is_by_doubles(kFunction))  // they take so long that a choice at every vector is no matter
    return each<Format, kFunction, kApart, kApart>;
  if (a == kNext && b == kNext) return each<Format, kFunction, kNext, kNext>;
  if (a == kNext && b == kSame) return each<Format, kFunction, kNext, kSame>;
  if (a == kSame && b == kNext) return each<Format, kFunction, kSame, kNext>;
  if (a == kSame && b == kSame) return each<Format, kFunction, kSame, kSame>;
  return each<Format, kFunction, kApart, kApart>;
}

// ---- Sums of products

/// A step's sum, as it is remembered where it is if it is `kKept`.
template <bool kKept, class V>
inline V made(const V& sum) {
  if constexpr (!kKept) return sum;
  return sum == sum ? sum + V{} : V{} + static_cast<typename LanesIn<V>::Number>(__builtin_nan(""));
}
template <class V>
inline V made(const Step& step, const V& sum) {
  return step.kept ? made<true>(sum) : sum;
}

/// The next sum.
template <class Format, class V>
inline V added(const V& sum, const V& a, const V& b) {
  return Format::rounded(sum + Format::rounded(a * b));
}

/// The first sums of kCount vectors of outputs, `first` and those behind it.
template <class V, std::size_t kCount, class Real>
inline void begin_sums(const Step& step, const Real* from, std::size_t first, V (&sums)[kCount]) {
  for (std::size_t q = 0; q < kCount; ++q)
    sums[q] = step.operands < 3            ? V{}
              : step.of[2].strides[3] == 0 ? spread<V>(*from)
                                           : load<V>(from + first + q * kLanesOf<V>);
}

/// kCount vectors of outputs side by side.
template <class Format, std::size_t kCount, Along kA, Along kB>
inline void dot_block(const Step& step, const StepPlace<typename Format::Real>& place, std::size_t first,
                      typename Format::Real* to) {
  using Real = typename Format::Real;
  constexpr std::size_t kLanes = kVectorBytes / sizeof(Real);
  using V = Vector<Real, kLanes>;
  const Real *a = place.of[0], *b = place.of[1];
  V sums[kCount];
  begin_sums(step, place.of[2], first, sums);
  for (std::uint32_t t = 0; t < step.terms; ++t, a += step.of[0].term, b += step.of[1].term)
    for (std::size_t q = 0; q < kCount; ++q)
      sums[q] = added<Format>(sums[q], take<V, kA>(a, first + q * kLanes), take<V, kB>(b, first + q * kLanes));
  for (std::size_t q = 0; q < kCount; ++q) store(to + first + q * kLanes, made(step, sums[q]));
}

template <class Format, Along kA, Along kB>
void dot(const Step& step, const StepNumbers<typename Format::Real>& numbers) {
  using Real = typename Format::Real;
  constexpr std::size_t kLanes = kVectorBytes / sizeof(Real);
  for_places(step, numbers, [&](const StepPlace<Real>& place, Real* to) {
    std::size_t first = 0;
    const std::size_t count = step.extents[3];
    const auto vectors_left = [&] { return (count - first + kLanes - 1) / kLanes; };
    const auto block = [&]<std::size_t kCount>() {
      dot_block<Format, kCount, kA, kB>(step, place, first, to);
      first += kCount * kLanes;
    };
    while (first < count) switch (vectors_left()) {
        case 1:
          block.template operator()<1>();
          break;
        case 2:
          block.template operator()<2>();
          break;
        case 3:
          block.template operator()<3>();
          break;
        case 4:
        case 5:
          block.template operator()<4>();
          break;
        case 6:
        case 7:
          block.template operator()<6>();
          break;
        default:
          block.template operator()<8>();
      }
  });
}

/// Operands that lie apart, or a sum for all outputs: number by number, eight of which wait for one another no more
/// than they must.
template <class Format>
void dot_apart(const Step& step, const StepNumbers<typename Format::Real>& numbers) {
  using Real = typename Format::Real;
  for_places(step, numbers, [&](const StepPlace<Real>& place, Real* to) {
    const auto run = [&]<std::size_t kCount>(std::size_t at) {
      const Real *a = place.of[0] + at * step.of[0].strides[3], *b = place.of[1] + at * step.of[1].strides[3];
      Real sums[kCount];
      for (std::size_t k = 0; k < kCount; ++k)
        sums[k] = step.operands < 3 ? Real{0} : place.of[2][(at + k) * step.of[2].strides[3]];
      for (std::uint32_t t = 0; t < step.terms; ++t, a += step.of[0].term, b += step.of[1].term)
        for (std::size_t k = 0; k < kCount; ++k)
          sums[k] = added<Format>(sums[k], a[k * step.of[0].strides[3]], b[k * step.of[1].strides[3]]);
      for (std::size_t k = 0; k < kCount; ++k) to[at + k] = made(step, sums[k]);
    };
    std::size_t at = 0;
    for (; at + 8 <= step.extents[3]; at += 8) run.template operator()<8>(at);
    for (; at < step.extents[3]; ++at) run.template operator()<1>(at);
  });
}

/// For words side by side, a matrix of constants times a column of each word: some outputs at a time share its numbers.
template <class Format>
void dot_words(const Step& step, const StepNumbers<typename Format::Real>& numbers) {
  using Real = typename Format::Real;
  constexpr std::size_t kLanes = kVectorBytes / sizeof(Real), kCount = 2, kOutputs = kVectorBytes == 64 ? 12 : 4;
  using V = Vector<Real, kLanes>;
  const bool is_first = step.of[0].space == Space::kConstant;
  const StepOperand &weights = step.of[is_first ? 0 : 1], &words = step.of[is_first ? 1 : 0], &from = step.of[2];
  Step rows = step;  // all its outputs along one axis less
  const std::uint32_t outputs = step.extents[2], count = step.extents[3];
  rows.extents[2] = 1;
  Real* out = numbers.own + step.to;
  for_places(rows, numbers, [&](const StepPlace<Real>& place, Real*) {
    const Real *w = place.of[is_first ? 0 : 1], *const x = place.of[is_first ? 1 : 0], *c = place.of[2];
    const auto run = [&]<std::size_t kRows>() {
      for (std::size_t first = 0; first < count; first += kCount * kLanes) {
        V sums[kRows][kCount];
        for (std::size_t r = 0; r < kRows; ++r) begin_sums(step, c + r * from.strides[2], first, sums[r]);
        const Real *weight = w, *word = x + first;
        for (std::uint32_t t = 0; t < step.terms; ++t, weight += weights.term, word += words.term) {
          __builtin_prefetch(weight + (kRows + t % kRows) * weights.strides[2]);  // of the next outputs
          V of_words[kCount];
          for (std::size_t q = 0; q < kCount; ++q) of_words[q] = load<V>(word + q * kLanes);
          for (std::size_t r = 0; r < kRows; ++r) {
            const V of_row = spread<V>(weight[r * weights.strides[2]]);
            for (std::size_t q = 0; q < kCount; ++q) sums[r][q] = added<Format>(sums[r][q], of_words[q], of_row);
          }
        }
        for (std::size_t r = 0; r < kRows; ++r)
          for (std::size_t q = 0; q < kCount; ++q) store(out + r * count + first + q * kLanes, made(step, sums[r][q]));
      }
      out += kRows * count;
      w += kRows * weights.strides[2];
      if (step.operands > 2) c += kRows * from.strides[2];
    };
    std::uint32_t done = 0;
    for (; done + kOutputs <= outputs; done += kOutputs) run.template operator()<kOutputs>();
    for (; done + 4 <= outputs; done += 4) run.template operator()<4>();
    for (; done < outputs; ++done) run.template operator()<1>();
  });
}

/// Sums that are columns times rows, number for number, whole vectors each: a row's numbers are loaded once for all
/// outputs along the third axis.
template <class Format, bool kKept>
void dot_outer(const Step& step, const StepNumbers<typename Format::Real>& numbers) {
  using Real = typename Format::Real;
  using V = Vector<Real, kVectorBytes / sizeof(Real)>;
  Step rows = step;
  rows.extents[2] = 1;
  const std::size_t count = step.extents[3], all = step.extents[2] * count;
  Real* out = numbers.own + step.to;
  for_places(rows, numbers, [&](const StepPlace<Real>& place, Real*) {
    std::size_t first = 0;
    const auto run = [&]<std::size_t kCount>() {
      V row[kCount];
      for (std::size_t q = 0; q < kCount; ++q) row[q] = load<V>(place.of[1] + first + q * kLanesOf<V>);
      const Real *column = place.of[0], *from = place.of[2] + first;
      for (Real* to = out + first; to < out + all;
           to += count, column += step.of[0].strides[2], from += step.of[2].strides[2])
        for (std::size_t q = 0; q < kCount; ++q)
          store(to + q * kLanesOf<V>,
                made<kKept>(added<Format>(load<V>(from + q * kLanesOf<V>), spread<V>(*column), row[q])));
      first += kCount * kLanesOf<V>;
    };
    while (first + 4 * kLanesOf<V> <= count) run.template operator()<4>();
    while (first + 2 * kLanesOf<V> <= count) run.template operator()<2>();
    if (first < count) run.template operator()<1>();
    out += all;
  });
}

template <class Format>
StepKernel<typename Format::Real> dense_dot_of(const Step& step, bool words) {
  using enum Along;
  const Along a = along(step, step.of[0]), b = along(step, step.of[1]),
              c = step.operands > 2 ? along(step, step.of[2]) : kNext;
  if (words && step.extents[2] > 1)
    for (const int constant : {0, 1})
      if (step.of[constant].space == Space::kConstant && step.of[1 - constant].space == Space::kWord &&
          step.of[1 - constant].strides[2] == 0)
        return dot_words<Format>;
  if (step.terms == 1 && step.operands == 3 && a == kSame && b == kNext && c == kNext && step.of[1].strides[2] == 0 &&
      step.of[2].strides[3] == 1 && step.extents[3] % (kVectorBytes / sizeof(typename Format::Real)) == 0)
    return step.kept ? dot_outer<Format, true> : dot_outer<Format, false>;
  if (a == kApart || b == kApart || c == kApart || (a == kSame && b == kSame)) return dot_apart<Format>;
  if (a == kSame) return dot<Format, kSame, kNext>;
  return b == kSame ? dot<Format, kNext, kSame> : dot<Format, kNext, kNext>;
}

/// True if every factor of the few constants is finite, each looked at once.
template <class V, bool kWords, class Real>
inline bool are_finite(const Step& step, const StepNumbers<Real>& numbers) {
  const StepOperand& other = step.of[step.by];
  Step once = step;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (other.strides[axis] == 0) once.extents[axis] = 1;
  V nothing[2]{};
  for_places(once, numbers, [&](const StepPlace<Real>& place, Real*) {
    const Real* from = place.of[step.by];
    std::uint32_t t = 0;
    if (!kWords && other.term == 1)
      for (; t + kLanesOf<V> <= step.terms; t += kLanesOf<V>, from += kLanesOf<V>) nothing[0] += V{} * load<V>(from);
    for (; t < step.terms; ++t, from += other.term)
      for (std::size_t first = 0; first < (kWords ? step.extents[3] : 1); first += kLanesOf<V>)
        nothing[kWords ? first / kLanesOf<V> % 2 : t % 2] += V{} * take < V,
            kWords ? Along::kNext : Along::kSame > (from, first);
  });
  return holds_for_all(nothing[0] == nothing[0]) && holds_for_all(nothing[1] == nothing[1]);
}

/// Without the products of constants that are 0, a sum is the same but for the sign of a zero, which is dropped, and
/// unless another factor is not finite: then nothing is left out.
template <class Format, bool kWords>
void dot_few(const Step& step, const StepNumbers<typename Format::Real>& numbers) {
  using Real = typename Format::Real;
  constexpr std::size_t kWhole = kVectorBytes / sizeof(Real), kLanes = kWords || kWhole < 8 ? kWhole : 8;
  constexpr std::size_t kCount = kWords ? 2 : 8 / kLanes, kAtOnce = kCount * kLanes;
  using V = Vector<Real, kLanes>;
  const std::size_t count = step.extents[3];
  Real* const results = numbers.own + step.to;
  const std::size_t all = std::size_t{step.extents[0]} * step.extents[1] * step.extents[2] * count;
  if (!are_finite<V, kWords>(step, numbers)) {
    dense_dot_of<Format>(step, kWords)(step, numbers);
    for (std::size_t i = 0; i < all; ++i) results[i] += Real{0};
    return;
  }
  std::size_t row = step.few;
  for_places(step, numbers, [&](const StepPlace<Real>& place, Real* to) {
    for (std::size_t first = 0; first < count; first += kAtOnce) {
      V sums[kCount];
      begin_sums(step, place.of[2], first, sums);
      for (std::uint32_t e = numbers.ends[row]; e < numbers.ends[row + 1]; ++e) {
        const Real* const from = place.of[step.by] + numbers.places[e];
        for (std::size_t q = 0; q < kCount; ++q)
          sums[q] = kWords ? added<Format>(sums[q], load<V>(from + first + q * kLanes), spread<V>(numbers.weights[e]))
                           : added<Format>(sums[q], spread<V>(*from),
                                           load<V>(numbers.weights + std::size_t{8} * e + q * kLanes));
      }
      for (std::size_t q = 0; q < kCount; ++q) store(to + first + q * kLanes, made<V>(step, sums[q] + V{}));
      if (!kWords) ++row;
    }
    if (kWords) ++row;
  });
}

template <class Format>
StepKernel<typename Format::Real> dot_of(const Step& step, bool words) {
  if (step.few != Step::kDense) return words ? dot_few<Format, true> : dot_few<Format, false>;
  return dense_dot_of<Format>(step, words);
}

// ---- Norms

/// Sums in fp64, one after another: they are of tokens, or few.
template <class Format>
void norm(const Step& step, const StepNumbers<typename Format::Real>& numbers) {
  using Real = typename Format::Real;
  for_places(step, numbers, [&](const StepPlace<Real>& place, Real* to) {
    for (std::size_t at = 0; at < step.extents[3]; ++at) {
      const Real* a = place.of[0] + at * step.of[0].strides[3];
      double sum = 0;
      for (std::uint32_t t = 0; t < step.terms; ++t, a += step.of[0].term)
        sum += stated::pow(__builtin_fabs(static_cast<double>(*a)), step.exponent);
      to[at] = Format::of_doubles(stated::pow(sum, 1 / step.exponent));
    }
  });
}

// ---- Tables

/// The kernel of the step's function, one of kFirst and those behind it.
template <class Format, StepFunction kFirst, std::size_t... kBehind>
StepKernel<typename Format::Real> each_of(const Step& step, std::index_sequence<kBehind...>) {
  constexpr auto at = [](std::size_t behind) {
    return static_cast<StepFunction>(static_cast<std::size_t>(kFirst) + behind);
  };
  StepKernel<typename Format::Real> found = nullptr;
  ((step.function == at(kBehind) ? void(found = each_of<Format, at(kBehind)>(step)) : void()), ...);
  return found;
}

template <class Format>
StepKernel<typename Format::Real> kernel_of(const Step& step, bool words) {
  using enum StepFunction;
  if (step.function == kDot) return dot_of<Format>(step, words);
  if (step.function == kNorm) return norm<Format>;
  return each_of<Format, kCopy>(step, std::make_index_sequence<static_cast<std::size_t>(kNorm) - 1>());
}

template <class Real>
void look_up(const Real* table, std::size_t numbers, std::size_t tokens, const std::uint32_t* token, std::size_t words,
             Real* to) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4)
    if (tokens <= 32) {
      for (std::size_t n = 0; n < numbers; ++n, table += tokens, to += words)
        for (std::size_t w = 0; w < words; w += 16) {
          const auto index = _mm512_loadu_si512(token + w);
          const auto first = tokens == 8 ? _mm512_castps256_ps512(_mm256_loadu_ps(table)) : _mm512_loadu_ps(table);
          _mm512_storeu_ps(to + w, tokens == 32 ? _mm512_permutex2var_ps(first, index, _mm512_loadu_ps(table + 16))
                                                : _mm512_permutexvar_ps(index, first));
        }
      return;
    }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(Real) == 4) {
    for (std::size_t n = 0; n < numbers; ++n, table += tokens, to += words)
      for (std::size_t w = 0; w < words; w += 8) {
        const auto index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(token + w));
        _mm256_storeu_ps(to + w, tokens == 8 ? _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), index)
                                             : _mm256_i32gather_ps(table, index, 4));
      }
    return;
  }
#endif
  for (std::size_t n = 0; n < numbers; ++n, table += tokens, to += words)
    for (std::size_t w = 0; w < words; ++w) to[w] = table[token[w]];
}

template <class Real>
void best_of_words(const Real* logits, std::size_t count, std::size_t words, std::uint32_t* places, Real* best,
                   Real* second) {
  using V = Vector<Real, kVectorBytes / sizeof(Real)>;
  using Bits = BitsOf<V>;
  for (std::size_t first = 0; first < words; first += kLanesOf<V>) {
    V most = load<V>(logits + first), next = V{} - static_cast<Real>(__builtin_inf()), nothing = V{} * most;
    Bits place{};
    for (std::size_t i = 1; i < count; ++i) {
      const V logit = load<V>(logits + i * words + first);
      const auto is_greater = logit > most;
      next = is_greater ? most : logit > next ? logit : next;
      place = is_greater ? Bits{} + static_cast<typename LanesIn<Bits>::Number>(i) : place;
      most = is_greater ? logit : most;
      nothing += V{} * logit;
    }
    store(best + first, V(most + nothing));
    store(second + first, next);
    for (std::size_t l = 0; l < kLanesOf<V>; ++l) places[first + l] = static_cast<std::uint32_t>(place[l]);
  }
}

}  // namespace
}  // namespace krohn
