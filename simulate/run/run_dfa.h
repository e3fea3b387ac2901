// simulate/run/run_dfa.h — one automaton over very many letters: several letters a step, several words at once, all
// threads. docs/results/running.md derives what can be reached.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/transformation_monoid.h"
#include "krohn/simulate/run/state_maps.h"
#include "krohn/simulate/run/stride_table.h"
#include "krohn/simulate/run/symbol_source.h"
#include "krohn/simulate/words/instructions.h"
#include "krohn/simulate/words/packed_word.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

struct MergedStates;
template <class Value>
struct Track;

struct RunnerOptions {
  unsigned threads = 0;  ///< 0: all
  /// A table of several letters a step has at most this many bytes, and at most one entry for every letter expected.
  /// 0: half of this processor's second-level cache.
  std::uint64_t max_table_bytes = 0;
  std::uint64_t expected_letters = UINT64_MAX;
  bool split_long_words = true;  ///< off: one long word runs on one thread
  Instructions instructions = best_instructions();
};

/// An automaton made ready to run. What it returns is what `Dfa::run` returns, whatever the paths and threads. It keeps
/// its own tables and no reference to the automaton; all functions are const and may be called from several threads.
class Runner {
 public:
  /// How one long word is cut into parts that run side by side.
  enum class Split : std::uint8_t {
    kNone,
    kMaps,      ///< what each part does to all states, by byte shuffles (Mytkowicz, Musuvathi, Schulte 2014)
    kElements,  ///< the element of the transition monoid that each part is, by its right Cayley graph
    kMerging,   ///< the few states that remain of all after the beginning of a part; where they do not, kNone
  };

  /// O(n k^s) for the table of s letters a step: the most that divide a packed byte and keep within the options. The
  /// transition monoid is enumerated to at most 2^23 images of states, and one for every letter expected. Throws
  /// LimitError from 2^32 transitions on.
  explicit Runner(const Dfa& dfa, const RunnerOptions& options = {});

  /// One line for reports: letters a step, streams, threads, how long words are split.
  std::string description() const;
  Split split() const { return split_; }

  /// The final state of every word, from the initial state. Words of like length run side by side. Throws InputError
  /// when a packed word has other letters than the automaton, or a word a letter that the automaton lacks.
  std::vector<State> run_words(std::span<const Word> words) const;
  std::vector<State> run_words(std::span<const PackedWord> words) const;

  /// The final states of `count` random words of `length` letters: those of (seed, stream first_stream + i), made on
  /// the way. Throws InputError when the automaton has no letters and length > 0.
  std::vector<State> run_random_words(std::uint64_t seed, std::uint64_t first_stream, std::uint64_t count,
                                      std::uint64_t length) const;

  /// One long word, cut into parts as `split()` says.
  State run(const PackedWord& word, State from) const;
  State run(std::span<const Letter> word, State from) const;
  /// Letters [first, first + length) of a random word, made on the way.
  State run(const RandomWord& word, std::uint64_t first, std::uint64_t length, State from) const;

  /// What those letters do to every state, state ↦ state, read about as fast as from one state: a piece of a word that
  /// runs elsewhere. Nothing where it is cut in no way that allows this (`split()`).
  std::optional<std::vector<State>> effect(const RandomWord& word, std::uint64_t first, std::uint64_t length) const;

 private:
  /// The right Cayley graph of the transition monoid, as an automaton on its elements from the identity.
  struct Elements {
    TransformationMonoid monoid;
    StrideTable table;
    ByteCutter cutter;
  };

  void choose_split(const Dfa& dfa, const RunnerOptions& options, std::uint64_t max_bytes);
  std::optional<Elements> enumerate_elements(const Dfa& dfa, std::uint64_t max_bytes, std::uint64_t max_images) const;
  /// Calls `body(kernel, view)` for the table of several letters where there is one, or else for single letters.
  template <class Source, class Body>
  auto with_table(const Source& source, Body&& body) const;
  template <class Source>
  std::vector<State> run_all(const Source& source, std::size_t count) const;
  /// Word `i` from its letter `first` on, letter by letter.
  template <class Source>
  State run_letters(const Source& source, std::size_t i, std::uint64_t first, State from) const;
  template <class Source>
  State run_long(const Source& source, State from) const;
  /// Letters of a random word up to the next byte of its packed form, which are read one by one.
  Word unaligned_head(const RandomWord& word, std::uint64_t first, std::uint64_t length) const;
  template <class View>
  void apply_maps(const View& view, std::span<State> states) const;
  template <class View>
  void apply_elements(const View& view, std::span<State> states) const;
  template <class Kernel, class View>
  std::optional<std::vector<MergedStates>> merge_parts(const Kernel& kernel, const View& view,
                                                       std::span<const Track<State>> parts) const;
  template <class Kernel, class View>
  State run_by_merging(const Kernel& kernel, const View& view, State from) const;
  template <class Kernel, class View>
  bool apply_by_merging(const Kernel& kernel, const View& view, std::span<State> states) const;

  State states_, initial_;
  Letter letters_;
  unsigned threads_;
  Split split_ = Split::kNone;
  bool words_by_maps_ = false;  ///< many words too are fastest by byte shuffles
  StrideTable by_letter_;
  std::optional<StrideTable> by_symbol_;  ///< a whole number of symbols to a packed byte
  std::optional<ByteCutter> cutter_;      ///< for `by_symbol_`
  std::optional<ByteCutter> whole_;       ///< a packed byte a symbol
  std::optional<StateMapTable> maps_;     ///< for packed letters
  std::optional<Elements> elements_;
};

}  // namespace krohn
