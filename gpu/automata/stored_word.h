// gpu/automata/stored_word.h — one long word that lies in memory through an automaton, on a CUDA device: the state at
// its end, or after every letter (gpu/automata/stored_scan.cuh).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/gpu/automata/stored_scan.cuh"
#include "krohn/gpu/device/place.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// Part of a packed word, copied to a place.
class PlacedWord {
 public:
  /// `count` packed bytes from byte `first` on, cut at the word's end.
  PlacedWord(Place place, const PackedWord& word, std::uint64_t first = 0, std::uint64_t count = UINT64_MAX);

  Letter letters() const { return letters_; }
  /// Letters.
  std::uint64_t size() const { return size_; }
  /// Bytes that are full of letters, and the letters after them.
  std::uint64_t whole_bytes() const { return size_ / letters_per_byte(letters_); }
  const Word& tail() const { return tail_; }
  /// All bytes, the last one filled up with letters 0.
  std::uint64_t bytes() const { return bytes_; }
  const PackedVector* vectors() const { return vectors_.data(); }

 private:
  Letter letters_;
  std::uint64_t size_ = 0, bytes_ = 0;
  Word tail_;
  Buffer<PackedVector> vectors_;
};

/// States after every letter of a word, a byte each, in a place.
struct PlacedStates {
  std::uint64_t size = 0;
  Buffer<StatesVector> vectors;

  std::vector<std::uint8_t> values() const;
};

/// In what order tiles tell their totals and their last states on the processor: in the order of their numbers, or all
/// totals before any state and the last tile first, so that every tile looks back to the first. On a device chance
/// decides.
enum class TileOrder : std::uint8_t { kInOrder, kBackwards };

/// An automaton made ready to read stored words. Its tables lie in the place.
class StoredWordRunner {
 public:
  /// The things that are composed.
  enum class Kind : std::uint8_t {
    kMaps,      ///< maps of all states in registers: at most 32 states
    kElements,  ///< elements of the transition monoid, where they are few
    kEnds,      ///< the end of every state, each read by itself: no scan
  };
  static constexpr std::uint64_t kMaxElements = 4096;
  static constexpr State kMaxEnds = 65'536;

  /// Throws InputError for an automaton without letters or with more than 256, or of more than kMaxEnds states whose
  /// monoid is not small; SystemError when there is no device, or it fails.
  StoredWordRunner(Place place, const Dfa& dfa);
  ~StoredWordRunner();
  StoredWordRunner(const StoredWordRunner&) = delete;
  StoredWordRunner& operator=(const StoredWordRunner&) = delete;

  Kind kind() const;
  /// "maps of all states in registers", …
  std::string description() const;

  // Each reads the word once, but for kEnds. They throw InputError when the word has other letters than the automaton,
  // SystemError when the device fails or has too little memory.

  State run(const PlacedWord& word, State from) const;
  /// The same, copied piece by piece: the word may be larger than the device's memory.
  State run(const PackedWord& word, State from) const;
  /// Throws InputError for more than 256 states too. `order` is for tests on the processor.
  PlacedStates states(const PlacedWord& word, State from, TileOrder order = TileOrder::kInOrder) const;
  /// The same into memory that is there, where it is enough.
  void write_states(const PlacedWord& word, State from, PlacedStates& states,
                    TileOrder order = TileOrder::kInOrder) const;

 private:
  class Reader;
  template <class Algebra>
  class Scanner;
  class EndsReader;

  static std::unique_ptr<Reader> make_reader(Place place, const Dfa& dfa);
  void require_letters(Letter letters) const;

  Place place_;
  Letter letters_;
  State state_count_;
  std::vector<State> table_;  ///< by state and letter, for the letters that fill no byte
  std::unique_ptr<Reader> reader_;
};

// The states that an automaton ends in on very many random words: one word per CUDA thread.

/// Word w of the sample is RandomWord(letters, seed, w), cut to `length` letters.
struct RandomSample {
  std::uint64_t words = 1;
  std::uint64_t length = 100;
  std::uint64_t seed = 1;
};

/// How many words of the sample end in each state, one count per state. Every word is made on the device from its
/// counter and run through the table there; only the counts come back. Equal to `reference_final_state_counts` exactly.
/// Throws as SymbolTable does, and SystemError when there is no device or it fails.
std::vector<std::uint64_t> cuda_final_state_counts(const Dfa& dfa, const RandomSample& sample);

/// The same on the processor, word by word through the function that the kernel calls. For speed take
/// `Runner::run_random_words` (simulate/run/run_dfa.h).
std::vector<std::uint64_t> reference_final_state_counts(const Dfa& dfa, const RandomSample& sample);

}  // namespace krohn
