// simulate/run/symbol_source.h — where the loops of run_dfa.cpp get their symbols: stored, packed or random words, read
// buffer by buffer as letters or as packed bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "krohn/simulate/words/packed_word.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// Symbols that are fetched at once: eight streams of them leave most of the first-level cache to the table.
inline constexpr std::size_t kSymbolBuffer = 512;

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

/// How a byte of packed letters is cut into symbols of `stride` letters, a divisor of the letters to a byte.
class ByteCutter {
 public:
  ByteCutter(Letter letters, std::uint32_t stride);

  std::uint32_t letters_per_byte() const { return letters_per_byte_; }
  std::uint32_t symbols_per_byte() const { return per_byte_; }
  /// out.size() = symbols_per_byte() · bytes.size().
  void cut(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> out) const;

 private:
  using Symbols = std::array<std::uint8_t, 8>;
  template <std::size_t kPerByte>
  void cut_fixed(std::span<const std::uint8_t> bytes, std::uint8_t* out) const;

  std::uint32_t letters_per_byte_, per_byte_;
  std::vector<Symbols> symbols_;  ///< of every byte
};

// A view gives the symbols that a table of some stride reads: `count(i)` of them in word i. Whoever fetches begins and
// ends at a multiple of `unit()`.

/// A letter a symbol.
template <class Source>
struct LetterView {
  using Symbol = Letter;
  const Source& source;

  std::uint64_t unit() const { return 1; }
  std::uint64_t count(std::size_t i) const { return source.size(i); }
  void fetch(std::size_t i, std::uint64_t first, std::span<Letter> out) const { source.fetch(i, first, out); }
};

/// The whole bytes of a word, each cut into symbols.
template <class Source>
class ByteView {
 public:
  using Symbol = std::uint8_t;

  ByteView(const Source& source, const ByteCutter& cutter) : source_(source), cutter_(cutter) {}

  std::uint64_t unit() const { return cutter_.symbols_per_byte(); }
  std::uint64_t count(std::size_t i) const { return source_.size(i) / cutter_.letters_per_byte() * unit(); }

  void fetch(std::size_t i, std::uint64_t first, std::span<std::uint8_t> out) const {
    if (unit() == 1) return source_.fetch(i, first, out);
    std::array<std::uint8_t, kSymbolBuffer> buffer;
    const std::span<std::uint8_t> bytes(buffer.data(), out.size() / unit());
    source_.fetch(i, first / unit(), bytes);
    cutter_.cut(bytes, out);
  }

 private:
  const Source& source_;
  const ByteCutter& cutter_;
};

}  // namespace krohn
