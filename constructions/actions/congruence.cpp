#include "krohn/constructions/actions/congruence.h"

#include <algorithm>
#include <cassert>

#include <numeric>
#include <unordered_map>
#include <utility>

namespace krohn {
namespace {

constexpr Point kNone = UINT32_MAX;

class UnionFind {
 public:
  explicit UnionFind(Point points) : parent_(points) { std::iota(parent_.begin(), parent_.end(), Point{0}); }

  Point find(Point point) {
    while (parent_[point] != point) point = parent_[point] = parent_[parent_[point]];
    return point;
  }

  /// Roots are least points, which keeps the numbering of `partition` canonical. False when already together.
  bool unite(Point a, Point b) {
    a = find(a), b = find(b);
    if (a == b) return false;
    parent_[std::max(a, b)] = std::min(a, b);
    return true;
  }

  Congruence partition() {
    Congruence classes(parent_.size(), kNone);
    Point fresh = 0;
    for (Point point = 0; point < parent_.size(); ++point) {
      const Point root = find(point);
      classes[point] = root == point ? fresh++ : classes[root];
    }
    return classes;
  }

 private:
  std::vector<Point> parent_;
};

}  // namespace

Congruence discrete_partition(Point points) {
  Congruence partition(points);
  std::iota(partition.begin(), partition.end(), Point{0});
  return partition;
}

Point class_count(const Congruence& partition) {
  return partition.empty() ? 0 : *std::max_element(partition.begin(), partition.end()) + 1;
}

Congruence congruence_generated_by(std::span<const Transformation> maps, Point p, Point q) {
  assert(!maps.empty());
  UnionFind classes(maps[0].degree());
  std::vector<std::pair<Point, Point>> merged;
  if (classes.unite(p, q)) merged.emplace_back(p, q);
  while (!merged.empty()) {
    const auto [a, b] = merged.back();
    merged.pop_back();
    for (const Transformation& map : maps)
      if (classes.unite(map[a], map[b])) merged.emplace_back(map[a], map[b]);
  }
  return classes.partition();
}

Congruence join(const Congruence& a, const Congruence& b) {
  assert(a.size() == b.size());
  UnionFind classes(static_cast<Point>(a.size()));
  std::vector<Point> first_a(a.size(), kNone), first_b(b.size(), kNone);
  for (Point point = 0; point < a.size(); ++point) {
    if (first_a[a[point]] == kNone) first_a[a[point]] = point;
    if (first_b[b[point]] == kNone) first_b[b[point]] = point;
    classes.unite(point, first_a[a[point]]);
    classes.unite(point, first_b[b[point]]);
  }
  return classes.partition();
}

Congruence meet(const Congruence& a, const Congruence& b) {
  assert(a.size() == b.size());
  std::unordered_map<std::uint64_t, Point> numbers;
  numbers.reserve(a.size());
  Congruence classes(a.size());
  for (Point point = 0; point < a.size(); ++point) {
    const std::uint64_t both = std::uint64_t{a[point]} << 32 | b[point];
    classes[point] = numbers.emplace(both, static_cast<Point>(numbers.size())).first->second;
  }
  return classes;
}

Transformation quotient(const Transformation& map, const Congruence& congruence) {
  std::vector<Point> images(class_count(congruence));
  for (Point point = 0; point < map.degree(); ++point) images[congruence[point]] = congruence[map[point]];
  return Transformation::from_images(std::move(images));
}

}  // namespace krohn
