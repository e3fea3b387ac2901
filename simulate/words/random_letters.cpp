#include "krohn/simulate/words/random_letters.h"

#include <immintrin.h>

#include <algorithm>

#if defined(__x86_64__)
#endif

namespace krohn {
namespace {

/// The constants of a word.
struct Form {
  std::uint64_t key;
  std::uint32_t letters, base, bytes_per_block;
};

/// Bytes [skip, skip + out.size()) of one block.
void fill_from_block(const Form& form, std::uint64_t block, std::uint64_t skip, std::span<std::uint8_t> out) {
  std::uint64_t fraction = random_fraction(form.key, block, form.letters);
  for (std::uint64_t i = 0; i < skip; ++i) next_letter(fraction, form.base);
  for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(next_letter(fraction, form.base));
}

#if defined(__x86_64__)

/// Blocks that one loop makes: two vectors of eight, so that products of one overlap those of the other.
constexpr std::uint64_t kBlocks = 16;
/// The unmasked shifts make GCC 12 warn of its own header's undefined operand.
constexpr __mmask8 kAll = 0xff;

/// Eight blocks from their counters, as `splitmix_finaliser`.
__attribute__((target("avx512f,avx512bw,avx512dq"))) inline __m512i finalised(__m512i x) {
  x = _mm512_xor_si512(x, _mm512_maskz_srli_epi64(kAll, x, 30));
  x = _mm512_mullo_epi64(x, _mm512_set1_epi64(static_cast<long long>(0xbf58476d1ce4e5b9ULL)));
  x = _mm512_xor_si512(x, _mm512_maskz_srli_epi64(kAll, x, 27));
  x = _mm512_mullo_epi64(x, _mm512_set1_epi64(static_cast<long long>(0x94d049bb133111ebULL)));
  return _mm512_xor_si512(x, _mm512_maskz_srli_epi64(kAll, x, 31));
}

/// The counters of `first` and the seven blocks after it.
__attribute__((target("avx512f,avx512bw,avx512dq"))) inline __m512i counters(std::uint64_t key, std::uint64_t first) {
  const __m512i index =
      _mm512_add_epi64(_mm512_set1_epi64(static_cast<long long>(first + 1)), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
  const __m512i golden = _mm512_set1_epi64(static_cast<long long>(kGolden));
  return _mm512_add_epi64(_mm512_set1_epi64(static_cast<long long>(key)), _mm512_mullo_epi64(index, golden));
}

/// All bytes of the blocks, the most significant first: the digits of a fraction in base 256.
__attribute__((target("avx512f,avx512bw,avx512dq"))) void fill_whole_blocks(std::uint64_t key, std::uint64_t block,
                                                                            std::uint64_t count, std::uint8_t* out) {
  const __m512i swap =
      _mm512_maskz_broadcast_i32x4(0xffff, _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  const __m512i step = _mm512_set1_epi64(static_cast<long long>(kGolden * kBlocks));
  __m512i a = counters(key, block), b = counters(key, block + 8);
  for (std::uint64_t i = 0; i < count; i += kBlocks, out += 8 * kBlocks) {
    _mm512_storeu_si512(out, _mm512_shuffle_epi8(finalised(a), swap));
    _mm512_storeu_si512(out + 64, _mm512_shuffle_epi8(finalised(b), swap));
    a = _mm512_add_epi64(a, step);
    b = _mm512_add_epi64(b, step);
  }
}

/// Four digits in base `base` of eight fractions of 56 bits, to four bytes a lane: a product is the digit and 56 bits
/// of rest.
__attribute__((target("avx512f,avx512bw,avx512dq"))) inline __m256i four_digits(__m512i block, __m512i base) {
  const __m512i rest = _mm512_set1_epi64((1LL << 56) - 1);
  __m512i product = _mm512_mullo_epi64(_mm512_maskz_srli_epi64(kAll, block, 8), base);
  __m512i digits = _mm512_maskz_srli_epi64(kAll, product, 56);
  for (int digit = 1; digit < 4; ++digit) {
    product = _mm512_mullo_epi64(_mm512_and_si512(product, rest), base);
    const __m512i top = _mm512_maskz_srli_epi64(kAll, product, 56);
    digits = _mm512_or_si512(digits, _mm512_maskz_slli_epi64(kAll, top, static_cast<unsigned>(8 * digit)));
  }
  return _mm512_maskz_cvtepi64_epi32(kAll, digits);
}

__attribute__((target("avx512f,avx512bw,avx512dq"))) void fill_digits(std::uint64_t key, std::uint32_t base,
                                                                      std::uint64_t block, std::uint64_t count,
                                                                      std::uint8_t* out) {
  const __m512i bases = _mm512_set1_epi64(base);
  const __m512i step = _mm512_set1_epi64(static_cast<long long>(kGolden * kBlocks));
  __m512i a = counters(key, block), b = counters(key, block + 8);
  for (std::uint64_t i = 0; i < count; i += kBlocks, out += 4 * kBlocks) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), four_digits(finalised(a), bases));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 32), four_digits(finalised(b), bases));
    a = _mm512_add_epi64(a, step);
    b = _mm512_add_epi64(b, step);
  }
}

/// Fills whole groups of blocks and returns how many bytes that were.
std::size_t fill_by_vectors(const Form& form, std::uint64_t block, std::span<std::uint8_t> out) {
  const std::uint64_t count = out.size() / form.bytes_per_block / kBlocks * kBlocks;
  if (form.bytes_per_block == 8)
    fill_whole_blocks(form.key, block, count, out.data());
  else
    fill_digits(form.key, form.base, block, count, out.data());
  return count * form.bytes_per_block;
}

#else

std::size_t fill_by_vectors(const Form&, std::uint64_t, std::span<std::uint8_t>) { return 0; }

#endif

}  // namespace

void fill_random_bytes(std::uint64_t key, std::uint32_t letters, std::uint64_t first, std::span<std::uint8_t> out,
                       Instructions instructions) {
  if (letters == 1) return std::fill(out.begin(), out.end(), std::uint8_t{0});
  const Form form{key, letters, combinations_per_byte(letters), bytes_per_block(letters)};
  const auto from_block = [&](std::uint64_t block, std::uint64_t skip) {
    const std::size_t count = std::min<std::size_t>(form.bytes_per_block - skip, out.size());
    fill_from_block(form, block, skip, out.first(count));
    out = out.subspan(count);
  };
  std::uint64_t block = first / form.bytes_per_block;
  if (const std::uint64_t skip = first % form.bytes_per_block; skip != 0) from_block(block++, skip);
  if (instructions >= Instructions::kAvx512) {
    const std::size_t done = fill_by_vectors(form, block, out);
    out = out.subspan(done);
    block += done / form.bytes_per_block;
  }
  while (!out.empty()) from_block(block++, 0);
}

}  // namespace krohn
