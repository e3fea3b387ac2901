#include "krohn/automata/cascades/skeleton.h"

#include <algorithm>
#include <numeric>

#include "krohn/groups/time_limit.h"

namespace krohn {

/// The sets as words over the points, the rarest point first, in a tree of beginnings: what lies inside a set is found
/// along those branches all of whose points it has. Branches of a few sets are looked at one by one.
class Skeleton::Tree {
 public:
  Tree(const SetOrbit& sets, std::span<const Set> by_size) : sets_(sets), by_size_(by_size), order_(by_size.size()) {
    std::vector<std::size_t> uses(sets.degree(), 0);
    for (const Set set : by_size)
      for (const Point point : sets.members(set)) ++uses[point];
    points_.resize(sets.degree());
    std::iota(points_.begin(), points_.end(), Point{0});
    std::ranges::stable_sort(points_, {}, [&](Point point) { return uses[point]; });
    std::vector<Point> rank(sets.degree());
    for (Point r = 0; r < rank.size(); ++r) rank[points_[r]] = r;
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    nodes_.push_back({0, static_cast<std::uint32_t>(order_.size()), 0, 0, 0});
    for (std::size_t node = 0; node < nodes_.size(); ++node) split(node, rank);
  }

  /// Numbers in `by_size`, from `first` on, of the sets inside `set`: increasing.
  void find_inside(Set set, std::size_t first, std::vector<std::size_t>& found) {
    stack_.assign(1, 0);
    while (!stack_.empty()) {
      const Node node = nodes_[stack_.back()];
      stack_.pop_back();
      for (std::uint32_t child = node.first_child; child < node.first_child + node.children; ++child)
        if (sets_.contains(set, points_[nodes_[child].rank])) stack_.push_back(child);
      const std::uint32_t end = node.children > 0 ? nodes_[node.first_child].begin : node.end;
      for (std::uint32_t i = node.begin; i < end; ++i)
        if (order_[i] >= first && sets_.is_subset(by_size_[order_[i]], set)) found.push_back(order_[i]);
    }
    std::ranges::sort(found);
  }

 private:
  /// A range of `order_`: first what ends here or is not split any more, then what the children have.
  struct Node {
    std::uint32_t begin, end;
    Point rank;  ///< of the last point of the beginning
    std::uint32_t first_child, children;
  };
  static constexpr std::uint32_t kFew = 8;

  /// Sorts a node's sets by their first point past the beginning.
  void split(std::size_t number, const std::vector<Point>& rank) {
    const Node node = nodes_[number];
    if (node.end - node.begin <= kFew) return;
    const Point from = number == 0 ? 0 : node.rank + 1;
    std::vector<std::pair<Point, std::uint32_t>> keyed;  // 0: ends here
    for (std::uint32_t i = node.begin; i < node.end; ++i) {
      Point next = sets_.degree();
      for (const Point point : sets_.members(by_size_[order_[i]]))
        if (rank[point] >= from) next = std::min(next, rank[point]);
      keyed.emplace_back(next == sets_.degree() ? 0 : next + 1, order_[i]);
    }
    std::ranges::sort(keyed);
    nodes_[number].first_child = static_cast<std::uint32_t>(nodes_.size());
    for (std::uint32_t i = 0; i < keyed.size(); ++i) {
      order_[node.begin + i] = keyed[i].second;
      if (keyed[i].first == 0) continue;
      if (i == 0 || keyed[i - 1].first != keyed[i].first) {
        nodes_.push_back({node.begin + i, node.begin + i, keyed[i].first - 1, 0, 0});
        ++nodes_[number].children;
      }
      ++nodes_.back().end;
    }
  }

  const SetOrbit& sets_;
  std::span<const Set> by_size_;
  std::vector<Point> points_;         ///< by rank
  std::vector<std::uint32_t> order_;  ///< numbers in by_size_, by branches
  std::vector<Node> nodes_;           ///< the children of a node side by side
  std::vector<std::uint32_t> stack_;
};

Skeleton Skeleton::of(const Dfa& dfa, std::uint64_t max_sets) {
  std::vector<Transformation> letters;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) letters.push_back(dfa.letter_map(letter));
  Skeleton result(SetOrbit::of(letters, dfa.states(), SetOrbit::Seeds::kWholeSetAndSingletons, max_sets));
  std::vector<Set> by_size(result.sets_.size());
  std::iota(by_size.begin(), by_size.end(), Set{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](Set a, Set b) { return result.sets_.cardinality(a) > result.sets_.cardinality(b); });
  result.find_tiles(by_size);
  result.find_heights(by_size);
  return result;
}

void Skeleton::find_tiles(std::span<const Set> by_size) {
  // The tiles of a class's first set are searched for; those of the others are its images along a spanning tree, which
  // is what makes tile labels mean the same throughout the class.
  Tree tree(sets_, by_size);
  std::vector<std::vector<Set>> tiles(sets_.size());
  std::vector<bool> reached(sets_.size(), false);
  for (Set root = 0; root < sets_.size(); ++root) {
    if (reached[root]) continue;
    TimeLimit::check();
    reached[root] = true;
    tiles[root] = maximal_inside(root, by_size, tree);
    std::vector<Set> queue{root};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      TimeLimit::check();
      for (Letter letter = 0; letter < sets_.generators(); ++letter) {
        const Set to = sets_.image(queue[i], letter);
        if (reached[to] || sets_.class_of(to) != sets_.class_of(root)) continue;
        reached[to] = true;
        for (const Set tile : tiles[queue[i]]) tiles[to].push_back(sets_.image(tile, letter));
        queue.push_back(to);
      }
    }
  }
  tile_begin_.assign(1, 0);
  for (const std::vector<Set>& own : tiles) {
    tiles_.insert(tiles_.end(), own.begin(), own.end());
    tile_begin_.push_back(tiles_.size());
  }
}

std::vector<Skeleton::Set> Skeleton::maximal_inside(Set set, std::span<const Set> by_size, Tree& tree) const {
  std::vector<Set> maximal;
  if (sets_.cardinality(set) == 1) return maximal;
  const auto smaller = std::partition_point(
      by_size.begin(), by_size.end(), [&](Set other) { return sets_.cardinality(other) >= sets_.cardinality(set); });
  std::vector<std::size_t> inside;
  tree.find_inside(set, static_cast<std::size_t>(smaller - by_size.begin()), inside);
  for (const std::size_t number : inside) {
    const Set other = by_size[number];
    const bool covered =
        std::any_of(maximal.begin(), maximal.end(), [&](Set tile) { return sets_.is_subset(other, tile); });
    if (!covered) maximal.push_back(other);
  }
  return maximal;
}

void Skeleton::find_heights(std::span<const Set> by_size) {
  // A strict step down goes to a tile, or to an image in another class. Sets of one size step down among themselves
  // only along images, which never raise the number of the class; so: small sets first, then small class numbers.
  std::vector<Set> order(by_size.rbegin(), by_size.rend());
  std::stable_sort(order.begin(), order.end(), [&](Set a, Set b) {
    return sets_.cardinality(a) != sets_.cardinality(b) ? sets_.cardinality(a) < sets_.cardinality(b)
                                                        : sets_.class_of(a) < sets_.class_of(b);
  });
  height_of_class_.assign(sets_.classes(), 0);
  for (const Set set : order) {
    if (sets_.cardinality(set) == 1) continue;
    std::uint32_t above = 0;
    for (const Set tile : tiles(set)) above = std::max(above, height(tile));
    for (Letter letter = 0; letter < sets_.generators(); ++letter) {
      const Set to = sets_.image(set, letter);
      if (sets_.class_of(to) != sets_.class_of(set)) above = std::max(above, height(to));
    }
    std::uint32_t& own = height_of_class_[sets_.class_of(set)];
    own = std::max(own, 1 + above);
  }
}

}  // namespace krohn
