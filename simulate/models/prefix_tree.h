// simulate/models/prefix_tree.h — the prefixes of a batch's words, each once: whatever a model does with a
// prefix does not depend on the word that goes on from it. Short words share most of their letters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// A batch's words in the order of a dictionary: the longest prefix that a word shares with any before it, it shares
/// with the last one.
struct PrefixOrder {
  std::vector<std::uint32_t> words;   ///< of the batch
  std::vector<std::uint32_t> shared;  ///< letters that each has in common with the one before
};

/// O(words · log words + tokens).
PrefixOrder prefix_order(const TrainingBatch& batch);

/// A node is a prefix of at least one letter: its parent is the prefix without the last letter, its position where that
/// letter stands. Nodes are numbered by their letter and then by position, so that those which read one letter lie side
/// by side, whatever the position, and at every position too.
struct PrefixTree {
  static constexpr std::uint32_t kRoot = UINT32_MAX;

  std::size_t positions = 0, letters = 0;
  PrefixOrder order;  ///< within a letter and position, nodes are numbered in it
  std::vector<std::uint32_t> parent;
  std::vector<std::uint32_t> first;  ///< letter · positions + position ↦ its first node, and at the end of all
  std::vector<std::uint32_t> nodes;  ///< word · positions + position ↦ the prefix that ends there

  std::size_t size() const { return parent.size(); }
  std::uint32_t begin(std::size_t letter, std::size_t position) const { return first[letter * positions + position]; }
  std::uint32_t end(std::size_t letter, std::size_t position) const { return first[letter * positions + position + 1]; }
  std::uint32_t node(std::size_t word, std::size_t position) const { return nodes[word * positions + position]; }
};

/// O(words · log words + tokens + letters · positions).
PrefixTree prefix_tree(const TrainingBatch& batch, std::size_t letters);

}  // namespace krohn
