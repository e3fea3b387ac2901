// gpu/automata/random_reader.cuh — a random word letter by letter, from any letter on. For the processor and for CUDA
// devices.
#pragma once

#include <cstdint>

#include "krohn/simulate/words/random_letters.h"

namespace krohn {

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
