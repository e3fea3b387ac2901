// simulate/probe/summation_tree.h — in which order a sum of n terms is taken, as a tree, found by asking for sums.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace krohn {

/// The terms are leaves 0 … terms − 1; node i has the number terms + i, its children come before it, and the last node
/// is the sum. Children are ordered by their first term. A node of more than two children adds them at once, as tensor
/// cores do.
struct SummationTree {
  struct Node {
    std::vector<std::uint32_t> children;
  };
  std::uint32_t terms = 0;
  std::vector<Node> nodes;

  bool is_term(std::uint32_t number) const { return number < terms; }
  const Node& node(std::uint32_t number) const { return nodes[number - terms]; }
  /// Whether every node adds two numbers.
  bool is_binary() const;
  /// Whether term 0 and 1 are added, then term 2 to that, and so on: the order of simulate/arithmetic/apply.h.
  bool is_sequential() const;
};

/// "one after the other", "pairwise", "8 lanes …", or the parentheses of a short sum.
std::string to_string(const SummationTree& tree);

/// The number of terms below the node where terms i ≠ j meet.
using TermsBelow = std::function<std::uint32_t(std::uint32_t i, std::uint32_t j)>;

/// The tree in which `below` holds; nothing where there is none. At most n(n − 1)/2 questions. The method is that of
/// FPRev (Xie, Gao, Zhang & Wu 2024): the terms, by what `below` says of them and term 0, are the branches that meet
/// its way to the root.
std::optional<SummationTree> summation_tree(std::uint32_t terms, const TermsBelow& below);

}  // namespace krohn
