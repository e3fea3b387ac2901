// automata/questions/lazy_subsets.h — the subset construction, one row at a time and only where it is asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/dfa/nfa.h"

namespace krohn {

/// The deterministic automaton of an Nfa, of which only what was asked for exists. A subset has the states that read a
/// letter or accept, and from which acceptance is possible. 4 bytes a member and 4 a letter for every row.
class LazySubsets {
 public:
  using Index = std::uint32_t;

  /// Keeps a reference to the automaton.
  explicit LazySubsets(const Nfa& nfa);

  static constexpr Index kEmpty = 0;  ///< nothing is accepted from it
  Index initial() const { return initial_; }
  Index size() const { return static_cast<Index>(accepting_.size()); }
  bool accepts(Index subset) const { return accepting_[subset]; }
  /// Ascending. Invalidated by `next`.
  std::span<const State> members(Index subset) const {
    return {members_.data() + first_[subset], first_[subset + 1] - first_[subset]};
  }
  /// True when every member of `inner` is one of `outer`.
  bool is_subset(Index inner, Index outer) const;

  Index next(Index subset, Letter letter);

 private:
  static constexpr std::size_t kNoRow = SIZE_MAX;

  void make_row(Index subset);
  /// Adds what ε-moves reach from the state to `closing_`.
  void close(State state);
  /// The number of the subset in `closing_`, which is left empty.
  Index intern();
  void grow_table();

  const Nfa& nfa_;
  std::vector<bool> useful_, kernel_;
  std::vector<State> members_;
  std::vector<std::size_t> first_;
  std::vector<std::uint64_t> signature_;  ///< a bit for each residue of its members: a quick no
  std::vector<bool> accepting_;
  std::vector<std::size_t> row_of_;
  std::vector<Index> rows_;
  std::vector<Index> table_;  ///< open addressing by members; size() where nothing is
  Index initial_ = kEmpty;

  std::vector<State> closing_, stack_;
  std::vector<std::uint32_t> stamp_;
  std::uint32_t now_ = 0;
  std::vector<std::vector<State>> targets_;  ///< by letter, while a row is made
};

}  // namespace krohn
