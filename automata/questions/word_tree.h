// automata/questions/word_tree.h — the tree of a breadth-first search, by which the word to a node is found again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/nfa.h"

namespace krohn {

/// The nodes of a search in the order in which they were met, each with its parent and the letter between. Node 0, 1, …
/// may be roots. 12 bytes a node.
class WordTree {
 public:
  using Index = std::uint32_t;
  static constexpr Index kRoot = UINT32_MAX;

  Index size() const { return static_cast<Index>(arcs_.size()); }
  /// `letter` may be kEpsilon: a step that reads nothing.
  Index add(Index parent, Letter letter) {
    const bool reads = parent != kRoot && letter != kEpsilon;
    arcs_.push_back({parent, letter, parent == kRoot ? 0 : arcs_[parent].depth + (reads ? 1U : 0U)});
    return size() - 1;
  }
  std::uint32_t depth(Index node) const { return arcs_[node].depth; }
  Word word_to(Index node) const {
    Word word;
    for (; node != kRoot; node = arcs_[node].parent)
      if (arcs_[node].parent != kRoot && arcs_[node].letter != kEpsilon) word.push_back(arcs_[node].letter);
    std::reverse(word.begin(), word.end());
    return word;
  }

 private:
  struct Arc {
    Index parent;
    Letter letter;
    std::uint32_t depth;
  };
  std::vector<Arc> arcs_;
};

}  // namespace krohn
