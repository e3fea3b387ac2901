// simulate/prove/orders/map_sets.h — the sets of maps that words of one shape make in an order, each map with a word
// that makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/groups/record_set.h"
#include "krohn/simulate/prove/orders/ordered_search.h"

namespace krohn {

/// Counts what a search does, for its limits and its progress.
class SearchBudget {
 public:
  explicit SearchBudget(const CertifyOptions& options) : options_(options) {}

  /// The next phase may do as much again.
  void renew() { spent_ = 0; }
  std::uint64_t left() const { return options_.max_pairs - spent_; }
  /// Before one composition or application, with all bytes held. Throws LimitError, naming what was spent.
  void spend(std::uint64_t bytes);
  /// Before many: throws at once when they are more than what is left.
  void require(std::uint64_t count) const;
  std::uint64_t total() const { return total_; }

 private:
  const CertifyOptions& options_;
  std::uint64_t spent_ = 0, total_ = 0;
};

/// One map of a set: its record, and how its word is put together.
struct MadeMap {
  RecordSet::Index record, tree;
  friend bool operator==(const MadeMap& a, const MadeMap& b) { return a.record == b.record; }
};

/// Maps made by the same shape of composition; each record once, in order of arrival.
using MapSet = std::vector<MadeMap>;

/// All maps that a search made, and the sets of them.
class MapSets {
 public:
  MapSets(OrderSystem& system, Letter letters, SearchBudget& budget);

  /// The maps of single letters.
  const MapSet& letters() const { return letters_; }

  /// All maps `second` after `first`.
  MapSet compose(std::span<const MadeMap> second, std::span<const MadeMap> first);
  /// All maps of both, those of `a` first.
  MapSet join(const MapSet& a, const MapSet& b);
  bool same(const MapSet& a, const MapSet& b) const;

  /// Everything that letters make in any association: the least set with the letters that is closed under composition.
  /// Nothing when it would have more than `most` maps. O(maps²).
  std::optional<MapSet> closure(std::size_t most);

  const std::uint32_t* record(const MadeMap& map) const { return records_[map.record].data(); }
  std::size_t size() const { return records_.size(); }
  std::uint64_t bytes() const { return records_.bytes() + trees_.size() * sizeof(Tree); }

  /// Appends a word whose letters, composed in the shape of the set, are the map.
  void append_word(const MadeMap& map, Word& word) const { append_tree(map.tree, word); }

 private:
  static constexpr std::uint32_t kLetter = UINT32_MAX;
  struct Tree {
    std::uint32_t second, first;  ///< trees; or kLetter and a letter
  };

  void append_tree(std::uint32_t tree, Word& word) const;
  MadeMap make(const MadeMap& second, const MadeMap& first);

  OrderSystem& system_;
  SearchBudget& budget_;
  RecordSet records_;
  std::vector<Tree> trees_;
  MapSet letters_;
  std::vector<std::uint32_t> record_;
};

/// B_k, the totals of 2^k letters: all products of two members of B_{k−1}. Once B_k is B_j, the sequence repeats.
class Totals {
 public:
  Totals(MapSets& maps, SearchBudget& budget) : maps_(maps), budget_(budget), levels_{maps.letters()} {}

  /// B_k. Throws LimitError when it, or one before it, would cost more than what is left of the budget.
  const MapSet& operator[](std::size_t k);

  /// Goes on until the sequence repeats. Throws LimitError likewise.
  void find_period();

  /// The number of sets before the sequence repeats, and the k from which on it does.
  std::size_t levels() const { return levels_.size(); }
  std::optional<std::size_t> first_repeated() const { return first_repeated_; }

 private:
  void add_level();

  MapSets& maps_;
  SearchBudget& budget_;
  std::vector<MapSet> levels_;
  std::optional<std::size_t> first_repeated_;
};

}  // namespace krohn
