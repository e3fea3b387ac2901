// simulate/words/word.h — words of any length without storing them: a counter-based generator gives any slice on its
// own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"

namespace krohn {

/// A uniformly random infinite word over `letters` letters, fixed by (seed, stream). Letter t is a pure function of
/// (seed, stream, t): no state, so slices can be made in any order, on any thread, and on a GPU, and always agree.
/// Each 64-bit block of the generator gives `letters_per_block()` letters, the first digits of a fraction
/// (simulate/words/random_letters.h, where the bias is stated: none for powers of two up to 256, otherwise at most a
/// part in 2^24, which a test of fewer than 2^48 blocks cannot see).
class RandomWord {
 public:
  /// Throws InputError when letters == 0.
  RandomWord(Letter letters, std::uint64_t seed, std::uint64_t stream = 0);

  Letter letters() const { return letters_; }
  std::uint64_t seed() const { return seed_; }
  /// What `random_fraction` (simulate/words/random_letters.h) makes the letters from.
  std::uint64_t key() const { return key_; }
  std::uint32_t letters_per_block() const { return per_block_; }

  /// Letters [first, first + out.size()). O(out.size()).
  void fill(std::uint64_t first, std::span<Letter> out) const;
  Letter at(std::uint64_t position) const;
  Word slice(std::uint64_t first, std::uint64_t length) const;

 private:
  Letter letters_;
  std::uint64_t seed_, key_;
  std::uint32_t per_block_;
};

}  // namespace krohn
