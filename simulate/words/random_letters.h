// simulate/words/random_letters.h — the arithmetic of RandomWord (simulate/words/word.h), for the processor and for
// CUDA devices, so that both read the same letters.
#pragma once

#include <cstdint>
#include <span>

#include "krohn/simulate/words/host_device.h"
#include "krohn/simulate/words/instructions.h"

namespace krohn {

// The packed form of a random word straight from its counter, eight blocks at a time
// where the processor can.

/// Bytes [first, first + out.size()) of the packed form (simulate/words/word.h) of the random word with this key
/// over `letters` letters, 1 … 256 of them: a byte is one digit in base k^s of the block's fraction. The same bytes for
/// every `instructions`, which the processor must have. O(out.size()).
void fill_random_bytes(std::uint64_t key, std::uint32_t letters, std::uint64_t first, std::span<std::uint8_t> out,
                       Instructions instructions = best_instructions());

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words that passes BigCrush on counters.
KROHN_HOST_DEVICE constexpr std::uint64_t splitmix_finaliser(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// 2^64 divided by the golden ratio: the step of the counter.
inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

/// The key of a word: one per (seed, stream).
KROHN_HOST_DEVICE constexpr std::uint64_t random_key(std::uint64_t seed, std::uint64_t stream) {
  return splitmix_finaliser(seed + kGolden * splitmix_finaliser(stream + kGolden));
}

/// 64 random bits: block `index` of the word with this key.
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

/// The most letters whose number of combinations fits into a byte: 8 of 2, 5 of 3, 3 of 5, 1 of 17 … 256; 0 of more
/// than 256. One letter is packed like one of two.
KROHN_HOST_DEVICE constexpr std::uint32_t letters_per_byte(std::uint32_t letters) {
  if (letters > 256) return 0;
  const std::uint32_t base = letters < 2 ? 2 : letters;
  std::uint32_t count = 0;
  for (std::uint32_t power = base; power <= 256; power *= base) ++count;
  return count;
}

/// k^s for the s letters of a byte; at most 256. 1 of more than 256 letters.
KROHN_HOST_DEVICE constexpr std::uint32_t combinations_per_byte(std::uint32_t letters) {
  std::uint32_t power = letters > 256 ? 1 : letters;
  while (letters > 1 && power * letters <= 256) power *= letters;
  return power;
}

/// Bytes of packed letters (simulate/words/word.h) that a block gives, for at most 256 letters: all eight where
/// every byte is a combination of letters, otherwise four.
KROHN_HOST_DEVICE constexpr std::uint32_t bytes_per_block(std::uint32_t letters) {
  return letters == 1 || combinations_per_byte(letters) == 256 ? 8 : 4;
}

/// Letters taken from each block, `letters` ≥ 1. Up to 256 letters: those of its bytes. More: the most digits whose
/// number of combinations stays within 2^32.
KROHN_HOST_DEVICE constexpr std::uint32_t letters_per_block(std::uint32_t letters) {
  if (letters <= 256) return bytes_per_block(letters) * letters_per_byte(letters);
  std::uint32_t digits = 0;
  for (std::uint64_t power = letters; power <= (std::uint64_t{1} << 32); power *= letters) ++digits;
  return digits;
}

/// The bits of a block that its letters are made from.
KROHN_HOST_DEVICE constexpr std::uint64_t random_bits(std::uint32_t letters) {
  return letters > 256 || bytes_per_block(letters) == 8 ? ~std::uint64_t{0} : ~std::uint64_t{0xff};
}

/// The fraction of 2^64 whose first digits in base `letters` are the letters of block `index`. Where four bytes are
/// taken, each below 256, the last eight bits of the block are dropped: a product with a base of a byte then fits into
/// 64 bits. No combination of the letters of a block has a probability that is off by more than a part in 2^24 (2^32
/// above 256 letters), and none where the letters are a power of two up to 256.
KROHN_HOST_DEVICE constexpr std::uint64_t random_fraction(std::uint64_t key, std::uint64_t index,
                                                          std::uint32_t letters) {
  return random_block(key, index) & random_bits(letters);
}

/// The letters of a random word from one of them on.
class RandomReader {
 public:
  KROHN_HOST_DEVICE RandomReader(std::uint64_t key, std::uint32_t letters, std::uint64_t first)
      : key_(key), letters_(letters), per_block_(letters_per_block(letters)), block_(first / per_block_) {
    refill();
    for (std::uint64_t skip = first % per_block_; skip > 0; --skip) next();
  }
  KROHN_HOST_DEVICE std::uint32_t next() {
    if (left_ == 0) {
      ++block_;
      refill();
    }
    --left_;
    return next_letter(fraction_, letters_);
  }

 private:
  KROHN_HOST_DEVICE void refill() {
    fraction_ = random_fraction(key_, block_, letters_);
    left_ = per_block_;
  }

  std::uint64_t key_;
  std::uint32_t letters_, per_block_, left_ = 0;
  std::uint64_t block_, fraction_ = 0;
};

}  // namespace krohn
