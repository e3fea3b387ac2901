// simulate/evaluate/lanes/lanes_avx2.h — vectors of AVX2 with F16C: 8 floats or 4 doubles, masks as wide as the
// numbers.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace krohn {
namespace {

struct Avx2Floats {
  using Number = float;
  using Vector = __m256;
  using Index = __m256i;
  using Mask = __m256;
  static constexpr std::size_t width = 8;
  static constexpr std::uint32_t in_registers = 32;

  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Vector a) { _mm256_storeu_ps(to, a); }
  static Vector set(float a) { return _mm256_set1_ps(a); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector subtract(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
  static Vector multiply(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  static Vector negate(Vector a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0F)); }
  static Vector add_where(Mask m, Vector a, Vector b) { return select(m, add(a, b), a); }
  static Vector subtract_where(Mask m, Vector a, Vector b) { return select(m, subtract(a, b), a); }
  static Vector select(Mask m, Vector a, Vector b) { return _mm256_blendv_ps(b, a, m); }
  static Mask less(Vector a, Vector b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }

  static Index load_index(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static void store_index(std::int32_t* to, Index a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a); }
  static Index set_index(std::int32_t a) { return _mm256_set1_epi32(a); }
  static Index widen(const std::uint32_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static void narrow(std::uint32_t* to, Index a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a); }
  static Index and_index(Index a, Index b) { return _mm256_and_si256(a, b); }
  static Index add_index(Index a, Index b) { return _mm256_add_epi32(a, b); }
  /// The low 32 bits of the product.
  static Index multiply_index(Index a, std::uint32_t b) {
    return _mm256_mullo_epi32(a, _mm256_set1_epi32(static_cast<int>(b)));
  }
  static Index shift_right(Index a, std::uint32_t by) {
    return _mm256_srl_epi32(a, _mm_cvtsi32_si128(static_cast<int>(by)));
  }
  static Index set_bit_where(Mask m, Index a, std::int32_t bit) {
    return _mm256_or_si256(a, _mm256_and_si256(_mm256_castps_si256(m), _mm256_set1_epi32(bit)));
  }
  static Index select_index(Mask m, Index a, Index b) { return _mm256_blendv_epi8(b, a, _mm256_castps_si256(m)); }
  static Mask equal(Index a, Index b) { return _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)); }
  static Mask has_bit(Index a, std::int32_t bit) {
    return equal(_mm256_and_si256(a, _mm256_set1_epi32(bit)), _mm256_set1_epi32(bit));
  }
  static Mask both(Mask a, Mask b) { return _mm256_and_ps(a, b); }
  static std::uint32_t lanes_of(Mask m) { return static_cast<std::uint32_t>(_mm256_movemask_ps(m)); }

  static Index bits(Vector a) { return _mm256_castps_si256(a); }
  static Vector bits_to_numbers(Index a) { return _mm256_castsi256_ps(a); }

  static Vector lookup_1(const float* t, Index i) { return _mm256_permutevar8x32_ps(load(t), i); }
  static Vector lookup_2(const float* t, Index i) { return select(has_bit(i, 8), lookup_1(t + 8, i), lookup_1(t, i)); }
  static Vector lookup_4(const float* t, Index i) {
    return select(has_bit(i, 16), lookup_2(t + 16, i), lookup_2(t, i));
  }
  static Vector lookup_8(const float* t, Index i) { return gather(t, i); }
  static Vector gather(const float* t, Index i) { return _mm256_i32gather_ps(t, i, 4); }

  static Vector round_fp16(Vector a) {
    return _mm256_cvtph_ps(_mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static Vector round_bf16(Vector a) {
    const Index odd = _mm256_and_si256(_mm256_srli_epi32(bits(a), 16), _mm256_set1_epi32(1));
    const Index up = _mm256_add_epi32(_mm256_add_epi32(bits(a), _mm256_set1_epi32(0x7fff)), odd);
    return bits_to_numbers(_mm256_and_si256(up, _mm256_set1_epi32(static_cast<int>(0xffff0000))));
  }
};

struct Avx2Doubles {
  using Number = double;
  using Vector = __m256d;
  using Index = __m256i;
  using Mask = __m256d;
  static constexpr std::size_t width = 4;
  static constexpr std::uint32_t in_registers = 0;  ///< there is no permutation of doubles by a vector of indices

  static Vector load(const double* from) { return _mm256_loadu_pd(from); }
  static void store(double* to, Vector a) { _mm256_storeu_pd(to, a); }
  static Vector set(double a) { return _mm256_set1_pd(a); }
  static Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
  static Vector subtract(Vector a, Vector b) { return _mm256_sub_pd(a, b); }
  static Vector multiply(Vector a, Vector b) { return _mm256_mul_pd(a, b); }
  static Vector negate(Vector a) { return _mm256_xor_pd(a, _mm256_set1_pd(-0.0)); }
  static Vector add_where(Mask m, Vector a, Vector b) { return select(m, add(a, b), a); }
  static Vector subtract_where(Mask m, Vector a, Vector b) { return select(m, subtract(a, b), a); }
  static Vector select(Mask m, Vector a, Vector b) { return _mm256_blendv_pd(b, a, m); }
  static Mask less(Vector a, Vector b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }

  static Index load_index(const std::int64_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static void store_index(std::int64_t* to, Index a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a); }
  static Index set_index(std::int64_t a) { return _mm256_set1_epi64x(a); }
  static Index widen(const std::uint32_t* from) {
    return _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static void narrow(std::uint32_t* to, Index a) {
    const Index low = _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(low));
  }
  static Index and_index(Index a, Index b) { return _mm256_and_si256(a, b); }
  static Index add_index(Index a, Index b) { return _mm256_add_epi64(a, b); }
  static Index multiply_index(Index a, std::uint32_t b) {
    return _mm256_and_si256(_mm256_mul_epu32(a, _mm256_set1_epi64x(b)), _mm256_set1_epi64x(0xffffffff));
  }
  static Index shift_right(Index a, std::uint32_t by) {
    return _mm256_srl_epi64(a, _mm_cvtsi32_si128(static_cast<int>(by)));
  }
  static Index set_bit_where(Mask m, Index a, std::int64_t bit) {
    return _mm256_or_si256(a, _mm256_and_si256(_mm256_castpd_si256(m), _mm256_set1_epi64x(bit)));
  }
  static Index select_index(Mask m, Index a, Index b) { return _mm256_blendv_epi8(b, a, _mm256_castpd_si256(m)); }
  static Mask equal(Index a, Index b) { return _mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b)); }
  static Mask has_bit(Index a, std::int64_t bit) {
    return equal(_mm256_and_si256(a, _mm256_set1_epi64x(bit)), _mm256_set1_epi64x(bit));
  }
  static Mask both(Mask a, Mask b) { return _mm256_and_pd(a, b); }
  static std::uint32_t lanes_of(Mask m) { return static_cast<std::uint32_t>(_mm256_movemask_pd(m)); }

  static Index bits(Vector a) { return _mm256_castpd_si256(a); }
  static Vector bits_to_numbers(Index a) { return _mm256_castsi256_pd(a); }

  static Vector lookup_1(const double* t, Index i) { return gather(t, i); }
  static Vector lookup_2(const double* t, Index i) { return gather(t, i); }
  static Vector lookup_4(const double* t, Index i) { return gather(t, i); }
  static Vector lookup_8(const double* t, Index i) { return gather(t, i); }
  static Vector gather(const double* t, Index i) { return _mm256_i64gather_pd(t, i, 8); }
};

}  // namespace
}  // namespace krohn
