#include "krohn/constructions/actions/congruence.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "krohn/groups/union_find.h"

namespace krohn {
namespace {

constexpr Point kNone = UINT32_MAX;

}  // namespace

Point class_count(const Congruence& partition) {
  return partition.empty() ? 0 : *std::max_element(partition.begin(), partition.end()) + 1;
}

Congruence congruence_generated_by(std::span<const Transformation> maps, Point p, Point q) {
  assert(!maps.empty());
  UnionFind<Point> classes(maps[0].degree());
  std::vector<std::pair<Point, Point>> merged;
  if (classes.unite(p, q)) merged.emplace_back(p, q);
  while (!merged.empty()) {
    const auto [a, b] = merged.back();
    merged.pop_back();
    for (const Transformation& map : maps)
      if (classes.unite(map[a], map[b])) merged.emplace_back(map[a], map[b]);
  }
  return classes.classes().first;
}

MirroredPoints::MirroredPoints(std::span<const Transformation> maps) {
  assert(!maps.empty());
  const Point n = maps[0].degree();
  for (const Transformation& map : maps) {
    std::vector<Point>& inverse = inverses_.emplace_back(n);
    for (Point point = 0; point < n; ++point) inverse[map[point]] = point;
  }
  letter_to_.assign(n, kNone);
  letter_to_[0] = 0;
  std::vector<Point> reached{0};
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (std::uint32_t letter = 0; letter < maps.size(); ++letter) {
      const Point next = maps[letter][reached[i]];
      if (letter_to_[next] != kNone) continue;
      letter_to_[next] = letter;
      reached.push_back(next);
    }
  assert(reached.size() == n);
}

Point MirroredPoints::operator[](Point point) const {
  Point mirrored = 0;
  for (Point at = point; at != 0; at = inverses_[letter_to_[at]][at]) mirrored = inverses_[letter_to_[at]][mirrored];
  return mirrored;
}

Congruence join(const Congruence& a, const Congruence& b) {
  assert(a.size() == b.size());
  UnionFind<Point> classes(class_count(a));
  std::vector<Point> first_of_b(a.size(), kNone);
  for (Point point = 0; point < a.size(); ++point) {
    Point& first = first_of_b[b[point]];
    if (first == kNone)
      first = a[point];
    else
      classes.unite(first, a[point]);
  }
  const Congruence joined = classes.classes().first;
  Congruence result(a.size());
  for (Point point = 0; point < a.size(); ++point) result[point] = joined[a[point]];
  return result;
}

Congruence meet(const Congruence& a, const Congruence& b) {
  assert(a.size() == b.size());
  struct Place {
    std::uint64_t both = UINT64_MAX;  // no pair of classes
    Point number = 0;
  };
  std::vector<Place> places(std::bit_ceil(2 * a.size() + 1));
  Point fresh = 0;
  Congruence classes(a.size());
  for (Point point = 0; point < a.size(); ++point) {
    const std::uint64_t both = std::uint64_t{a[point]} << 32 | b[point];
    std::uint64_t place = both * 0x9e3779b97f4a7c15ULL;
    place = (place ^ place >> 32) & (places.size() - 1);
    while (places[place].both != both && places[place].both != UINT64_MAX) place = (place + 1) & (places.size() - 1);
    if (places[place].both != both) places[place] = {both, fresh++};
    classes[point] = places[place].number;
  }
  return classes;
}

Transformation quotient(const Transformation& map, const Congruence& congruence) {
  std::vector<Point> images(class_count(congruence));
  for (Point point = 0; point < map.degree(); ++point) images[congruence[point]] = congruence[map[point]];
  return Transformation::from_images(std::move(images));
}

}  // namespace krohn
