// simulate/operations/step_functions.h — the functions of steps on vectors, without a branch: by the operations that
// docs/reference/certificate-file.md states, and so with the bits of groups/base/stated_functions.h and
// simulate/arithmetic/ stated_exp.h. Included by the translation units of step kernels, and nothing else.
#pragma once

#include <type_traits>
#include <utility>

#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/models/kernels/training_vectors.h"
#include "krohn/simulate/operations/step_kernels.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace krohn {
namespace {

template <class V>
inline constexpr std::size_t kLanesOf = sizeof(V) / sizeof(std::declval<V>()[0]);
/// Integers beside the numbers of a vector.
template <class V>
using BitsOf = Vector<std::conditional_t<sizeof(std::declval<V>()[0]) == 4, std::int32_t, std::int64_t>, kLanesOf<V>>;

/// The bit that has the sign.
template <class V>
inline BitsOf<V> sign_bit() {
  return (BitsOf<V>)(-V{});
}
template <class V>
inline V magnitude(const V& x) {
  return (V)((BitsOf<V>)x & ~sign_bit<V>());
}
/// The sign of `sign` on a number without one.
template <class V>
inline V with_sign(const V& x, const V& sign) {
  return (V)((BitsOf<V>)x | ((BitsOf<V>)sign & sign_bit<V>()));
}

template <class V>
inline bool any(const V& mask) {
  auto found = mask[0];
  for (std::size_t i = 1; i < kLanesOf<V>; ++i) found |= mask[i];
  return found != 0;
}

/// a · b + c, rounded once.
template <class V>
inline V fused(const V& a, const V& b, const V& c) {
#ifdef __AVX512F__
  if constexpr (sizeof(V) == 64) return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#endif
#ifdef __FMA__
  if constexpr (sizeof(V) == 32) return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#endif
  V result;
  for (std::size_t i = 0; i < kLanesOf<V>; ++i) result[i] = __builtin_fma(a[i], b[i], c[i]);
  return result;
}

// ---- Numbers that are the sum of two (groups/base/stated_functions.cpp)

template <class V>
struct SumOfTwo {
  V high{}, low{};
};

template <class V>
constexpr SumOfTwo<V> two_sum(const V& a, const V& b) {
  const V sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

template <class V>
constexpr SumOfTwo<V> two_product(const V& a, const V& b) {
  const V product = a * b;
#ifdef __FMA__
  if constexpr (!std::is_same_v<V, double>) return {product, fused<V>(a, b, -product)};
#endif
  constexpr double kHalves = 0x1p27 + 1;
  const V a_shifted = kHalves * a, a_high = a_shifted - (a_shifted - a), a_low = a - a_high;
  const V b_shifted = kHalves * b, b_high = b_shifted - (b_shifted - b), b_low = b - b_high;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

template <class V>
constexpr SumOfTwo<V> operator+(const SumOfTwo<V>& a, const SumOfTwo<V>& b) {
  const SumOfTwo<V> sum = two_sum(a.high, b.high), rest = two_sum(a.low, b.low);
  const SumOfTwo<V> first = two_sum<V>(sum.high, sum.low + rest.high);
  return two_sum<V>(first.high, first.low + rest.low);
}
template <class V>
constexpr SumOfTwo<V> operator-(const SumOfTwo<V>& a, const SumOfTwo<V>& b) {
  return a + SumOfTwo<V>{-b.high, -b.low};
}
template <class V>
constexpr SumOfTwo<V> operator*(const SumOfTwo<V>& a, const SumOfTwo<V>& b) {
  const SumOfTwo<V> product = two_product(a.high, b.high);
  return two_sum<V>(product.high, product.low + (a.high * b.low + a.low * b.high));
}
template <class V>
constexpr SumOfTwo<V> operator/(const SumOfTwo<V>& a, const SumOfTwo<V>& b) {
  const V first = a.high / b.high;
  const SumOfTwo<V> rest = a - SumOfTwo<V>{first, V{}} * b;
  const V second = rest.high / b.high;
  const SumOfTwo<V> last = rest - SumOfTwo<V>{second, V{}} * b;
  return two_sum(first, second) + SumOfTwo<V>{last.high / b.high, V{}};
}

/// The same number in every lane.
template <class V>
inline SumOfTwo<V> all_of(const SumOfTwo<double>& x) {
  return {V{} + x.high, V{} + x.low};
}

// ---- Exponentials; V has doubles

/// 2^k for |k| ≤ 1022: adding to it leaves k's last bits where a double has its exponent.
template <class V>
inline V power_of_two(const V& k) {
  return (V)((BitsOf<V>)(k + (0x1.8p52 + 1023)) << 52);
}

/// Cut to an integer, below 2^51.
template <class V>
inline V cut(const V& x) {
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
inline Exponential<V> exponential_parts(const V& x) {
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
inline V exp_of(const V& given) {
  V x = given > 800 ? V{} + 800 : given;
  x = x < -800 ? V{} - 800 : x;
  const Exponential<V> e = exponential_parts(x);
  const SumOfTwo<V> sum = two_sum<V>(V{} + 1, e.first);
  const V half = cut<V>(e.k * 0.5);
  return (sum.high + (sum.low + e.second)) * power_of_two<V>(half) * power_of_two<V>(e.k - half);
}

template <class V>
inline V tanh_of(const V& a) {
  // Where all are as good as signs, as in models that compile into saturated units, there is nothing to compute.
  const V size = magnitude(a);
  if (!any(~(size > 21))) return with_sign<V>(V{} + 1, a);
  const V x = -2 * size, least = x < -40 ? V{} - 40 : x;
  const Exponential<V> e = exponential_parts(least);
  const V octaves = power_of_two(e.k);
  const SumOfTwo<V> whole = two_sum<V>(octaves, V{} - 1), sum = two_sum<V>(whole.high, octaves * e.first),
                    below = two_sum<V>(whole.low, octaves * e.second), all = two_sum<V>(sum.high, sum.low + below.high);
  const V less_one = all.high + (all.low + below.low);
  return with_sign<V>(magnitude<V>(less_one / (2 + less_one)), a);
}

/// `least`: below it the result is 0, once rounded.
template <class V>
inline V logistic_of(const V& a, double least) {
  if (!any(~((a > 40) | (a < least)))) return a > 0 ? V{} + 1 : V{};
  return 1 / (1 + exp_of<V>(-a));
}

/// e^x rounded to float, in doubles (simulate/arithmetic/stated_exp.h).
template <class V>
inline auto exp32_of(const V& x) {
  using Floats = Vector<float, kLanesOf<V>>;
  const V most = V{} + 0x1.62e42ep6, least = V{} - 0x1.9fe368p6;
  V clamped = x > most ? most : x;
  clamped = clamped < least ? least : clamped;
  const V inverse = V{} + 0x1.71547652b82fep+5, shifted = fused<V>(inverse, clamped, V{} + 0x1.8p+52);
  const V r = fused<V>(inverse, clamped, -(shifted - 0x1.8p+52));
  const BitsOf<V> k = (BitsOf<V>)shifted;
  BitsOf<V> power;
  for (std::size_t i = 0; i < kLanesOf<V>; ++i) power[i] = static_cast<std::int64_t>(kExpTable[k[i] & 31]);
  power += k << 47;
  const V high = fused<V>(V{} + 0x1.c6af84b912394p-20, r, V{} + 0x1.ebfce50fac4f3p-13),
          low = fused<V>(V{} + 0x1.62e42ff0c52d6p-6, r, V{} + 1.0);
  const V result = fused<V>(high, r * r, low) * (V)power;
  return __builtin_convertvector(x > most ? V{} + __builtin_inf() : x < least ? V{} : result, Floats);
}

/// log(1 + x) for 0 ≤ x < 2^1000.
template <class V>
inline V log1p_of(const V& x) {
  struct Odds {
    SumOfTwo<double> inverses[21];
    constexpr Odds() : inverses{} {
      for (int i = 0; i < 21; ++i)
        inverses[i] = SumOfTwo<double>{1, 0} / SumOfTwo<double>{static_cast<double>(2 * i + 1), 0};
    }
  };
  static constexpr Odds kOdds;
  const SumOfTwo<V> sum = two_sum<V>(V{} + 1, x);
  const BitsOf<V> bits = (BitsOf<V>)sum.high, one = (BitsOf<V>)(V{} + 1);
  const V fraction = (V)((bits & 0xFFFFFFFFFFFFF) | one);
  // A mask is −1 where it holds.
  const BitsOf<V> exponent = ((bits >> 52) - 1023) - (BitsOf<V>)(fraction > 0x1.6a09e667f3bcdp+0);
  const V k = (V)((BitsOf<V>)(V{} + 0x1.8p52) + exponent) - 0x1.8p52, scale = power_of_two<V>(-k);
  const SumOfTwo<V> m{sum.high * scale, sum.low * scale};
  const SumOfTwo<V> f = two_sum<V>(m.high - 1, m.low), s = f / (SumOfTwo<V>{V{} + 2, V{}} + f), square = s * s;
  V tail{};
  for (int i = 20; i >= 4; --i) tail = tail * square.high + kOdds.inverses[i].high;
  SumOfTwo<V> p{tail, V{}};
  for (int i = 3; i >= 0; --i) p = p * square + all_of<V>(kOdds.inverses[i]);
  const SumOfTwo<V> half = s * p, log_of_m{2 * half.high, 2 * half.low};
  constexpr SumOfTwo<double> kLogOf2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  const SumOfTwo<V> whole = all_of<V>(kLogOf2) * SumOfTwo<V>{k, V{}} + log_of_m;
  return x < 0x1p-60 ? x : k == 0 ? log_of_m.high : whole.high;
}

// ---- Formats

/// The nearest number of bf16, ties to even. The numbers are finite, or no number that an operation made.
template <class V>
inline V to_bf16(const V& x) {
  const BitsOf<V> bits = (BitsOf<V>)x, odd = (bits >> 16) & 1;
  return (V)((bits + 0x7FFF + odd) & static_cast<std::int32_t>(0xFFFF0000));
}

/// Doubles as floats whose rounding to bf16 is that of the doubles: rounded to odd, so that no tie is made.
template <class V>
inline auto to_odd_floats(const V& x) {
  using Floats = Vector<float, kLanesOf<V>>;
  const Floats nearest = __builtin_convertvector(x, Floats);
  const V back = __builtin_convertvector(nearest, V), size = magnitude(x), other = magnitude(back);
  // −1, 0 or 1 unit of the last place, as integers as wide as a float's.
  const BitsOf<Floats> away =
      __builtin_convertvector((BitsOf<V>)(other > size) - (BitsOf<V>)(other < size), BitsOf<Floats>);
  const BitsOf<Floats> bits = (BitsOf<Floats>)nearest;
  const BitsOf<Floats> is_even = (bits & 1) - 1, is_finite = (BitsOf<Floats>)(magnitude(nearest) < __builtin_inff());
  return (Floats)(bits + (away & is_even & is_finite));
}

struct InFp64 {
  using Real = double;
  template <class V>
  static V rounded(const V& x) {
    return x;
  }
  template <class V>
  static V of_doubles(const V& x) {
    return x;
  }
};
struct InFp32 {
  using Real = float;
  template <class V>
  static V rounded(const V& x) {
    return x;
  }
  template <class V>
  static auto of_doubles(const V& x) {
    return __builtin_convertvector(x, Vector<float, kLanesOf<V>>);
  }
};
struct InBf16 {
  using Real = float;
  template <class V>
  static V rounded(const V& x) {
    if constexpr (std::is_same_v<V, float>)
      return to_bf16(Vector<float, 4>{x})[0];
    else
      return to_bf16(x);
  }
  template <class V>
  static auto of_doubles(const V& x) {
    return to_bf16(to_odd_floats(x));
  }
};

/// Whether a function goes by way of doubles: then as many numbers at a time as a vector has doubles.
constexpr bool is_by_doubles(StepFunction function) { return function >= StepFunction::kSigmoid; }

/// The result of one step on vectors of the format's numbers.
template <class Format, StepFunction kFunction, class V>
inline V value_of(const V& a, const V& b) {
  using enum StepFunction;
  using Real = typename Format::Real;
  const auto rounded = [](const V& x) { return Format::rounded(x); };
  if constexpr (kFunction == kCopy) return a;
  if constexpr (kFunction == kAdd) return rounded(a + b);
  if constexpr (kFunction == kSubtract) return rounded(a - b);
  if constexpr (kFunction == kMultiply) return rounded(a * b);
  if constexpr (kFunction == kDivide) return rounded(a / b);
  if constexpr (kFunction == kGreater) return a < b ? b : a;
  if constexpr (kFunction == kRoot) {
    V roots;
    for (std::size_t i = 0; i < kLanesOf<V>; ++i)
      if constexpr (sizeof(Real) == 4)
        roots[i] = __builtin_sqrtf(a[i]);
      else
        roots[i] = __builtin_sqrt(a[i]);
    return rounded(roots);
  }
  if constexpr (kFunction == kBf16) {
    if constexpr (sizeof(Real) == 4)
      return to_bf16(a);
    else
      return __builtin_convertvector(to_bf16(to_odd_floats(a)), V);
  }
  if constexpr (is_by_doubles(kFunction)) {
    using Doubles = Vector<double, kLanesOf<V>>;
    const auto of = [](const auto& x) -> V {
      if constexpr (std::is_same_v<std::decay_t<decltype(x)>, V>)
        return Format::rounded(x);
      else if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Doubles>)
        return Format::of_doubles(x);
      else
        return __builtin_convertvector(x, V);
    };
    const Doubles x = __builtin_convertvector(a, Doubles), y = __builtin_convertvector(b, Doubles);
    if constexpr (kFunction == kSigmoid) return rounded(a / rounded(1 + of(exp_of<Doubles>(-y))));
    if constexpr (kFunction == kSigmoid32) return rounded(a / rounded(1 + of(exp32_of<Doubles>(-y))));
    if constexpr (kFunction == kExp) return of(exp_of(x));
    if constexpr (kFunction == kExp32) return of(exp32_of(x));
    if constexpr (kFunction == kSoftplus)
      return rounded((a > 0 ? a : V{}) + of(log1p_of<Doubles>(exp_of<Doubles>(-magnitude(x)))));
    if constexpr (kFunction == kSoftplus32)
      return a > 20 ? a : of(log1p_of<Doubles>(__builtin_convertvector(exp32_of(x), Doubles)));
    if constexpr (kFunction == kLogistic) return of(logistic_of<Doubles>(x, sizeof(Real) == 4 ? -110 : -800));
    if constexpr (kFunction == kTanh) return of(tanh_of(x));
    if constexpr (kFunction == kSoftplus64) return a > 20 ? a : of(log1p_of<Doubles>(exp_of(x)));
    if constexpr (kFunction == kLogSigmoid)
      return of(Doubles((x < 0 ? x : Doubles{}) - log1p_of<Doubles>(exp_of<Doubles>(-magnitude(x)))));
    if constexpr (kFunction == kCosine || kFunction == kSine) {
      Doubles turned;
      for (std::size_t i = 0; i < kLanesOf<V>; ++i)
        turned[i] = kFunction == kCosine ? stated::cos(x[i]) : stated::sin(x[i]);
      return of(turned);
    }
  }
}

}  // namespace
}  // namespace krohn
