// simulate/words/word.h — words of any length without storing them: a counter-based generator gives any slice on its
// own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/simulate/words/random_letters.h"

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
  /// The key from which `random_fraction` (simulate/words/random_letters.h) makes the letters.
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

/// Bytes [first, first + out.size()) of the packed form of an endless random word, by simulate/words/random_letters.h.
/// Precondition: at most 256 letters.
void fill_packed(const RandomWord& word, std::uint64_t first, std::span<std::uint8_t> out);

/// Packs whole bytes: `word` has out.size() · letters_per_byte(letters) letters, each below `letters`.
void pack(Letter letters, std::span<const Letter> word, std::span<std::uint8_t> out);

/// Words from somewhere, in order, read once: a file, a generator.
class WordStream {
 public:
  virtual ~WordStream() = default;
  /// Goes to the next word; false at the end. Call it before the first word too.
  virtual bool next_word() = 0;
  /// Reads up to out.size() further letters of this word; 0 at its end.
  virtual std::size_t read(std::span<Letter> out) = 0;
};

/// A UTF-8 text file as one word, in the spelling of Alphabet::parse_word; line ends separate names, and are skipped
/// between characters unless they are letters. Memory: one block of 64 KiB of text and its letters; more only while a
/// bracket or a quote of a name stays open, and then at most 1 MiB.
class WordFile final : public WordStream {
 public:
  /// Opens `path` ("-": standard input). Throws SystemError when it cannot. The alphabet is copied.
  WordFile(const std::string& path, const Alphabet& alphabet);
  /// The same from a stream that outlives this object; `where` begins the messages.
  WordFile(std::istream& stream, std::string where, const Alphabet& alphabet);

  bool next_word() override;
  /// Throws InputError with what parse_word says, SystemError when the file cannot be read on.
  std::size_t read(std::span<Letter> out) override;

 private:
  std::string_view rest() const { return std::string_view(text_).substr(at_); }
  bool refill();
  void parse_block();
  std::size_t find_cut() const;
  void parse(std::size_t length);

  std::ifstream file_;
  std::istream* stream_;
  std::string where_;
  Alphabet alphabet_;
  bool joins_lines_;  ///< line ends are only there to break a long word
  std::string text_;  ///< read; parsed before at_
  std::size_t at_ = 0;
  Word letters_;  ///< parsed, but not handed out before given_
  std::size_t given_ = 0;
  std::uint64_t parsed_ = 0;  ///< letters of this word, in all
  bool started_ = false, word_ended_ = false, text_ended_ = false;
};

}  // namespace krohn
