// automata/monoid/state_pairs.h — pairs of different states read side by side: how long they can stay apart.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// Two states that a word, which is not empty, keeps apart for ever: it takes each to itself.
struct StandingPair {
  State p = 0, q = 0;
  Word word;
};

/// The graph of the unordered pairs of different states that `counts` marks; an arc ends where a state is reached that
/// does not count, or where the two meet.
struct PairPaths {
  bool has_pairs = false;
  std::uint64_t longest = 0;  ///< arcs of a longest path, when there is no cycle
  std::optional<StandingPair> cycle;
};

inline constexpr State kMaxPairedStates = 4000;

/// Depth first. O(n² · letters) time, 5n²/2 bytes. Throws LimitError past kMaxPairedStates.
PairPaths pair_paths(const Dfa& dfa, const std::vector<bool>& counts);

/// A shortest word from a state to one that `goal` takes, if there is one. O(n · letters).
std::optional<Word> shortest_word(const Dfa& dfa, State from, const std::function<bool(State)>& goal,
                                  bool may_be_empty = true);
/// A shortest word from one state to another; there must be one.
Word word_between(const Dfa& dfa, State from, State to);

/// A shortest word that is accepted from one of the states only, if there is one.
std::optional<Word> telling_word(const Dfa& dfa, State p, State q);

}  // namespace krohn
