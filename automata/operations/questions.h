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

/// The states of an Nfa that decide its language, numbered 0, 1, …: acceptance is possible from them, and they read a
/// letter or accept; the others are passed by ε-moves.
struct NfaKernel {
  explicit NfaKernel(const Nfa& nfa);

  static constexpr State kNone = UINT32_MAX;
  std::vector<State> number;      ///< of every Nfa state; kNone when it is not in the kernel
  std::vector<State> states;      ///< the Nfa state of every number
  std::vector<bool> useful;       ///< acceptance is possible
  std::vector<bool> accepts_all;  ///< by its loops it accepts every word, and subsets with such a member are one;
  State one_of_these = kNone;     ///< and one of those states. At first there are none
};

/// The deterministic automaton of an Nfa, of which only what was asked for exists; subset 0 is the initial one. A subset
/// is its occupied blocks in increasing order, each a word: which 32 states of the kernel (high half) and which of them
/// (low half), so that sparse and dense subsets both stay small. 4 bytes a letter for every row that is kept.
class LazySubsets {
 public:
  using Index = std::uint32_t;
  using Blocks = std::span<const std::uint64_t>;

  /// Keeps a reference to the automaton.
  LazySubsets(const Nfa& nfa, NfaKernel kernel);
  explicit LazySubsets(const Nfa& nfa) : LazySubsets(nfa, NfaKernel(nfa)) {}

  static constexpr Index initial() { return 0; }
  Index size() const { return static_cast<Index>(accepting_.size()); }
  bool accepts(Index subset) const { return accepting_[subset]; }
  /// Invalidated by `next`.
  Blocks blocks(Index subset) const { return {pool_.data() + ends_[subset], pool_.data() + ends_[subset + 1]}; }
  std::size_t count(Index subset) const;  ///< of members
  /// True when every member of `inner` is one of `outer`.
  bool is_subset(Index inner, Index outer) const;

  Index next(Index subset, Letter letter);
  /// Its successors, a letter each, behind the others; keeps nothing of them.
  void append_row(Index subset, std::vector<Index>& rows);

 private:
  static constexpr Index kFree = UINT32_MAX;
  static constexpr std::size_t kNoRow = SIZE_MAX;

  /// The kernel states that ε-moves reach, in `closed_`.
  Blocks close(std::span<const State> from);
  /// Fills the queue; with one state that accepts all, where any is met.
  void search(std::span<const State> from, bool is_everything);
  Index intern(Blocks subset);
  Index& find(Blocks subset);

  const Nfa& nfa_;
  NfaKernel kernel_;
  std::vector<bool> accepting_;
  std::vector<std::size_t> row_of_;
  std::vector<Index> rows_;
  std::vector<std::uint32_t> bits_;     ///< all zero between calls
  std::vector<std::uint64_t> visited_;  ///< the last visit of every Nfa state
  std::uint64_t visit_ = 0;
  std::vector<State> queue_;
  std::size_t work_ = 0;  ///< states visited since the last look at the clock
  std::vector<std::uint64_t> closed_;
  std::vector<std::vector<State>> by_letter_;
  std::vector<Index> slots_;         ///< open addressing into the subsets
  std::vector<std::uint64_t> pool_;  ///< the blocks of all subsets
  std::vector<std::size_t> ends_;    ///< subset i is pool_[ends_[i] … ends_[i+1])
};

}  // namespace krohn
