// simulate/symbol_source.h — where the loops of run_dfa.cpp get their symbols: stored, packed or random words, read
// buffer by buffer as letters or as packed bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "simulate/packed_word.h"
#include "simulate/word.h"

namespace krohn {

/// Symbols that are fetched at once: eight streams of them fit into the first-level cache.
inline constexpr std::size_t kSymbolBuffer = 2048;

// A source has words: `size(i)` letters in word i, of which `fetch` gives letters, or bytes of the packed form, from
// `first` on. Ends are the caller's care.

struct StoredWords {
  Letter letters;
  std::span<const std::span<const Letter>> words;

  std::uint64_t size(std::size_t i) const { return words[i].size(); }
  void fetch(std::size_t i, std::uint64_t first, std::span<Letter> out) const {
    std::memcpy(out.data(), words[i].data() + first, out.size_bytes());
  }
  void fetch(std::size_t i, std::uint64_t first, std::span<std::uint8_t> out) const {
    pack(letters, words[i].subspan(first * letters_per_byte(letters)), out);
  }
};

struct PackedWords {
  std::span<const PackedWord> words;

  std::uint64_t size(std::size_t i) const { return words[i].size(); }
  void fetch(std::size_t i, std::uint64_t first, std::span<Letter> out) const { words[i].copy(first, out); }
  void fetch(std::size_t i, std::uint64_t first, std::span<std::uint8_t> out) const {
    std::memcpy(out.data(), words[i].bytes().data() + first, out.size());
  }
};

/// Word i is the beginning of stream `first_stream + i`.
struct RandomWords {
  Letter letters;
  std::uint64_t seed, first_stream, length;

  std::uint64_t size(std::size_t) const { return length; }
  void fetch(std::size_t i, std::uint64_t first, std::span<Letter> out) const {
    RandomWord(letters, seed, first_stream + i).fill(first, out);
  }
  void fetch(std::size_t i, std::uint64_t first, std::span<std::uint8_t> out) const {
    fill_packed(RandomWord(letters, seed, first_stream + i), first, out);
  }
};

/// One word: letters [first, first + length) of a random word, where `first` begins a byte.
struct RandomSlice {
  const RandomWord& word;
  std::uint64_t first, length;

  std::uint64_t size(std::size_t) const { return length; }
  void fetch(std::size_t, std::uint64_t from, std::span<Letter> out) const { word.fill(first + from, out); }
  void fetch(std::size_t, std::uint64_t from, std::span<std::uint8_t> out) const {
    fill_packed(word, first / letters_per_byte(word.letters()) + from, out);
  }
};

// A view gives the symbols that a table of some stride reads: `count(i)` of them in word i.

/// A letter a symbol.
template <class Source>
struct LetterView {
  using Symbol = Letter;
  const Source& source;

  std::uint64_t count(std::size_t i) const { return source.size(i); }
  void fetch(std::size_t i, std::uint64_t first, std::span<Letter> out) const { source.fetch(i, first, out); }
};

/// The whole bytes of a word, each cut into symbols of `stride` letters. The stride divides the letters of a byte into
/// a power of two, so that full buffers hold whole bytes.
template <class Source>
class ByteView {
 public:
  using Symbol = std::uint8_t;

  ByteView(const Source& source, Letter letters, std::uint32_t stride)
      : source_(source), letters_per_byte_(letters_per_byte(letters)), per_byte_(letters_per_byte_ / stride), base_(1) {
    for (std::uint32_t i = 0; i < stride; ++i) base_ *= letters;
  }

  std::uint64_t count(std::size_t i) const { return source_.size(i) / letters_per_byte_ * per_byte_; }

  void fetch(std::size_t i, std::uint64_t first, std::span<std::uint8_t> out) const {
    if (per_byte_ == 1) return source_.fetch(i, first, out);
    std::array<std::uint8_t, kSymbolBuffer> buffer;
    const std::span<std::uint8_t> bytes(buffer.data(), out.size() / per_byte_);
    source_.fetch(i, first / per_byte_, bytes);
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
      std::uint32_t value = bytes[byte];
      for (std::size_t symbol = per_byte_; symbol-- > 0; value /= base_)
        out[byte * per_byte_ + symbol] = static_cast<std::uint8_t>(value % base_);
    }
  }

 private:
  const Source& source_;
  std::uint32_t letters_per_byte_, per_byte_, base_;
};

}  // namespace krohn
