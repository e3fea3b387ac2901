// simulate/words/packed_word.h — words with several letters to a byte, as fast running wants them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/simulate/words/random_letters.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// Byte i holds letters i·s … i·s + s − 1, the first the most significant, as an s-digit number in base k; missing
/// letters of the last byte are zero.
class PackedWord {
 public:
  /// Throws InputError when letters > 256 or a letter of the word is not below it. O(|word|).
  PackedWord(Letter letters, std::span<const Letter> word);
  /// Letters [0, length) of the random word, without unpacking them on the way. Throws InputError when it has more than
  /// 256 letters.
  PackedWord(const RandomWord& word, std::uint64_t length);

  Letter letters() const { return letters_; }
  std::uint64_t size() const { return size_; }
  Letter at(std::uint64_t position) const;
  /// Letters [first, first + out.size()).
  void copy(std::uint64_t first, std::span<Letter> out) const;
  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  Letter letters_;
  std::uint64_t size_;
  std::vector<std::uint8_t> bytes_;
};

/// Bytes [first, first + out.size()) of the packed form of an endless random word, by simulate/words/random_bytes.h.
/// Precondition: at most 256 letters.
void fill_packed(const RandomWord& word, std::uint64_t first, std::span<std::uint8_t> out);

/// Packs whole bytes: `word` has out.size() · letters_per_byte(letters) letters, each below `letters`.
void pack(Letter letters, std::span<const Letter> word, std::span<std::uint8_t> out);

}  // namespace krohn
