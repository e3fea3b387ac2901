// simulate/run/run_dfa.h — one automaton over very many letters: several letters a step, several words at once, all
// threads. docs/results/running.md derives what can be reached.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/transformations/transformation_monoid.h"
#include "krohn/simulate/run/state_maps.h"
#include "krohn/simulate/words/instructions.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

// Where the loops of run_dfa.cpp get their symbols: stored, packed or random words, read
// buffer by buffer as letters or as packed bytes.

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

/// Symbols [first, end) of word `word` are still to be read; `value` is what the symbols before them led to.
template <class Value>
struct Track {
  std::size_t word;
  std::uint64_t first, end;
  Value value;
};

// A kernel advances kWidth values by as many symbols of its type each, or one value alone.

/// A track is a state.
template <class SymbolType>
struct StateKernel {
  using Symbol = SymbolType;
  using Value = State;
  static constexpr std::size_t kWidth = kStreams;
  const StrideTable& table;

  void run(const std::array<const Symbol*, kWidth>& symbols, std::size_t count,
           std::array<State, kWidth>& states) const {
    table.run(symbols, count, states);
  }
  void run_alone(std::span<const Symbol> symbols, State& state) const { state = table.run(symbols, state); }
};

/// A track is what its bytes do to every state.
struct MapKernel {
  using Symbol = std::uint8_t;
  using Value = StateMap;
  static constexpr std::size_t kWidth = StateMapTable::kParts;
  const StateMapTable& table;

  void run(const StateMapTable::Parts& bytes, std::size_t count, StateMapTable::Maps& maps) const {
    table.compose(bytes, count, maps);
  }
  /// As four tracks that do the same: the tables' instruction has no narrower form.
  void run_alone(std::span<const std::uint8_t> bytes, StateMap& map) const {
    StateMapTable::Parts parts;
    StateMapTable::Maps maps;
    parts.fill(bytes.data());
    maps.fill(map);
    table.compose(parts, bytes.size(), maps);
    map = maps[0];
  }
};

/// The most symbols that are fetched at once: whole bytes.
template <class View>
std::uint64_t symbols_at_once(const View& view) {
  return kSymbolBuffer / view.unit() * view.unit();
}

template <class Kernel, class View>
void run_alone(const Kernel& kernel, const View& view, Track<typename Kernel::Value>& track) {
  std::array<typename Kernel::Symbol, kSymbolBuffer> buffer;
  while (track.first < track.end) {
    const std::span symbols(buffer.data(), std::min(symbols_at_once(view), track.end - track.first));
    view.fetch(track.word, track.first, symbols);
    kernel.run_alone(symbols, track.value);
    track.first += symbols.size();
  }
}

/// Advances up to kWidth tracks by `length` symbols each. Missing tracks are copies of the first one.
template <class Kernel, class View>
void run_abreast(const Kernel& kernel, const View& view, std::span<Track<typename Kernel::Value>* const> tracks,
                 std::uint64_t length) {
  using Symbol = typename Kernel::Symbol;
  std::array<std::array<Symbol, kSymbolBuffer>, Kernel::kWidth> buffers;
  std::array<const Symbol*, Kernel::kWidth> symbols;
  std::array<typename Kernel::Value, Kernel::kWidth> values;
  for (std::size_t i = 0; i < Kernel::kWidth; ++i) {
    symbols[i] = buffers[i < tracks.size() ? i : 0].data();
    values[i] = tracks[i < tracks.size() ? i : 0]->value;
  }
  for (std::uint64_t done = 0; done < length; done += symbols_at_once(view)) {
    const auto count = static_cast<std::size_t>(std::min(symbols_at_once(view), length - done));
    for (std::size_t i = 0; i < tracks.size(); ++i)
      view.fetch(tracks[i]->word, tracks[i]->first + done, std::span(buffers[i].data(), count));
    kernel.run(symbols, count, values);
  }
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    tracks[i]->first += length;
    tracks[i]->value = values[i];
  }
}

/// Runs at most kWidth tracks to their ends: side by side while at least half as many are left, then one by one.
template <class Kernel, class View>
void run_group(const Kernel& kernel, const View& view, std::span<Track<typename Kernel::Value>> tracks) {
  std::vector<Track<typename Kernel::Value>*> left;
  for (auto& track : tracks) left.push_back(&track);
  const auto has_ended = [](const auto* track) { return track->first >= track->end; };
  for (std::erase_if(left, has_ended); left.size() >= Kernel::kWidth / 2; std::erase_if(left, has_ended)) {
    std::uint64_t common = UINT64_MAX;
    for (const auto* track : left) common = std::min(common, track->end - track->first);
    run_abreast(kernel, view, left, common);
  }
  for (auto* track : left) run_alone(kernel, view, *track);
}

/// Runs all tracks to their ends, groups of neighbours on `threads` threads.
template <class Kernel, class View>
void run_tracks(const Kernel& kernel, const View& view, std::span<Track<typename Kernel::Value>> tracks,
                unsigned threads) {
  const std::size_t groups = (tracks.size() + Kernel::kWidth - 1) / Kernel::kWidth;
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(threads))
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t first = group * Kernel::kWidth;
    run_group(kernel, view, tracks.subspan(first, std::min(Kernel::kWidth, tracks.size() - first)));
  }
}

// Where all states are after the beginning of a word, when few places are left: a long
// word of an automaton whose maps collapse can then be cut into parts. (Mytkowicz, Musuvathi, Schulte 2014 call it
// range coalescing.)

/// The map of symbols [first, first + symbols): every state goes to one of `states`.
struct MergedStates {
  std::uint64_t symbols = 0;
  std::vector<State> states;
  /// Index among the states before ↦ index among those after, step by step; the first step starts from all states.
  std::vector<std::vector<State>> steps;

  /// The index in `states` of the place where `state` goes.
  State index_of(State state) const {
    for (const std::vector<State>& step : steps) state = step[state];
    return state;
  }
};

/// Advances the states, eight at a time, by symbols that all of them read.
template <class Symbol>
void advance_all(const StrideTable& table, std::span<const Symbol> symbols, std::vector<State>& states) {
  std::array<const Symbol*, kStreams> same;
  same.fill(symbols.data());
  std::size_t i = 0;
  for (; i + kStreams <= states.size(); i += kStreams) {
    StrideTable::Streams eight;
    std::copy_n(states.begin() + static_cast<std::ptrdiff_t>(i), kStreams, eight.begin());
    table.run(same, symbols.size(), eight);
    std::copy_n(eight.begin(), kStreams, states.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (; i < states.size(); ++i) states[i] = table.run(symbols, states[i]);
}

/// Keeps every state once; returns where each went. `place` has an entry per state of the automaton.
inline std::vector<State> remove_repeats(std::vector<State>& states, std::vector<State>& place) {
  constexpr State kNone = UINT32_MAX;
  std::vector<State> step;
  step.reserve(states.size());
  std::size_t kept = 0;
  for (const State state : states) {
    if (place[state] == kNone) {
      place[state] = static_cast<State>(kept);
      states[kept++] = state;
    }
    step.push_back(place[state]);
  }
  states.resize(kept);
  for (const State state : states) place[state] = kNone;
  return step;
}

/// Reads from symbol `first` of word 0 until all of `count` states have met in one place or `budget` transitions are
/// spent. Nothing when more than `most` places are left then.
template <class View>
std::optional<MergedStates> merge_states(const StrideTable& table, const View& view, State count, std::uint64_t first,
                                         std::uint64_t budget, std::size_t most) {
  constexpr std::uint64_t kBytesAtOnce = 16;
  const std::uint64_t at_once = kBytesAtOnce * view.unit();
  MergedStates merged;
  merged.states.resize(count);
  std::iota(merged.states.begin(), merged.states.end(), State{0});
  std::vector<State> place(count, UINT32_MAX);
  std::array<typename View::Symbol, kSymbolBuffer> buffer;
  const std::span symbols(buffer.data(), at_once);
  for (std::uint64_t spent = 0; merged.states.size() > 1;) {
    spent += merged.states.size() * at_once;
    if (spent > budget) break;
    view.fetch(0, first + merged.symbols, symbols);
    merged.symbols += at_once;
    advance_all(table, std::span<const typename View::Symbol>(symbols), merged.states);
    const std::size_t before = merged.states.size();
    std::vector<State> step = remove_repeats(merged.states, place);
    // Without a meeting the order is the same, and nothing needs to be kept.
    if (merged.states.size() < before) merged.steps.push_back(std::move(step));
  }
  if (merged.states.size() > most) return std::nullopt;
  return merged;
}

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
    kMaps,      ///< the map of each part on all states, by byte shuffles (Mytkowicz, Musuvathi, Schulte 2014)
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

  /// The map of those letters on the states, read about as fast as from one state: a piece of a word that
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
