// groups/transformations/set_orbit.h — the orbit of sets of points under transformations, and its strongly connected
// components.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/groups/record_set.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

/// All images of the whole set (and, when asked, of every singleton) under products of the generators. Sets are
/// numbered in breadth-first order; number 0 is the whole set. Strongly connected components are the classes of sets
/// that are images of each other; the sets of one class have the same size, and words that map one onto another are
/// bijections between them.
class SetOrbit {
 public:
  using Index = RecordSet::Index;
  enum class Seeds : std::uint8_t { kWholeSet, kWholeSetAndSingletons };

  /// O(sets · generators · degree). All generators must have degree `degree`; throws InputError when not, LimitError
  /// past `max_sets`, naming `--max-sets`.
  static SetOrbit of(std::span<const Transformation> generators, Point degree, Seeds seeds,
                     std::uint64_t max_sets = 2'000'000);

  Index size() const { return sets_.size(); }
  Point degree() const { return degree_; }
  std::uint32_t generators() const { return generators_; }
  Point cardinality(Index set) const { return cardinality_[set]; }
  bool contains(Index set, Point point) const { return (sets_[set][point / 32] >> (point % 32)) & 1; }
  /// The points of a set, increasing. O(degree).
  std::vector<Point> members(Index set) const;
  /// Is every point of `inner` in `outer`? O(degree/32).
  bool is_subset(Index inner, Index outer) const;
  /// With singletons as seeds: the number of {point}.
  Index singleton(Point point) const { return singleton_[point]; }
  /// The number of a set given by its points, if it is in the orbit.
  std::optional<Index> find(std::span<const Point> points) const;

  /// { p·generator : p ∈ set }.
  Index image(Index set, std::uint32_t generator) const { return image_[std::size_t{set} * generators_ + generator]; }
  /// The strongly connected component; images never have a larger number.
  std::uint32_t class_of(Index set) const { return class_of_[set]; }
  std::uint32_t classes() const { return classes_; }

 private:
  SetOrbit(Point degree, std::uint32_t generators)
      : sets_((std::size_t{degree} + 31) / 32), degree_(degree), generators_(generators) {}
  void close(std::span<const Transformation> generators, std::uint64_t max_sets);

  RecordSet sets_;
  Point degree_;
  std::uint32_t generators_;
  std::uint32_t classes_ = 0;
  std::vector<Point> cardinality_;
  std::vector<Index> image_;
  std::vector<Index> singleton_;
  std::vector<std::uint32_t> class_of_;
};

}  // namespace krohn
