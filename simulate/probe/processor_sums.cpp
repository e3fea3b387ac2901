#include "krohn/simulate/probe/probe_sums.h"

#include <bit>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace krohn {
namespace {

template <class Number>
std::vector<Number> converted(std::span<const double> numbers) {
  return {numbers.begin(), numbers.end()};  // exact: they are numbers of that format
}

// `volatile`: the loops stay what they are written as.

template <class Number>
Number separate(const std::vector<Number>& left, const std::vector<Number>& right) {
  volatile Number sum = left[0] * right[0];
  for (std::size_t i = 1; i < left.size(); ++i) {
    const volatile Number product = left[i] * right[i];
    sum = sum + product;
  }
  return sum;
}

#if defined(__x86_64__)

[[gnu::target("fma")]] double fused(const std::vector<double>& left, const std::vector<double>& right) {
  __m128d sum = _mm_setzero_pd();
  for (std::size_t i = 0; i < left.size(); ++i) sum = _mm_fmadd_sd(_mm_set_sd(left[i]), _mm_set_sd(right[i]), sum);
  return _mm_cvtsd_f64(sum);
}
[[gnu::target("fma")]] float fused(const std::vector<float>& left, const std::vector<float>& right) {
  __m128 sum = _mm_setzero_ps();
  for (std::size_t i = 0; i < left.size(); ++i) sum = _mm_fmadd_ss(_mm_set_ss(left[i]), _mm_set_ss(right[i]), sum);
  return _mm_cvtss_f32(sum);
}
bool has_fused() { return __builtin_cpu_supports("fma"); }

/// Two products at a time into an fp32 sum, which is rounded to bf16 at the end.
[[gnu::target("avx512f,avx512bf16,avx512vl")]] double bf16_dot(std::span<const double> left,
                                                               std::span<const double> right) {
  const auto pair_of = [](std::span<const double> numbers, std::size_t at) {
    const auto short_of = [&](std::size_t i) {
      const double number = i < numbers.size() ? numbers[i] : 0.0;
      return std::bit_cast<std::uint32_t>(static_cast<float>(number)) >> 16;
    };
    return std::bit_cast<__m128bh>(_mm_cvtsi32_si128(static_cast<int>(short_of(at) | short_of(at + 1) << 16)));
  };
  __m128 sum = _mm_setzero_ps();
  for (std::size_t i = 0; i < left.size(); i += 2) sum = _mm_dpbf16_ps(sum, pair_of(left, i), pair_of(right, i));
  const auto rounded = static_cast<std::uint32_t>(_mm_cvtsi128_si32(std::bit_cast<__m128i>(_mm_cvtneps_pbh(sum))));
  return std::bit_cast<float>(rounded << 16);
}
bool has_bf16_dot() { return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl"); }

#else

template <class Number>
Number fused(const std::vector<Number>& left, const std::vector<Number>& right) {
  Number sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum = std::fma(left[i], right[i], sum);
  return sum;
}
bool has_fused() { return true; }
double bf16_dot(std::span<const double>, std::span<const double>) { return 0; }
bool has_bf16_dot() { return false; }

#endif

template <class Number>
void add_loops(std::vector<Summer>& summers, Precision format) {
  summers.push_back({"separate operations, " + to_string(format), format, [](auto left, auto right) {
                       return static_cast<double>(separate(converted<Number>(left), converted<Number>(right)));
                     }});
  if (!has_fused()) return;
  summers.push_back({"fused operations, " + to_string(format), format, [](auto left, auto right) {
                       return static_cast<double>(fused(converted<Number>(left), converted<Number>(right)));
                     }});
}

}  // namespace

std::vector<Summer> processor_summers() {
  std::vector<Summer> summers;
  add_loops<double>(summers, Precision::kFp64);
  add_loops<float>(summers, Precision::kFp32);
  if (has_bf16_dot()) summers.push_back({"dot products of bf16 (AVX512_BF16)", Precision::kBf16, bf16_dot});
  return summers;
}

}  // namespace krohn
