// automata/words/count.h — how many words an acceptor accepts, exactly. A letter that stands for a class of characters
// counts as many times as it has characters.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

using Count = boost::multiprecision::cpp_int;

/// The accepted words of 0, 1, …, `max_length` letters. Throws InputError unless the automaton is an acceptor. The
/// counts have up to length · log₂ k bits for k letters or characters, so a step costs that much per useful transition:
/// O(k n · length²/64) word operations in all, and n counts of memory beside the result.
std::vector<Count> count_words_by_length(const Dfa& dfa, std::uint64_t max_length);

/// The states that the counts sum over: the useful ones (reachable and coaccessible) of an acceptor, renumbered in
/// breadth-first order, with the useful transitions between them, parallel ones together.
class CountingGraph {
 public:
  struct Arc {
    State target;
    std::uint64_t multiplicity;
  };

  explicit CountingGraph(const Dfa& dfa);

  /// Zero when nothing is accepted; otherwise state 0 is the initial one.
  State states() const { return static_cast<State>(arcs_.size()); }
  const std::vector<Arc>& arcs(State state) const { return arcs_[state]; }
  bool accepts(State state) const { return accepting_[state]; }

  /// Words of length 0 that are accepted from each state.
  std::vector<Count> counts_of_empty_word() const;
  /// From the words of some length that are accepted from each state, those of one letter more.
  std::vector<Count> one_letter_more(const std::vector<Count>& counts) const;

 private:
  std::vector<std::vector<Arc>> arcs_;
  std::vector<bool> accepting_;
};

}  // namespace krohn
