// automata/operations/questions.h — emptiness, disjointness, inclusion, equality of acceptors, deterministic or not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/operations/operations.h"

namespace krohn {

// Acceptors over different alphabets are read over the common refinement, `common_alphabet`: an acceptor rejects every
// word with a letter that it lacks. Words that are returned are over that alphabet, and shortest among those that
// decide the question. Every search polls TimeLimit. A LimitError says below which length no word decides the question.

/// Throws InputError when a letter that only one of them has stands for several valuations of bits, as letters of mata
/// may: their names do not tell whether they overlap, so nothing could be said truly. All questions ask this.
void require_comparable(const Alphabet& a, const Alphabet& b);

struct QuestionLimits {
  std::uint64_t max_pairs = 10'000'000;  ///< pairs of states, of a state and a subset, or of subsets
};

struct DecidingWord {
  std::optional<Word> word;  ///< nothing: no word decides against, so the answer is yes
  bool in_first = false;     ///< it is accepted by the first automaton
  bool in_second = false;    ///< and by the second
  std::uint64_t pairs = 0;   ///< how many the search met
};

/// A word of the language. Breadth-first, O(states + arcs).
DecidingWord accepted_word(const Automaton& automaton, const QuestionLimits& limits = {});

/// A word of both. Pairs of states, at most m·n: nothing is determinised.
DecidingWord common_word(const Automaton& a, const Automaton& b, const QuestionLimits& limits = {});

/// A word of `a` that is not one of `b`. Pairs (state of a, subset of b), of which only those are kept that no other
/// with a smaller subset covers: antichains (De Wulf, Doyen, Henzinger, Raskin, CAV 2006). A pair that is covered by
/// one met as early has no shorter word, so breadth-first order keeps words shortest. Exponential at worst, as the
/// problem is PSPACE-complete; pairs of states when b is deterministic.
DecidingWord excess_word(const Automaton& a, const Automaton& b, const QuestionLimits& limits = {});

/// A word of one and not of the other. Hopcroft and Karp's algorithm where both are deterministic, machines with
/// outputs included (operations.h); otherwise on pairs of subsets made as they are met, and up to congruence while
/// that pays: a pair that unions of earlier pairs imply is skipped (Bonchi, Pous, POPL 2013), and a word that tells it
/// apart tells one of those apart, so words stay shortest.
DecidingWord distinguishing_word(const Automaton& a, const Automaton& b, const QuestionLimits& limits = {});

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
