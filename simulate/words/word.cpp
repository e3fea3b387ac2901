#include "krohn/simulate/words/word.h"

#include "krohn/groups/error.h"
#include "krohn/simulate/words/random_letters.h"

namespace krohn {

RandomWord::RandomWord(Letter letters, std::uint64_t seed, std::uint64_t stream)
    : letters_(letters), seed_(seed), key_(random_key(seed, stream)) {
  if (letters == 0) throw InputError("a random word needs an alphabet of at least one letter");
  per_block_ = krohn::letters_per_block(letters);
}

void RandomWord::fill(std::uint64_t first, std::span<Letter> out) const {
  std::uint64_t block = first / per_block_;
  std::uint64_t skip = first % per_block_;
  const std::uint64_t bits = random_bits(letters_);
  for (std::size_t done = 0; done < out.size(); ++block, skip = 0) {
    std::uint64_t fraction = random_block(key_, block) & bits;
    for (std::uint64_t digit = 0; digit < per_block_ && done < out.size(); ++digit) {
      const Letter letter = next_letter(fraction, letters_);
      if (digit >= skip) out[done++] = letter;
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
