// simulate/models/kernels/training_vectors.h — numbers side by side, as the loops of training use them. Included by the
// translation unit of every instruction set, and nothing else; it includes no library whose inline code those would
// compile anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace krohn {
namespace {

template <class Number, std::size_t kBytes>
struct VectorOf {
  typedef Number Type __attribute__((vector_size(kBytes)));
};
/// `kLanes` numbers, in one register where the instruction set has it.
template <class Number, std::size_t kLanes>
using Vector = typename VectorOf<Number, kLanes * sizeof(Number)>::Type;

template <class V, class Number>
inline V load(const Number* from) {
  V vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class V, class Number>
inline void store(Number* to, const V& vector) {
  std::memcpy(to, &vector, sizeof vector);
}

#if defined(__AVX2__) && !defined(__AVX512VL__)
/// The first `count` of eight numbers.
inline Vector<std::int32_t, 8> first_of_eight(std::size_t count) {
  return Vector<std::int32_t, 8>{0, 1, 2, 3, 4, 5, 6, 7} < static_cast<std::int32_t>(count);
}
#endif

/// The first `count` numbers, and zeros where that is fewer than the vector has.
template <class V, class Number>
inline V load_some(const Number* from, std::size_t count) {
  if (count * sizeof(Number) >= sizeof(V)) return load<V>(from);
  if constexpr (sizeof(Number) == 4) {
#ifdef __AVX512VL__
    const unsigned mask = (1U << count) - 1;
    if constexpr (sizeof(V) == 64)
      return (V)__builtin_ia32_loadups512_mask(from, V{}, static_cast<std::uint16_t>(mask));
    if constexpr (sizeof(V) == 32) return (V)__builtin_ia32_loadups256_mask(from, V{}, static_cast<std::uint8_t>(mask));
#elif defined(__AVX2__)
    if constexpr (sizeof(V) == 32)
      return (V)__builtin_ia32_maskloadps256(reinterpret_cast<const Vector<float, 8>*>(from), first_of_eight(count));
#endif
  }
  V vector{};
  std::memcpy(&vector, from, count * sizeof(Number));
  return vector;
}

template <class V, class Number>
inline void store_some(Number* to, const V& vector, std::size_t count) {
  if (count * sizeof(Number) >= sizeof(V)) return store(to, vector);
  if constexpr (sizeof(Number) == 4) {
#ifdef __AVX512VL__
    const unsigned mask = (1U << count) - 1;
    if constexpr (sizeof(V) == 64) return __builtin_ia32_storeups512_mask(to, vector, static_cast<std::uint16_t>(mask));
    if constexpr (sizeof(V) == 32) return __builtin_ia32_storeups256_mask(to, vector, static_cast<std::uint8_t>(mask));
#elif defined(__AVX2__)
    if constexpr (sizeof(V) == 32)
      return __builtin_ia32_maskstoreps256(reinterpret_cast<Vector<float, 8>*>(to), first_of_eight(count), vector);
#endif
  }
  std::memcpy(to, &vector, count * sizeof(Number));
}

/// The sum of a vector's numbers, by halves.
template <class Real, std::size_t kLanes>
inline Real sum_of(const Vector<Real, kLanes>& v) {
  if constexpr (kLanes == 2) {
    return v[0] + v[1];
  } else if constexpr (kLanes == 4) {
    return sum_of<Real, 2>(__builtin_shufflevector(v, v, 0, 1) + __builtin_shufflevector(v, v, 2, 3));
  } else if constexpr (kLanes == 8) {
    return sum_of<Real, 4>(__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7));
  } else {
    return sum_of<Real, 8>(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                           __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
  }
}

/// Adds the sums of eight vectors, by halves side by side, to the first `count` of eight numbers.
template <class Real, std::size_t kLanes>
inline void add_sums(const Vector<Real, kLanes> (&v)[8], Real* to, std::size_t count) {
  if constexpr (kLanes == 16) {
    using V = Vector<Real, 16>;
    const auto by_eight = [](const V& a, const V& b) {
      return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
             __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    };
    const auto by_four = [](const V& a, const V& b) {
      return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
             __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
    };
    const V left = by_four(by_eight(v[0], v[1]), by_eight(v[2], v[3])),
            right = by_four(by_eight(v[4], v[5]), by_eight(v[6], v[7]));
    const V pairs = __builtin_shufflevector(left, right, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
                    __builtin_shufflevector(left, right, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
    using Eight = Vector<Real, 8>;
    const Eight sums = __builtin_shufflevector(pairs, pairs, 0, 2, 4, 6, 8, 10, 12, 14) +
                       __builtin_shufflevector(pairs, pairs, 1, 3, 5, 7, 9, 11, 13, 15);
    store_some(to, load_some<Eight>(to, count) + sums, count);
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] += sum_of<Real, kLanes>(v[i]);
  }
}

/// eˣ of every number; float: within two units of the last place between −87 and 88, and constant beyond them
/// (polynomial: Cephes' expf).
template <class Real, std::size_t kLanes>
inline Vector<Real, kLanes> exponential(Vector<Real, kLanes> x) {
  using V = Vector<Real, kLanes>;
  if constexpr (sizeof(Real) == sizeof(float)) {
    using Bits = Vector<std::int32_t, kLanes>;
    const V least = V{} - 87.0f, greatest = V{} + 88.0f;
    x = x < least ? least : x;
    x = x > greatest ? greatest : x;
    // The sum's last bits are the integer next to x / log 2: 1.5 · 2²³ leaves no room for a fraction.
    const V shifted = x * 1.44269504088896341f + 12582912.0f, whole = shifted - 12582912.0f;
    const V r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    V p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    return (V)((Bits)p + ((Bits)shifted << 23));  // times 2^whole
  } else {
    for (std::size_t i = 0; i < kLanes; ++i) x[i] = __builtin_exp(x[i]);
    return x;
  }
}

/// 1 / x of numbers from 2⁻¹²⁶ to 2¹²⁶. In 512 bits by an estimate to 14 bits and one step of Newton's, within a unit
/// of the last place: the instruction would take as long as the exponential before it.
template <class Real, std::size_t kLanes>
inline Vector<Real, kLanes> inverse(const Vector<Real, kLanes>& x) {
#ifdef __AVX512F__
  if constexpr (kLanes * sizeof(Real) == 64 && sizeof(Real) == sizeof(float)) {
    const Vector<Real, kLanes> guess = __builtin_ia32_rcp14ps512_mask(x, x, 0xffff);
    return guess + guess * (Real{1} - x * guess);
  }
#endif
  return Real{1} / x;
}

/// 1 / (1 + e⁻ˣ).
template <class Real, std::size_t kLanes>
inline Vector<Real, kLanes> logistic(const Vector<Real, kLanes>& x) {
  return inverse<Real, kLanes>(exponential<Real, kLanes>(-x) + Real{1});
}

/// log(1 + eˣ) = max(x, 0) + log(1 + e^−|x|); float: within three units of the last place. For 0 < e ≤ 1, log(1 + e) is
/// 2 artanh z with z = e / (2 + e) ≤ 1/3, whose series loses a factor of nine a term.
template <class Real, std::size_t kLanes>
inline Vector<Real, kLanes> softplus_of(const Vector<Real, kLanes>& x) {
  using V = Vector<Real, kLanes>;
  constexpr int kTerms = sizeof(Real) == sizeof(float) ? 8 : 17;
  const V e = exponential<Real, kLanes>(x > 0 ? -x : x), z = e * inverse<Real, kLanes>(e + Real{2}), square = z * z;
  V sum = V{} + Real{1} / (2 * kTerms - 1);
  for (int term = kTerms - 2; term >= 0; --term) sum = sum * square + Real{1} / static_cast<Real>(2 * term + 1);
  return (x > 0 ? x : V{}) + (z + z) * sum;
}

/// tanh x. Below 0.625 an odd polynomial (Cephes' tanhf), beyond it 1 − 2 / (1 + e²ˣ) of |x|; float: within three units
/// of the last place. No number stays none.
template <class Real, std::size_t kLanes>
inline Vector<Real, kLanes> hyperbolic_tangent(Vector<Real, kLanes> x) {
  using V = Vector<Real, kLanes>;
  if constexpr (sizeof(Real) == sizeof(float)) {
    const V size = x < 0 ? -x : x, square = x * x;
    V p = square * -5.70498872745e-3f + 2.06390887954e-2f;
    p = p * square - 5.37397155531e-2f;
    p = p * square + 1.33314422036e-1f;
    p = p * square - 3.33332819422e-1f;
    const V far = 1.0f - 2.0f * inverse<Real, kLanes>(exponential<Real, kLanes>(size + size) + 1.0f);
    const V result = size > 0.625f ? (x < 0 ? -far : far) : x + x * square * p;
    return x == x ? result : x;
  } else {
    for (std::size_t i = 0; i < kLanes; ++i) x[i] = __builtin_tanh(x[i]);
    return x;
  }
}

}  // namespace
}  // namespace krohn
