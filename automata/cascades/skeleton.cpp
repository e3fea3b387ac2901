#include "krohn/automata/cascades/skeleton.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "krohn/groups/time_limit.h"

namespace krohn {

/// Per point a bit for every set, in the order of `by_size`: whether the set has it. What lies inside a set is then
/// found for 64 sets at a time. Of more than 256 points a part has columns, and what they let pass is looked at.
class Skeleton::Columns {
 public:
  Columns(const SetOrbit& sets, std::span<const Set> by_size)
      : by_size_(by_size),
        stride_(sets.degree() / (kMostColumns + 1) + 1),
        columns_((sets.degree() + stride_ - 1) / stride_),
        words_((by_size.size() + 63) / 64),
        bits_(columns_ * words_, 0),
        outside_(words_) {
    for (std::size_t i = 0; i < by_size.size(); ++i)
      for (const Point point : sets.members(by_size[i]))
        if (point % stride_ == 0) bits_[point / stride_ * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
  }

  /// Numbers in `by_size`, from `first` on, of the sets inside `set`: increasing.
  void find_inside(const SetOrbit& sets, Set set, std::size_t first, std::vector<std::size_t>& found) {
    const std::size_t begin = first / 64;
    std::fill(outside_.begin() + static_cast<std::ptrdiff_t>(begin), outside_.end(), 0);
    for (std::size_t number = 0; number < columns_; ++number) {
      if (sets.contains(set, static_cast<Point>(number * stride_))) continue;
      const std::uint64_t* column = bits_.data() + number * words_;
      for (std::size_t word = begin; word < words_; ++word) outside_[word] |= column[word];
    }
    for (std::size_t word = begin; word < words_; ++word)
      for (std::uint64_t inside = ~outside_[word]; inside != 0; inside &= inside - 1) {
        const std::size_t number = word * 64 + static_cast<std::size_t>(std::countr_zero(inside));
        if (number < first || number >= sets.size()) continue;
        if (stride_ == 1 || sets.is_subset(by_size_[number], set)) found.push_back(number);
      }
  }

 private:
  static constexpr std::size_t kMostColumns = 256;

  std::span<const Set> by_size_;
  std::size_t stride_, columns_, words_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint64_t> outside_;  ///< of the set at hand: whether a set has a point outside it
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
  Columns columns(sets_, by_size);
  std::vector<std::vector<Set>> tiles(sets_.size());
  std::vector<bool> reached(sets_.size(), false);
  for (Set root = 0; root < sets_.size(); ++root) {
    if (reached[root]) continue;
    TimeLimit::check();
    reached[root] = true;
    tiles[root] = maximal_inside(root, by_size, columns);
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

std::vector<Skeleton::Set> Skeleton::maximal_inside(Set set, std::span<const Set> by_size, Columns& columns) const {
  std::vector<Set> maximal;
  if (sets_.cardinality(set) == 1) return maximal;
  const auto smaller = std::partition_point(
      by_size.begin(), by_size.end(), [&](Set other) { return sets_.cardinality(other) >= sets_.cardinality(set); });
  std::vector<std::size_t> inside;
  columns.find_inside(sets_, set, static_cast<std::size_t>(smaller - by_size.begin()), inside);
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
