#include "krohn/automata/cascades/skeleton.h"

#include <algorithm>
#include <numeric>

#include "krohn/groups/time_limit.h"

namespace krohn {

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
  std::vector<std::vector<Set>> tiles(sets_.size());
  std::vector<bool> reached(sets_.size(), false);
  for (Set root = 0; root < sets_.size(); ++root) {
    if (reached[root]) continue;
    TimeLimit::check();
    reached[root] = true;
    tiles[root] = maximal_inside(root, by_size);
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

std::vector<Skeleton::Set> Skeleton::maximal_inside(Set set, std::span<const Set> by_size) const {
  std::vector<Set> maximal;
  if (sets_.cardinality(set) == 1) return maximal;
  const auto smaller = std::partition_point(
      by_size.begin(), by_size.end(), [&](Set other) { return sets_.cardinality(other) >= sets_.cardinality(set); });
  for (auto it = smaller; it != by_size.end(); ++it) {
    if (!sets_.is_subset(*it, set)) continue;
    TimeLimit::check();
    const bool covered =
        std::any_of(maximal.begin(), maximal.end(), [&](Set tile) { return sets_.is_subset(*it, tile); });
    if (!covered) maximal.push_back(*it);
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
