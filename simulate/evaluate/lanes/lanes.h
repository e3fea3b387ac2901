// simulate/evaluate/lanes/lanes.h — numbers side by side, as many as fill a register of the instruction set that the
// translation unit is compiled for. Included by the unit of every set, and nothing else; intrinsics stand where the
// compiler's vectors have no words for an instruction.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "krohn/simulate/evaluate/lanes/lane_program.h"

namespace krohn {
namespace {

template <class T, std::size_t bytes>
struct LaneVectorOf {
  typedef T Type __attribute__((vector_size(bytes)));
};

template <class T>
struct LaneVectors {
  using Number = T;
  using Integer = LaneIndex<T>;
  static constexpr bool is_float = sizeof(T) == sizeof(float);
#if defined(__AVX512F__)
  static constexpr std::size_t bytes = 64;
  static constexpr std::uint32_t in_registers = is_float ? 128 : 64;  ///< entries of a table that is not gathered
#elif defined(__AVX2__)
  static constexpr std::size_t bytes = 32;
  static constexpr std::uint32_t in_registers = is_float ? 32 : 0;  ///< no permutation of doubles by indices
#else
  static constexpr std::size_t bytes = 16;
  static constexpr std::uint32_t in_registers = 0;
#endif
  static constexpr std::size_t width = bytes / sizeof(T);

  using Vector = typename LaneVectorOf<T, bytes>::Type;
  using Index = typename LaneVectorOf<Integer, bytes>::Type;
#ifdef __AVX512F__
  using Mask = std::conditional_t<is_float, __mmask16, __mmask8>;  ///< a bit each, in registers of their own
#else
  using Mask = Index;                                               ///< 0 or −1
#endif
  using Unsigned = typename LaneVectorOf<std::make_unsigned_t<Integer>, bytes>::Type;
  using Words = typename LaneVectorOf<std::uint32_t, width * sizeof(std::uint32_t)>::Type;

  static Vector load(const T* from) { return load_as<Vector>(from); }
  static void store(T* to, Vector a) { __builtin_memcpy(to, &a, sizeof(a)); }
  static Vector set(T a) { return a - Vector{}; }
  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector subtract(Vector a, Vector b) { return a - b; }
  static Vector multiply(Vector a, Vector b) { return a * b; }
  static Vector negate(Vector a) { return -a; }
  static Vector add_where(Mask m, Vector a, Vector b) { return select(m, a + b, a); }
  static Vector subtract_where(Mask m, Vector a, Vector b) { return select(m, a - b, a); }
  static Index set_index(Integer a) { return Index{} + a; }
  static Index widen(const std::uint32_t* from) { return __builtin_convertvector(load_as<Words>(from), Index); }
  static void narrow(std::uint32_t* to, Index a) {
#if defined(__AVX2__) && !defined(__AVX512F__)
    if constexpr (!is_float) {
      const __m256i low = _mm256_permutevar8x32_epi32((__m256i)a, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
      return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(low));
    }
#endif
    const Words words = __builtin_convertvector(a, Words);
    __builtin_memcpy(to, &words, sizeof(words));
  }
  static Index and_index(Index a, Index b) { return a & b; }
  static Index add_index(Index a, Index b) { return a + b; }
  /// The low 32 bits of the product.
  static Index multiply_index(Index a, std::uint32_t b) {
    const auto low = static_cast<Integer>(0xffffffff);
#if defined(__AVX512F__)
    if constexpr (!is_float) return (Index)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(b)) & low;
#elif defined(__AVX2__)
    if constexpr (!is_float) return (Index)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(b)) & low;
#endif
    return (Index)((Unsigned)a * b) & low;
  }
  static Index shift_right(Index a, std::uint32_t by) { return (Index)((Unsigned)a >> by); }

#ifdef __AVX512F__
  static Vector select(Mask m, Vector a, Vector b) {
    if constexpr (is_float) return (Vector)_mm512_mask_blend_ps(m, (__m512)b, (__m512)a);
    return (Vector)_mm512_mask_blend_pd(static_cast<__mmask8>(m), (__m512d)b, (__m512d)a);
  }
  static Mask less(Vector a, Vector b) {
    if constexpr (is_float) return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
    return static_cast<Mask>(_mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ));
  }
  static Index set_bit_where(Mask m, Index a, Integer bit) { return select_index(m, a | bit, a); }
  static Index select_index(Mask m, Index a, Index b) {
    if constexpr (is_float) return (Index)_mm512_mask_blend_epi32(m, (__m512i)b, (__m512i)a);
    return (Index)_mm512_mask_blend_epi64(static_cast<__mmask8>(m), (__m512i)b, (__m512i)a);
  }
  static Mask equal(Index a, Index b) {
    if constexpr (is_float) return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
    return static_cast<Mask>(_mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b));
  }
  static Mask has_bit(Index a, Integer bit) {
    const Index bits = set_index(bit);
    if constexpr (is_float) return _mm512_test_epi32_mask((__m512i)a, (__m512i)bits);
    return static_cast<Mask>(_mm512_test_epi64_mask((__m512i)a, (__m512i)bits));
  }
  static Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
  static std::uint32_t lanes_of(Mask m) { return m; }
#else
  static Vector select(Mask m, Vector a, Vector b) { return m ? a : b; }
  static Mask less(Vector a, Vector b) { return a < b; }
  static Index set_bit_where(Mask m, Index a, Integer bit) { return a | (m & bit); }
  static Index select_index(Mask m, Index a, Index b) { return m ? a : b; }
  static Mask equal(Index a, Index b) { return a == b; }
  static Mask has_bit(Index a, Integer bit) { return (a & bit) == set_index(bit); }
  static Mask both(Mask a, Mask b) { return a & b; }
  static std::uint32_t lanes_of(Mask m) {
#ifdef __AVX2__
    if constexpr (is_float) return static_cast<std::uint32_t>(_mm256_movemask_ps((__m256)m));
    return static_cast<std::uint32_t>(_mm256_movemask_pd((__m256d)m));
#else
    std::uint32_t lanes = 0;
    for (std::size_t i = 0; i < width; ++i) lanes |= m[i] != 0 ? 1U << i : 0U;
    return lanes;
#endif
  }
#endif

  static Index bits(Vector a) { return (Index)a; }

  /// Looks up a table of `registers` vectors, in the registers of one instruction where there is one.
  template <std::size_t registers>
  static Vector lookup(const T* t, Index i) {
    constexpr std::size_t half = registers / 2 * width;
    if constexpr (registers == 1) {
#if defined(__AVX512F__)
      if constexpr (is_float) return (Vector)_mm512_permutexvar_ps((__m512i)i, (__m512)load(t));
      return (Vector)_mm512_permutexvar_pd((__m512i)i, (__m512d)load(t));
#elif defined(__AVX2__)
      if constexpr (is_float) return (Vector)_mm256_permutevar8x32_ps((__m256)load(t), (__m256i)i);
#endif
      return gather(t, i);
    }
#if defined(__AVX512F__)
    if constexpr (registers == 2 && is_float)
      return (Vector)_mm512_permutex2var_ps((__m512)load(t), (__m512i)i, (__m512)load(t + width));
    if constexpr (registers == 2 && !is_float)
      return (Vector)_mm512_permutex2var_pd((__m512d)load(t), (__m512i)i, (__m512d)load(t + width));
#endif
    if constexpr (half > 0)
      return select(has_bit(i, half), lookup<registers / 2>(t + half, i), lookup<registers / 2>(t, i));
  }
  static Vector gather(const T* t, Index i) {
#if defined(__AVX512F__)
    if constexpr (is_float)
      return (Vector)_mm512_i32gather_ps((__m512i)i, t, 4);
    else
      return (Vector)_mm512_i64gather_pd((__m512i)i, t, 8);
#elif defined(__AVX2__)
    if constexpr (is_float)
      return (Vector)_mm256_i32gather_ps(t, (__m256i)i, 4);
    else
      return (Vector)_mm256_i64gather_pd(t, (__m256i)i, 8);
#else
    Vector found;
    for (std::size_t lane = 0; lane < width; ++lane) found[lane] = t[i[lane]];
    return found;
#endif
  }

  static Vector round_bf16(Vector a) {
    const Unsigned u = (Unsigned)a;
    return (Vector)((u + 0x7fffU + (u >> 16 & 1U)) & 0xffff0000U);
  }
  /// Nearest, ties to even, subnormal numbers too; by instructions where there are some.
  static Vector round_fp16(Vector a) {
#if defined(__AVX512F__)
    return (Vector)_mm512_cvtph_ps(_mm512_cvtps_ph((__m512)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__AVX2__)
    return (Vector)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
    // Subnormal numbers round at 2^−24, as a sum with a number whose last place is that; the others at the bit 13
    // places up. From 65520 on the nearest is infinity.
    const Index magnitude = (Index)a & 0x7fffffff;
    const Unsigned u = (Unsigned)magnitude;
    const Vector subnormal = ((Vector)magnitude + 0.75F) - 0.75F;  // 2^23 quanta of 2^−24, and half as many again
    Index rounded = (Index)((u + 0xfffU + (u >> 13 & 1U)) & ~0x1fffU);
    rounded = (rounded >= 0x47800000) & (magnitude <= 0x7f800000) ? Index{} + 0x7f800000 : rounded;
    rounded = magnitude < 0x38800000 ? (Index)subnormal : rounded;
    return (Vector)(rounded | ((Index)a ^ magnitude));
#endif
  }

 private:
  template <class V>
  static V load_as(const void* from) {
    V vector;
    __builtin_memcpy(&vector, from, sizeof(vector));
    return vector;
  }
};

}  // namespace
}  // namespace krohn
