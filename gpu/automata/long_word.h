// gpu/automata/long_word.h — one automaton over one very long random word, cut into slices that a CUDA device reads
// side by side. What a slice does is known before it is known where it starts; the states are then followed from slice
// to slice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/gpu/automata/word_symbols.cuh"
#include "krohn/gpu/automata/word_tables.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// An automaton made ready to be read in slices.
class SliceTables {
 public:
  /// The result of a slice.
  enum class Kind : std::uint8_t {
    kMaps,      ///< up to 32 states and 256 letters: its map of all states, in registers
    kElements,  ///< the element of the transition monoid that it is, where these and all their images are few
    kLed,       ///< where all states soon meet: its start, to which the letters before it lead, and its end
    kEnds,      ///< the end of every state, each read by itself
  };
  static constexpr std::uint64_t kMaxElements = 4096, kMaxImages = std::uint64_t{1} << 24;
  /// From more states than this a slice would be read more slowly than a processor reads the word.
  static constexpr State kMaxEnds = 1024;

  /// Chooses the kind by the cost of a letter. Throws InputError as SymbolTable does, and for kEnds of more than
  /// kMaxEnds states.
  explicit SliceTables(const Dfa& dfa);

  Kind kind() const { return kind_; }
  /// "maps of all states in registers", …
  std::string description() const;
  const SymbolCut& cut() const { return kind_ == Kind::kMaps ? map_cut_ : table_->cut; }
  /// kMaps: words of a packed map, and the symbols' maps, SymbolMap<map_words()> each.
  std::uint32_t map_words() const { return map_words_; }
  std::span<const std::uint32_t> symbol_maps() const { return symbol_maps_; }
  /// The other kinds: the table, and from how many states every slice is read.
  const SymbolTable& table() const { return *table_; }
  std::uint32_t starts() const { return starts_; }
  /// kLed: blocks before a slice that lead to its start.
  std::uint64_t lead() const { return lead_; }

  /// Numbers that a slice gives.
  std::uint32_t numbers_per_slice() const {
    return kind_ == Kind::kMaps ? map_words_ : kind_ == Kind::kLed ? 2 : starts_;
  }
  /// Slices for so many blocks, of `most` that keep a reader busy: with leads, so few that these are a small part.
  std::uint64_t slices_for(std::uint64_t blocks, std::uint64_t most) const;
  /// From `from` through a slice, given what it gave; nothing where it was led to another start.
  std::optional<State> follow(std::span<const std::uint32_t> numbers, State from) const;

 private:
  bool make_elements(const Dfa& dfa);
  void make_maps(const Dfa& dfa);
  double cost_of_maps() const;
  double cost_of_table() const;

  Kind kind_ = Kind::kEnds;
  SymbolCut map_cut_;
  std::uint32_t map_words_ = 0, starts_ = 1;
  std::uint64_t lead_ = 0;
  std::vector<std::uint32_t> symbol_maps_;
  std::optional<SymbolTable> table_;
  std::vector<State> images_;  ///< of element e from e · states_ on
  State states_;
};

/// A reader of slices: a device, or the processor in its place.
class SliceReader {
 public:
  virtual ~SliceReader() = default;
  /// Slices that keep it busy.
  virtual std::uint64_t slices() const = 0;
  /// tables.numbers_per_slice() numbers of every slice.
  virtual std::vector<std::uint32_t> read(const WordSlices& word) = 0;
};

/// On the device. `tables` must outlive it. Throws SystemError when there is no device or it fails.
std::unique_ptr<SliceReader> cuda_slice_reader(const SliceTables& tables);

/// On the processor, slice by slice through the functions that the kernels call.
std::unique_ptr<SliceReader> reference_slice_reader(const SliceTables& tables, std::uint64_t slices);

/// One automaton over pieces of long words. Gives what `Dfa::run` gives: the start to which a slice was led counts only
/// if the slice before ends there, and otherwise the slice is read again here.
class SlicedRunner {
 public:
  using MakeReader = std::unique_ptr<SliceReader> (*)(const SliceTables&);

  /// `dfa` must outlive this.
  SlicedRunner(const Dfa& dfa, MakeReader make_reader) : dfa_(dfa), tables_(dfa), reader_(make_reader(tables_)) {}
  SlicedRunner(const SlicedRunner&) = delete;
  SlicedRunner& operator=(const SlicedRunner&) = delete;

  const SliceTables& tables() const { return tables_; }

  /// Letters [first, first + length) of the word, read from `from`. Whole blocks are the reader's; the letters before
  /// and after them are read here.
  State run(const RandomWord& word, std::uint64_t first, std::uint64_t length, State from) const;

 private:
  const Dfa& dfa_;
  SliceTables tables_;
  std::unique_ptr<SliceReader> reader_;
};

}  // namespace krohn
