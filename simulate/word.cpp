#include "simulate/word.h"

#include "groups/error.h"

namespace krohn {
namespace {

__extension__ typedef unsigned __int128 Wide;

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words that passes BigCrush on counters.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

/// The most base-`letters` digits whose number stays within 2^32, so that the bias of each is at most 2^−32.
std::uint32_t digits_per_block(Letter letters) {
  if (letters == 1) return 64;
  std::uint32_t digits = 0;
  for (std::uint64_t power = letters; power <= (std::uint64_t{1} << 32); power *= letters) ++digits;
  return digits;
}

}  // namespace

RandomWord::RandomWord(Letter letters, std::uint64_t seed, std::uint64_t stream)
    : letters_(letters), seed_(seed), key_(mix(seed + kGolden * mix(stream + kGolden))) {
  if (letters == 0) throw InputError("a random word needs an alphabet of at least one letter");
  per_block_ = digits_per_block(letters);
}

void RandomWord::fill(std::uint64_t first, std::span<Letter> out) const {
  std::uint64_t block = first / per_block_;
  std::uint64_t skip = first % per_block_;
  for (std::size_t done = 0; done < out.size(); ++block, skip = 0) {
    std::uint64_t rest = mix(key_ + kGolden * (block + 1));
    for (std::uint64_t digit = 0; digit < per_block_ && done < out.size(); ++digit) {
      const auto product = static_cast<Wide>(rest) * letters_;
      if (digit >= skip) out[done++] = static_cast<Letter>(product >> 64);
      rest = static_cast<std::uint64_t>(product);
    }
  }
}

Letter RandomWord::at(std::uint64_t position) const {
  Letter letter = 0;
  fill(position, {&letter, 1});
  return letter;
}

Word RandomWord::slice(std::uint64_t first, std::uint64_t length) const {
  Word word(length);
  fill(first, word);
  return word;
}

}  // namespace krohn
