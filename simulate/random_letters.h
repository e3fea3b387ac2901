// simulate/random_letters.h — the arithmetic of RandomWord (simulate/word.h), for the processor and for CUDA devices,
// so that both read the same letters.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define KROHN_HOST_DEVICE __host__ __device__
#else
#define KROHN_HOST_DEVICE
#endif

namespace krohn {

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words that passes BigCrush on counters.
KROHN_HOST_DEVICE constexpr std::uint64_t splitmix_finaliser(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// 2^64 divided by the golden ratio: the step of the counter.
inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

/// What a word is made from: one key per (seed, stream).
KROHN_HOST_DEVICE constexpr std::uint64_t random_key(std::uint64_t seed, std::uint64_t stream) {
  return splitmix_finaliser(seed + kGolden * splitmix_finaliser(stream + kGolden));
}

/// 64 random bits: block `index` of the word with this key, a fraction of 2^64.
KROHN_HOST_DEVICE constexpr std::uint64_t random_block(std::uint64_t key, std::uint64_t index) {
  return splitmix_finaliser(key + kGolden * (index + 1));
}

/// Takes the next digit in base `letters` off the fraction: the integer part of fraction · letters, whose rest stays.
KROHN_HOST_DEVICE inline std::uint32_t next_letter(std::uint64_t& fraction, std::uint32_t letters) {
#ifdef __CUDA_ARCH__
  const std::uint64_t digit = __umul64hi(fraction, letters);
  fraction *= letters;
  return static_cast<std::uint32_t>(digit);
#else
  __extension__ typedef unsigned __int128 Wide;
  const auto product = static_cast<Wide>(fraction) * letters;
  fraction = static_cast<std::uint64_t>(product);
  return static_cast<std::uint32_t>(product >> 64);
#endif
}

/// Digits taken from each block: the most whose number of combinations stays within 2^32, so that the bias of each is
/// at most 2^−32. 64 when there is one letter. `letters` ≥ 1.
KROHN_HOST_DEVICE constexpr std::uint32_t letters_per_block(std::uint32_t letters) {
  if (letters == 1) return 64;
  std::uint32_t digits = 0;
  for (std::uint64_t power = letters; power <= (std::uint64_t{1} << 32); power *= letters) ++digits;
  return digits;
}

}  // namespace krohn
