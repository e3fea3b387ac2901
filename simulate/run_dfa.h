// simulate/run_dfa.h — one automaton over very many letters: several letters a step, several words at once, all
// threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "automata/dfa.h"
#include "simulate/packed_word.h"
#include "simulate/state_maps.h"
#include "simulate/stride_table.h"
#include "simulate/word.h"

namespace krohn {

struct RunnerOptions {
  unsigned threads = 0;  ///< 0: all
  /// A table of several letters a step has at most this many entries of 4 bytes, so that it stays in the second-level
  /// cache, and at most one for every letter expected.
  std::uint64_t max_table_entries = std::uint64_t{1} << 18;
  std::uint64_t expected_letters = UINT64_MAX;
  bool split_long_words = true;  ///< off: one long word runs on one thread
};

/// An automaton made ready to run. What it returns is what `Dfa::run` returns, whatever the paths and threads. It keeps
/// its own tables and no reference to the automaton; all functions are const and may be called from several threads.
class Runner {
 public:
  /// O(n k^s) for the table of s letters a step: the most that divide a packed byte and keep within the options. Throws
  /// LimitError from 2^32 transitions on.
  explicit Runner(const Dfa& dfa, const RunnerOptions& options = {});

  /// One line for reports: letters a step, streams, threads, whether long words are split by composition.
  std::string description() const;

  /// The final state of every word, from the initial state. Words of like length run side by side. Throws InputError
  /// when a packed word has other letters than the automaton, or a word a letter that the automaton lacks.
  std::vector<State> run_words(std::span<const Word> words) const;
  std::vector<State> run_words(std::span<const PackedWord> words) const;

  /// The final states of `count` random words of `length` letters: those of (seed, stream first_stream + i), made on
  /// the way. Throws InputError when the automaton has no letters and length > 0.
  std::vector<State> run_random_words(std::uint64_t seed, std::uint64_t first_stream, std::uint64_t count,
                                      std::uint64_t length) const;

  /// One long word. Automata of at most 16 states (64 with AVX-512) split it between threads: every thread composes
  /// the maps of its part, and the parts are applied one after another. Others run it on one thread.
  State run(const PackedWord& word, State from) const;
  State run(std::span<const Letter> word, State from) const;
  /// Letters [first, first + length) of a random word, made on the way.
  State run(const RandomWord& word, std::uint64_t first, std::uint64_t length, State from) const;

 private:
  template <class Source>
  std::vector<State> run_all(const Source& source, std::size_t count) const;
  /// Word `i` from its letter `first` on, letter by letter.
  template <class Source>
  State run_letters(const Source& source, std::size_t i, std::uint64_t first, State from) const;
  template <class Source>
  State run_long(const Source& source, State from) const;
  /// What bytes [first, end) of the one word do to every state.
  template <class Source>
  StateMap composed(const Source& source, std::uint64_t first, std::uint64_t end) const;

  State states_, initial_;
  Letter letters_;
  unsigned threads_;
  StrideTable by_letter_;
  std::optional<StrideTable> by_symbol_;  ///< several letters a step, a whole number of symbols to a packed byte
  std::optional<StateMapTable> maps_;     ///< for packed letters, where long words are split
};

}  // namespace krohn
