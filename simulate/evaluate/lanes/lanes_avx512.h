// simulate/evaluate/lanes/lanes_avx512.h — vectors of AVX-512: 16 floats or 8 doubles, masks in registers of their own.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace krohn {
namespace {

struct Avx512Floats {
  using Number = float;
  using Vector = __m512;
  using Index = __m512i;
  using Mask = __mmask16;
  static constexpr std::size_t width = 16;
  static constexpr std::uint32_t in_registers = 128;  ///< entries of the largest table looked up without a gather

  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Vector a) { _mm512_storeu_ps(to, a); }
  static Vector set(float a) { return _mm512_set1_ps(a); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector subtract(Vector a, Vector b) { return _mm512_sub_ps(a, b); }
  static Vector multiply(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
  static Vector negate(Vector a) { return bits_to_numbers(_mm512_xor_si512(bits(a), _mm512_set1_epi32(INT32_MIN))); }
  static Vector add_where(Mask m, Vector a, Vector b) { return _mm512_mask_add_ps(a, m, a, b); }
  static Vector subtract_where(Mask m, Vector a, Vector b) { return _mm512_mask_sub_ps(a, m, a, b); }
  static Vector select(Mask m, Vector a, Vector b) { return _mm512_mask_blend_ps(m, b, a); }
  static Mask less(Vector a, Vector b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }

  static Index load_index(const std::int32_t* from) { return _mm512_loadu_si512(from); }
  static void store_index(std::int32_t* to, Index a) { _mm512_storeu_si512(to, a); }
  static Index set_index(std::int32_t a) { return _mm512_set1_epi32(a); }
  static Index widen(const std::uint32_t* from) { return _mm512_loadu_si512(from); }
  static void narrow(std::uint32_t* to, Index a) { _mm512_storeu_si512(to, a); }
  static Index and_index(Index a, Index b) { return _mm512_and_si512(a, b); }
  static Index add_index(Index a, Index b) { return _mm512_add_epi32(a, b); }
  /// The low 32 bits of the product.
  static Index multiply_index(Index a, std::uint32_t b) {
    return _mm512_mullo_epi32(a, _mm512_set1_epi32(static_cast<int>(b)));
  }
  static Index shift_right(Index a, std::uint32_t by) {
    return _mm512_srl_epi32(a, _mm_cvtsi32_si128(static_cast<int>(by)));
  }
  static Index set_bit_where(Mask m, Index a, std::int32_t bit) {
    return _mm512_mask_or_epi32(a, m, a, _mm512_set1_epi32(bit));
  }
  static Index select_index(Mask m, Index a, Index b) { return _mm512_mask_blend_epi32(m, b, a); }
  static Mask equal(Index a, Index b) { return _mm512_cmpeq_epi32_mask(a, b); }
  static Mask has_bit(Index a, std::int32_t bit) { return _mm512_test_epi32_mask(a, _mm512_set1_epi32(bit)); }
  static Mask both(Mask a, Mask b) { return _kand_mask16(a, b); }
  static std::uint32_t lanes_of(Mask m) { return _cvtmask16_u32(m); }

  static Index bits(Vector a) { return _mm512_castps_si512(a); }
  static Vector bits_to_numbers(Index a) { return _mm512_castsi512_ps(a); }

  static Vector lookup_1(const float* t, Index i) { return _mm512_permutexvar_ps(i, load(t)); }
  static Vector lookup_2(const float* t, Index i) { return _mm512_permutex2var_ps(load(t), i, load(t + 16)); }
  static Vector lookup_4(const float* t, Index i) {
    return select(has_bit(i, 32), lookup_2(t + 32, i), lookup_2(t, i));
  }
  static Vector lookup_8(const float* t, Index i) {
    return select(has_bit(i, 64), lookup_4(t + 64, i), lookup_4(t, i));
  }
  static Vector gather(const float* t, Index i) { return _mm512_i32gather_ps(i, t, 4); }

  /// To fp16 and back, which the processor does in hardware: nearest, ties to even, subnormal numbers too.
  static Vector round_fp16(Vector a) {
    return _mm512_cvtph_ps(_mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static Vector round_bf16(Vector a) {
    const Index odd = _mm512_and_si512(_mm512_srli_epi32(bits(a), 16), _mm512_set1_epi32(1));
    const Index up = _mm512_add_epi32(_mm512_add_epi32(bits(a), _mm512_set1_epi32(0x7fff)), odd);
    return bits_to_numbers(_mm512_and_si512(up, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
  }
};

struct Avx512Doubles {
  using Number = double;
  using Vector = __m512d;
  using Index = __m512i;
  using Mask = __mmask8;
  static constexpr std::size_t width = 8;
  static constexpr std::uint32_t in_registers = 64;

  static Vector load(const double* from) { return _mm512_loadu_pd(from); }
  static void store(double* to, Vector a) { _mm512_storeu_pd(to, a); }
  static Vector set(double a) { return _mm512_set1_pd(a); }
  static Vector add(Vector a, Vector b) { return _mm512_add_pd(a, b); }
  static Vector subtract(Vector a, Vector b) { return _mm512_sub_pd(a, b); }
  static Vector multiply(Vector a, Vector b) { return _mm512_mul_pd(a, b); }
  static Vector negate(Vector a) {
    return _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(a), _mm512_set1_epi64(INT64_MIN)));
  }
  static Vector add_where(Mask m, Vector a, Vector b) { return _mm512_mask_add_pd(a, m, a, b); }
  static Vector subtract_where(Mask m, Vector a, Vector b) { return _mm512_mask_sub_pd(a, m, a, b); }
  static Vector select(Mask m, Vector a, Vector b) { return _mm512_mask_blend_pd(m, b, a); }
  static Mask less(Vector a, Vector b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }

  static Index load_index(const std::int64_t* from) { return _mm512_loadu_si512(from); }
  static void store_index(std::int64_t* to, Index a) { _mm512_storeu_si512(to, a); }
  static Index set_index(std::int64_t a) { return _mm512_set1_epi64(a); }
  static Index widen(const std::uint32_t* from) {
    return _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static void narrow(std::uint32_t* to, Index a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi64_epi32(a));
  }
  static Index and_index(Index a, Index b) { return _mm512_and_si512(a, b); }
  static Index add_index(Index a, Index b) { return _mm512_add_epi64(a, b); }
  static Index multiply_index(Index a, std::uint32_t b) {
    return _mm512_and_si512(_mm512_mul_epu32(a, _mm512_set1_epi64(b)), _mm512_set1_epi64(0xffffffff));
  }
  static Index shift_right(Index a, std::uint32_t by) {
    return _mm512_srl_epi64(a, _mm_cvtsi32_si128(static_cast<int>(by)));
  }
  static Index set_bit_where(Mask m, Index a, std::int64_t bit) {
    return _mm512_mask_or_epi64(a, m, a, _mm512_set1_epi64(bit));
  }
  static Index select_index(Mask m, Index a, Index b) { return _mm512_mask_blend_epi64(m, b, a); }
  static Mask equal(Index a, Index b) { return _mm512_cmpeq_epi64_mask(a, b); }
  static Mask has_bit(Index a, std::int64_t bit) { return _mm512_test_epi64_mask(a, _mm512_set1_epi64(bit)); }
  static Mask both(Mask a, Mask b) { return _kand_mask8(a, b); }
  static std::uint32_t lanes_of(Mask m) { return _cvtmask8_u32(m); }

  static Index bits(Vector a) { return _mm512_castpd_si512(a); }
  static Vector bits_to_numbers(Index a) { return _mm512_castsi512_pd(a); }

  static Vector lookup_1(const double* t, Index i) { return _mm512_permutexvar_pd(i, load(t)); }
  static Vector lookup_2(const double* t, Index i) { return _mm512_permutex2var_pd(load(t), i, load(t + 8)); }
  static Vector lookup_4(const double* t, Index i) {
    return select(has_bit(i, 16), lookup_2(t + 16, i), lookup_2(t, i));
  }
  static Vector lookup_8(const double* t, Index i) {
    return select(has_bit(i, 32), lookup_4(t + 32, i), lookup_4(t, i));
  }
  static Vector gather(const double* t, Index i) { return _mm512_i64gather_pd(i, t, 8); }
};

}  // namespace
}  // namespace krohn
