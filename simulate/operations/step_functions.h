// simulate/operations/step_functions.h — the functions of steps, without a branch: by the operations that
// docs/reference/certificate-file.md states, and so with the bits of groups/base/stated_functions.h and
// simulate/arithmetic/stated_exp.h. Of vectors, in the translation units of step kernels; of single numbers, in the
// kernels of CUDA devices. Included by these, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/operations/step_kernels.h"
#include "krohn/simulate/words/host_device.h"

#ifdef __CUDACC__
#include <cmath>

#include "krohn/simulate/arithmetic/stated_exp.h"
#else
#include "krohn/simulate/models/kernels/training_vectors.h"
#endif
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace krohn {
namespace {

// ---- A vector, or a number alone

template <class V>
struct LanesIn {
  using Number = std::remove_cvref_t<decltype(std::declval<V>()[0])>;
  static constexpr std::size_t kCount = sizeof(V) / sizeof(Number);
};
template <class V>
requires std::is_arithmetic_v<V>
struct LanesIn<V> {
  using Number = V;
  static constexpr std::size_t kCount = 1;
};
template <class V>
inline constexpr std::size_t kLanesOf = LanesIn<V>::kCount;
template <class V>
inline constexpr bool kIsAlone = std::is_arithmetic_v<V>;

template <class Number, std::size_t kLanes, bool kAlone>
struct BesideOf {
  using Type = Number;
};
#ifndef __CUDACC__
template <class Number, std::size_t kLanes>
struct BesideOf<Number, kLanes, false> {
  using Type = Vector<Number, kLanes>;
};
#endif
/// As many of another kind of number as V has.
template <class Number, class V>
using Beside = typename BesideOf<Number, kLanesOf<V>, kIsAlone<V>>::Type;
/// Integers beside the numbers of a vector.
template <class V>
using BitsOf = Beside<std::conditional_t<sizeof(typename LanesIn<V>::Number) == 4, std::int32_t, std::int64_t>, V>;

/// The same bits as another type.
template <class To, class From>
KROHN_HOST_DEVICE constexpr To same_bits(const From& x) {
  static_assert(sizeof(To) == sizeof(From));
#ifdef __CUDA_ARCH__
  To to;
  std::memcpy(&to, &x, sizeof to);
  return to;
#else
  return __builtin_bit_cast(To, x);
#endif
}
template <class V>
KROHN_HOST_DEVICE inline BitsOf<V> bits_in(const V& x) {
  return same_bits<BitsOf<V>>(x);
}
template <class To, class From>
KROHN_HOST_DEVICE inline To converted(const From& x) {
#ifndef __CUDACC__
  // GCC takes four instructions for these.
#ifdef __AVX512F__
  if constexpr (std::is_same_v<From, Vector<float, 8>> && std::is_same_v<To, Vector<double, 8>>)
    return (To)_mm512_cvtps_pd((__m256)x);
#endif
#ifdef __AVX2__
  if constexpr (std::is_same_v<From, Vector<float, 4>> && std::is_same_v<To, Vector<double, 4>>)
    return (To)_mm256_cvtps_pd((__m128)x);
#endif
  if constexpr (!kIsAlone<From>)
    return __builtin_convertvector(x, To);
  else
#endif
    return static_cast<To>(x);
}
/// 1 where a comparison holds, and 0 elsewhere, as integers.
template <class Bits, class Mask>
KROHN_HOST_DEVICE inline Bits ones_of(const Mask& mask) {
  if constexpr (kIsAlone<Bits>)
    return mask ? 1 : 0;
  else
    return -(Bits)mask;
}
template <class Mask>
KROHN_HOST_DEVICE inline bool holds_for_all(const Mask& mask) {
  if constexpr (kIsAlone<Mask>) {
    return mask;
#ifdef __AVX512F__
  } else if constexpr (sizeof(Mask) == 64) {
    return _mm512_movepi8_mask((__m512i)mask) == ~__mmask64{0};
#endif
#ifdef __AVX2__
  } else if constexpr (sizeof(Mask) == 32) {
    return _mm256_movemask_epi8((__m256i)mask) == -1;
  } else if constexpr (sizeof(Mask) == 16) {
    return _mm_movemask_epi8((__m128i)mask) == 0xFFFF;
#endif
  } else {
    auto all = mask[0];
    for (std::size_t i = 1; i < kLanesOf<Mask>; ++i) all &= mask[i];
    return all != 0;
  }
}
/// function(x) of every number.
template <class To, class V, class Function>
KROHN_HOST_DEVICE inline To number_by_number(const V& x, const Function& function) {
  if constexpr (kIsAlone<V>) {
    return function(x);
  } else {
    To result;
    for (std::size_t i = 0; i < kLanesOf<V>; ++i) result[i] = function(x[i]);
    return result;
  }
}

/// The bit that has the sign.
template <class V>
KROHN_HOST_DEVICE inline BitsOf<V> sign_bit() {
  return bits_in<V>(-V{});
}
template <class V>
KROHN_HOST_DEVICE inline V magnitude(const V& x) {
  return same_bits<V>(bits_in(x) & ~sign_bit<V>());
}
/// The sign of `sign` on a number without one.
template <class V>
KROHN_HOST_DEVICE inline V with_sign(const V& x, const V& sign) {
  return same_bits<V>(bits_in(x) | (bits_in(sign) & sign_bit<V>()));
}

/// a · b + c, rounded once.
template <class V>
KROHN_HOST_DEVICE inline V fused(const V& a, const V& b, const V& c) {
#ifdef __AVX512F__
  if constexpr (sizeof(V) == 64) return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#endif
#ifdef __FMA__
  if constexpr (sizeof(V) == 32) return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#endif
  if constexpr (kIsAlone<V>) {
    return __builtin_fma(a, b, c);
  } else {
    V result;
    for (std::size_t i = 0; i < kLanesOf<V>; ++i) result[i] = __builtin_fma(a[i], b[i], c[i]);
    return result;
  }
}

/// a · b + c, rounded once or twice, whichever is faster.
template <class V>
inline V about(const V& a, const V& b, const V& c) {
#if defined(__FMA__) || defined(__AVX512F__)
  return fused<V>(a, b, c);
#else
  return a * b + c;
#endif
}

// ---- Numbers that are the sum of two (groups/base/stated_functions.cpp)

template <class V>
struct SumOfTwo {
  V high{}, low{};
};

template <class V>
KROHN_HOST_DEVICE constexpr SumOfTwo<V> two_sum(const V& a, const V& b) {
  const V sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

template <class V>
KROHN_HOST_DEVICE constexpr SumOfTwo<V> two_product(const V& a, const V& b) {
  const V product = a * b;
#if defined(__FMA__) || defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) return {product, fused<V>(a, b, -product)};
#endif
  constexpr double kHalves = 0x1p27 + 1;
  const V a_shifted = kHalves * a, a_high = a_shifted - (a_shifted - a), a_low = a - a_high;
  const V b_shifted = kHalves * b, b_high = b_shifted - (b_shifted - b), b_low = b - b_high;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

template <class V>
KROHN_HOST_DEVICE constexpr SumOfTwo<V> operator+(const SumOfTwo<V>& a, const SumOfTwo<V>& b) {
  const SumOfTwo<V> sum = two_sum(a.high, b.high), rest = two_sum(a.low, b.low);
  const SumOfTwo<V> first = two_sum<V>(sum.high, sum.low + rest.high);
  return two_sum<V>(first.high, first.low + rest.low);
}
template <class V>
KROHN_HOST_DEVICE constexpr SumOfTwo<V> operator-(const SumOfTwo<V>& a, const SumOfTwo<V>& b) {
  return a + SumOfTwo<V>{-b.high, -b.low};
}
template <class V>
KROHN_HOST_DEVICE constexpr SumOfTwo<V> operator*(const SumOfTwo<V>& a, const SumOfTwo<V>& b) {
  const SumOfTwo<V> product = two_product(a.high, b.high);
  return two_sum<V>(product.high, product.low + (a.high * b.low + a.low * b.high));
}
template <class V>
KROHN_HOST_DEVICE constexpr SumOfTwo<V> operator/(const SumOfTwo<V>& a, const SumOfTwo<V>& b) {
  const V first = a.high / b.high;
  const SumOfTwo<V> rest = a - SumOfTwo<V>{first, V{}} * b;
  const V second = rest.high / b.high;
  const SumOfTwo<V> last = rest - SumOfTwo<V>{second, V{}} * b;
  return two_sum(first, second) + SumOfTwo<V>{last.high / b.high, V{}};
}

/// The same number in every lane.
template <class V>
KROHN_HOST_DEVICE inline SumOfTwo<V> all_of(const SumOfTwo<double>& x) {
  return {V{} + x.high, V{} + x.low};
}

// ---- Exponentials; V has doubles

/// 2^k for |k| ≤ 1022: adding to it leaves k's last bits where a double has its exponent.
template <class V>
KROHN_HOST_DEVICE inline V power_of_two(const V& k) {
  return same_bits<V>(bits_in<V>(k + (0x1.8p52 + 1023)) << 52);
}

/// Cut to an integer, below 2^51.
template <class V>
KROHN_HOST_DEVICE inline V cut(const V& x) {
  const V size = magnitude(x), nearest = (size + 0x1p52) - 0x1p52;
  return with_sign<V>(nearest - (nearest > size ? V{} + 1 : V{}), x);
}

/// e^x = 2^k (1 + first + second).
template <class V>
struct Exponential {
  V k, first, second;
};

/// For |x| ≤ 800.
template <class V>
KROHN_HOST_DEVICE inline Exponential<V> exponential_parts(const V& x) {
  const V turns = x * 0x1.71547652b82fep+0;
  const V k = cut<V>(turns + with_sign<V>(V{} + 0.5, turns));
  const SumOfTwo<V> r = two_sum<V>(x - k * 0x1.62e42fefa38p-1, -k * 0x1.ef35793c7673p-45);
  static constexpr double kFactorials[12] = {
      87'178'291'200.0, 6'227'020'800.0, 479'001'600.0, 39'916'800.0, 3'628'800.0, 362'880.0,
      40'320.0,         5'040.0,         720.0,         120.0,        24.0,        6.0};
  V tail{};
  for (const double factorial : kFactorials) tail = tail * r.high + 1 / factorial;
  const SumOfTwo<V> square = two_product(r.high, r.high);
  const SumOfTwo<V> sum = two_sum<V>(r.high, square.high * 0.5);
  const V rest = square.low * 0.5 + square.high * r.high * tail + r.low * (1 + r.high);
  const SumOfTwo<V> parts = two_sum<V>(sum.high, sum.low + rest);
  return {k, parts.high, parts.low};
}

/// Beyond ±800 it overflows and vanishes as at them; no number stays none.
template <class V>
KROHN_HOST_DEVICE inline V exp_of(const V& given) {
  V x = given > 800 ? V{} + 800 : given;
  x = x < -800 ? V{} - 800 : x;
  const Exponential<V> e = exponential_parts(x);
  const SumOfTwo<V> sum = two_sum<V>(V{} + 1, e.first);
  const V half = cut<V>(e.k * 0.5);
  return (sum.high + (sum.low + e.second)) * power_of_two<V>(half) * power_of_two<V>(e.k - half);
}

template <class V>
KROHN_HOST_DEVICE inline V tanh_of(const V& a) {
  const V x = -2 * magnitude(a), least = x < -40 ? V{} - 40 : x;
  const Exponential<V> e = exponential_parts(least);
  const V octaves = power_of_two(e.k);
  const SumOfTwo<V> whole = two_sum<V>(octaves, V{} - 1), sum = two_sum<V>(whole.high, octaves * e.first),
                    below = two_sum<V>(whole.low, octaves * e.second), all = two_sum<V>(sum.high, sum.low + below.high);
  const V less_one = all.high + (all.low + below.low);
  return with_sign<V>(magnitude<V>(less_one / (2 + less_one)), a);
}

template <class V>
KROHN_HOST_DEVICE inline V logistic_of(const V& a) {
  return 1 / (1 + exp_of<V>(-a));
}

// ---- The same within 2^-38 of themselves, a third of the work: enough to know nearly every result in floats

/// e^x is whole + rest, for |x| ≤ 200. Eleven terms of the series of e^r − 1, |r| < 0.35, are within 2^-40 of it, and
/// so is the sum for whole ≠ 1, where it is at least 0.29.
template <class V>
struct QuickExponential {
  V whole, rest;
};
template <class V>
KROHN_HOST_DEVICE inline QuickExponential<V> quick_exponential(const V& x) {
  const V k = about<V>(x, V{} + 0x1.71547652b82fep+0, V{} + 0x1.8p52) - 0x1.8p52;
  const V r = about<V>(k, V{} - 0x1.ef35793c7673p-45, about<V>(k, V{} - 0x1.62e42fefa38p-1, x));
  static constexpr double kFactorials[10] = {3'628'800.0, 362'880.0, 40'320.0, 5'040.0, 720.0,
                                             120.0,       24.0,      6.0,      2.0,     1.0};
  V sum = V{} + 1 / 39'916'800.0;
  for (const double factorial : kFactorials) sum = about<V>(sum, r, V{} + 1 / factorial);
  const V whole = power_of_two(k);
  return {whole, whole * (r * sum)};
}
/// Beyond ±200 it overflows and vanishes in floats as at them; no number stays none.
template <class V>
KROHN_HOST_DEVICE inline V quick_exp(const V& given) {
  V x = given > 200 ? V{} + 200 : given;
  x = x < -200 ? V{} - 200 : x;
  const QuickExponential<V> e = quick_exponential(x);
  return e.whole + e.rest;
}
template <class V>
KROHN_HOST_DEVICE inline V quick_tanh(const V& a) {
  const V x = -2 * magnitude(a), least = x < -40 ? V{} - 40 : x;
  const QuickExponential<V> e = quick_exponential(least);
  const V less_one = (e.whole - 1) + e.rest;
  return with_sign<V>(magnitude<V>(less_one / (2 + less_one)), a);
}

/// By the last five bits of integers.
template <class V>
KROHN_HOST_DEVICE inline BitsOf<V> exp_table_at(const BitsOf<V>& k) {
#ifdef __AVX512F__
  const auto half = [&](std::size_t at) {
    return (BitsOf<V>)_mm512_permutex2var_epi64(_mm512_loadu_si512(kExpTable + at), (__m512i)k,
                                                _mm512_loadu_si512(kExpTable + at + 8));
  };
  return (k & 16) != 0 ? half(16) : half(0);
#else
  return number_by_number<BitsOf<V>>(k, [](std::int64_t i) {
#ifdef __CUDACC__
    return static_cast<std::int64_t>(exp_table(static_cast<std::uint32_t>(i & 31)));
#else
    return static_cast<std::int64_t>(kExpTable[i & 31]);
#endif
  });
#endif
}

/// e^x rounded to float, in doubles (simulate/arithmetic/stated_exp.h).
template <class V>
KROHN_HOST_DEVICE inline auto exp32_of(const V& x) {
  const V most = V{} + 0x1.62e42ep6, least = V{} - 0x1.9fe368p6;
  V clamped = x > most ? most : x;
  clamped = clamped < least ? least : clamped;
  const V inverse = V{} + 0x1.71547652b82fep+5, shifted = fused<V>(inverse, clamped, V{} + 0x1.8p+52);
  const V r = fused<V>(inverse, clamped, -(shifted - 0x1.8p+52));
  const BitsOf<V> k = bits_in(shifted);
  const BitsOf<V> power = (k << 47) + exp_table_at<V>(k);
  const V high = fused<V>(V{} + 0x1.c6af84b912394p-20, r, V{} + 0x1.ebfce50fac4f3p-13),
          low = fused<V>(V{} + 0x1.62e42ff0c52d6p-6, r, V{} + 1.0);
  const V result = fused<V>(high, r * r, low) * same_bits<V>(power);
  return converted<Beside<float, V>>(V(x > most ? V{} + __builtin_inf() : x < least ? V{} : result));
}

/// 1, 1/3, 1/5, ….
struct Odds {
  SumOfTwo<double> inverses[21];
  KROHN_HOST_DEVICE constexpr Odds() : inverses{} {
    for (int i = 0; i < 21; ++i)
      inverses[i] = SumOfTwo<double>{1, 0} / SumOfTwo<double>{static_cast<double>(2 * i + 1), 0};
  }
};

/// 1/(2i + 1). nvcc takes a table that a constructor fills for one of zeros: a device divides.
template <class V>
KROHN_HOST_DEVICE inline SumOfTwo<V> inverse_odd(int i) {
#ifdef __CUDA_ARCH__
  return SumOfTwo<V>{1, 0} / SumOfTwo<V>{static_cast<V>(2 * i + 1), 0};
#else
  static constexpr Odds kOdds;
  return all_of<V>(kOdds.inverses[i]);
#endif
}

/// log(1 + x) for 0 ≤ x < 2^1000.
template <class V>
KROHN_HOST_DEVICE inline V log1p_of(const V& x) {
  const SumOfTwo<V> sum = two_sum<V>(V{} + 1, x);
  const BitsOf<V> bits = bits_in(sum.high), one = bits_in<V>(V{} + 1);
  const V fraction = same_bits<V>((bits & 0xFFFFFFFFFFFFF) | one);
  const BitsOf<V> exponent = ((bits >> 52) - 1023) + ones_of<BitsOf<V>>(fraction > 0x1.6a09e667f3bcdp+0);
  const V k = same_bits<V>(bits_in<V>(V{} + 0x1.8p52) + exponent) - 0x1.8p52, scale = power_of_two<V>(-k);
  const SumOfTwo<V> m{sum.high * scale, sum.low * scale};
  const SumOfTwo<V> f = two_sum<V>(m.high - 1, m.low), s = f / (SumOfTwo<V>{V{} + 2, V{}} + f), square = s * s;
  V tail{};
  for (int i = 20; i >= 4; --i) tail = tail * square.high + inverse_odd<V>(i).high;
  SumOfTwo<V> p{tail, V{}};
  for (int i = 3; i >= 0; --i) p = p * square + inverse_odd<V>(i);
  const SumOfTwo<V> half = s * p, log_of_m{2 * half.high, 2 * half.low};
  constexpr SumOfTwo<double> kLogOf2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  const SumOfTwo<V> whole = all_of<V>(kLogOf2) * SumOfTwo<V>{k, V{}} + log_of_m;
  return x < 0x1p-60 ? x : k == 0 ? log_of_m.high : whole.high;
}

// ---- Formats

/// The nearest number of bf16, ties to even. The numbers of a vector are finite, or no number that an operation made;
/// of a device's all bits are ones, and stay so.
template <class V>
KROHN_HOST_DEVICE inline V to_bf16(const V& x) {
  const BitsOf<V> bits = bits_in(x), odd = (bits >> 16) & 1;
  if constexpr (kIsAlone<V>)
    if (x != x) return x;
  return same_bits<V>((bits + 0x7FFF + odd) & static_cast<std::int32_t>(0xFFFF0000));
}

/// Doubles as floats whose rounding to bf16 is that of the doubles: rounded to odd, so that no tie is made.
template <class V>
KROHN_HOST_DEVICE inline auto to_odd_floats(const V& x) {
  using Floats = Beside<float, V>;
  const Floats nearest = converted<Floats>(x);
  const V back = converted<V>(nearest), size = magnitude(x), other = magnitude(back);
  // −1, 0 or 1 unit of the last place, as integers as wide as a float's.
  const BitsOf<Floats> away =
      converted<BitsOf<Floats>>(BitsOf<V>(ones_of<BitsOf<V>>(other < size) - ones_of<BitsOf<V>>(other > size)));
  const BitsOf<Floats> bits = bits_in(nearest);
  const BitsOf<Floats> is_even = (bits & 1) - 1,
                       is_finite = -ones_of<BitsOf<Floats>>(magnitude(nearest) < __builtin_inff());
  return same_bits<Floats>(bits + (away & is_even & is_finite));
}

struct InFp64 {
  using Real = double;
  template <class V>
  KROHN_HOST_DEVICE static V rounded(const V& x) {
    return x;
  }
  template <class V>
  KROHN_HOST_DEVICE static V of_doubles(const V& x) {
    return x;
  }
};
struct InFp32 {
  using Real = float;
  template <class V>
  KROHN_HOST_DEVICE static V rounded(const V& x) {
    return x;
  }
  template <class V>
  KROHN_HOST_DEVICE static auto of_doubles(const V& x) {
    return converted<Beside<float, V>>(x);
  }
};
struct InBf16 {
  using Real = float;
  template <class V>
  KROHN_HOST_DEVICE static V rounded(const V& x) {
    return to_bf16(x);
  }
  template <class V>
  KROHN_HOST_DEVICE static auto of_doubles(const V& x) {
    return to_bf16(to_odd_floats(x));
  }
};

/// True if a function goes by way of doubles: then as many numbers at a time as a vector has doubles.
KROHN_HOST_DEVICE constexpr bool is_by_doubles(StepFunction function) { return function >= StepFunction::kSigmoid; }

/// The result of one step on vectors of the format's numbers.
template <class Format, StepFunction kFunction, class V>
KROHN_HOST_DEVICE inline V value_of(const V& a, const V& b) {
  using enum StepFunction;
  using Real = typename Format::Real;
  const auto rounded = [](const V& x) { return Format::rounded(x); };
  if constexpr (kFunction == kCopy) return a;
  if constexpr (kFunction == kAdd) return rounded(a + b);
  if constexpr (kFunction == kSubtract) return rounded(a - b);
  if constexpr (kFunction == kMultiply) return rounded(a * b);
  if constexpr (kFunction == kDivide) return rounded(a / b);
  if constexpr (kFunction == kGreater) return a < b ? b : a;
  if constexpr (kFunction == kRoot)
    return rounded(number_by_number<V>(a, [](Real x) -> Real {
      if constexpr (sizeof(Real) == 4)
        return __builtin_sqrtf(x);
      else
        return __builtin_sqrt(x);
    }));
  if constexpr (kFunction == kBf16) {
    if constexpr (sizeof(Real) == 4)
      return to_bf16(a);
    else
      return converted<V>(to_bf16(to_odd_floats(a)));
  }
  if constexpr (is_by_doubles(kFunction)) {
    using Doubles = Beside<double, V>;
    const auto of = [](const auto& x) -> V {
      if constexpr (std::is_same_v<std::decay_t<decltype(x)>, V>)
        return Format::rounded(x);
      else if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Doubles>)
        return Format::of_doubles(x);
      else
        return converted<V>(x);
    };
    // Rounding is monotone: where both ends of an interval round to one number, so does the stated one between them.
    const auto by_way_of = [&](const auto& quick, const auto& stated) -> V {
      if constexpr (sizeof(Real) == 4 && !kIsAlone<V>) {
        constexpr double kError = 0x1p-36;
        const Doubles near = quick();
        const V low = of(Doubles(near * (1 - kError))), high = of(Doubles(near * (1 + kError)));
        if (holds_for_all(low == high)) return low;
      }
      return of(stated());
    };
    const auto exponential = [&](const Doubles& of_it) {
      return by_way_of([&] { return quick_exp(of_it); }, [&] { return exp_of(of_it); });
    };
    const Doubles x = converted<Doubles>(a), y = converted<Doubles>(b);
    if constexpr (kFunction == kSigmoid) return rounded(a / rounded(1 + exponential(-y)));
    if constexpr (kFunction == kSigmoid32) return rounded(a / rounded(1 + of(exp32_of<Doubles>(-y))));
    if constexpr (kFunction == kExp) return exponential(x);
    if constexpr (kFunction == kExp32) return of(exp32_of(x));
    if constexpr (kFunction == kSoftplus)
      return rounded((a > 0 ? a : V{}) + of(log1p_of<Doubles>(exp_of<Doubles>(-magnitude(x)))));
    if constexpr (kFunction == kSoftplus32) return a > 20 ? a : of(log1p_of<Doubles>(converted<Doubles>(exp32_of(x))));
    // Nothing is computed where all are as good as 0 or 1 or as signs, as in compiled models.
    if constexpr (kFunction == kLogistic) {
      if (holds_for_all((x > 40) | (x < (sizeof(Real) == 4 ? -110.0 : -800.0)))) return a > 0 ? V{} + 1 : V{};
      return by_way_of([&] { return Doubles(1 / (1 + quick_exp<Doubles>(-x))); }, [&] { return logistic_of(x); });
    }
    if constexpr (kFunction == kTanh) {
      if (holds_for_all(magnitude(x) > 21)) return with_sign<V>(V{} + 1, a);
      return by_way_of([&] { return quick_tanh(x); }, [&] { return tanh_of(x); });
    }
    if constexpr (kFunction == kSoftplus64) return a > 20 ? a : of(log1p_of<Doubles>(exp_of(x)));
    if constexpr (kFunction == kLogSigmoid)
      return of(Doubles((x < 0 ? x : Doubles{}) - log1p_of<Doubles>(exp_of<Doubles>(-magnitude(x)))));
#ifndef __CUDACC__
    if constexpr (kFunction == kCosine || kFunction == kSine)
      return of(number_by_number<Doubles>(
          x, [](double angle) { return kFunction == kCosine ? stated::cos(angle) : stated::sin(angle); }));
#endif
  }
}

}  // namespace
}  // namespace krohn
