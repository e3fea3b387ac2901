// automata/monoid/synchronising.h — whether some word takes all states to one, whatever state it begins in.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/automata/monoid/algebra.h"

namespace krohn {

struct Synchronisation {
  Answer answer = Answer::kUnknown;
  Word word;                    ///< with kYes: takes every state to the same; it was run
  bool is_shortest = false;     ///< no shorter word does
  State first = 0, second = 0;  ///< with kNo: two states that no word takes to one
  std::string limit;            ///< with kUnknown
};

/// Decides by the graph of pairs (Černý 1964; Eppstein 1990): a word exists exactly when every two states meet. The
/// word is a shortest one where a breadth-first search over sets of states ends within `max_sets` sets, otherwise that
/// of Eppstein's greedy algorithm. All states count. O(states² · letters) for the answer; unknown where that is more
/// than 2^27 pairs × letters.
Synchronisation synchronise(const Dfa& dfa, std::uint64_t max_sets = std::uint64_t{1} << 18);

/// "by \"baaab\", 5 letters, no shorter word does", "no word takes states 1 and 2 to one", or the limit.
std::string in_words(const Dfa& dfa, const Synchronisation& found);

/// The verdict "synchronising".
Verdict synchronising(const Dfa& dfa);

}  // namespace krohn
