// groups/base/union_find.h — classes of points that only ever merge.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace krohn {

/// A disjoint-set forest with path halving, whose roots are the least points of their classes: the numbering of
/// `classes` is canonical. O(log n) amortised a step.
template <class Index>
class UnionFind {
 public:
  explicit UnionFind(Index points) : parent_(points) { std::iota(parent_.begin(), parent_.end(), Index{0}); }

  /// More points, each alone.
  void grow(Index points) {
    while (parent_.size() < points) parent_.push_back(static_cast<Index>(parent_.size()));
  }

  Index find(Index point) {
    while (parent_[point] != point) point = parent_[point] = parent_[parent_[point]];
    return point;
  }

  /// False when the two were already together.
  bool unite(Index a, Index b) {
    a = find(a), b = find(b);
    if (a == b) return false;
    parent_[std::max(a, b)] = std::min(a, b);
    return true;
  }

  /// The class of every point, numbered in the order of their least points, and how many there are.
  std::pair<std::vector<Index>, Index> classes() {
    std::pair<std::vector<Index>, Index> result{parent_.size(), 0};
    auto& [of, count] = result;
    for (Index point = 0; point < parent_.size(); ++point) {
      const Index root = find(point);
      of[point] = root == point ? count++ : of[root];
    }
    return result;
  }

 private:
  std::vector<Index> parent_;
};

}  // namespace krohn
