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

/// The first `count` numbers, and zeros where that is fewer than the vector has.
template <class V, class Number>
inline V load_some(const Number* from, std::size_t count) {
  if (count * sizeof(Number) >= sizeof(V)) return load<V>(from);
#ifdef __AVX512F__
  if constexpr (sizeof(V) == 64 && sizeof(Number) == 4)
    return (V)__builtin_ia32_loadups512_mask(from, V{}, static_cast<unsigned short>((1U << count) - 1));
#endif
  V vector{};
  std::memcpy(&vector, from, count * sizeof(Number));
  return vector;
}

template <class V, class Number>
inline void store_some(Number* to, const V& vector, std::size_t count) {
  if (count * sizeof(Number) >= sizeof(V)) return store(to, vector);
#ifdef __AVX512F__
  if constexpr (sizeof(V) == 64 && sizeof(Number) == 4)
    return __builtin_ia32_storeups512_mask(to, vector, static_cast<unsigned short>((1U << count) - 1));
#endif
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

/// 1 / (1 + e⁻ˣ).
template <class Real, std::size_t kLanes>
inline Vector<Real, kLanes> logistic(const Vector<Real, kLanes>& x) {
  return Real{1} / (exponential<Real, kLanes>(-x) + Real{1});
}

}  // namespace
}  // namespace krohn
