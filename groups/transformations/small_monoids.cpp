#include "krohn/groups/transformations/transformation_monoid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

using Set = std::uint32_t;  ///< of maps, by their number in base `degree`

/// All maps of at most three points, with products and renamings.
class Maps {
 public:
  explicit Maps(Point degree) {
    std::uint32_t count = 1;
    for (Point i = 0; i < degree; ++i) count *= degree;
    for (std::uint32_t code = 0; code < count; ++code) {
      std::vector<Point> images(degree);
      std::uint32_t rest = code;
      for (Point& image : images) image = rest % degree, rest /= degree;
      maps_.push_back(Transformation::from_images(std::move(images)));
    }
    identity_ = code_of(Transformation::identity(degree));
    for (const Transformation& f : maps_)
      for (const Transformation& g : maps_) products_.push_back(code_of(f * g));
    for (const Transformation& name : maps_) {
      if (!name.is_permutation()) continue;
      const Permutation p = name.to_permutation(), back = p.inverse();
      std::vector<std::uint32_t>& renamed = renamings_.emplace_back();
      for (const Transformation& f : maps_) {
        std::vector<Point> images(degree);
        for (Point i = 0; i < degree; ++i) images[i] = p[f[back[i]]];
        renamed.push_back(code_of(Transformation::from_images(std::move(images))));
      }
    }
  }

  std::size_t size() const { return maps_.size(); }
  const Transformation& operator[](std::uint32_t code) const { return maps_[code]; }
  std::uint32_t identity() const { return identity_; }

  /// The least monoid that holds the set.
  Set closed(Set set) const {
    set |= Set{1} << identity_;
    for (bool grown = true; grown;) {
      grown = false;
      for (std::uint32_t f = 0; f < size(); ++f)
        for (std::uint32_t g = 0; g < size(); ++g) {
          if (!(set >> f & 1) || !(set >> g & 1)) continue;
          const Set product = Set{1} << products_[f * size() + g];
          grown |= !(set & product), set |= product;
        }
    }
    return set;
  }

  Set least_renaming(Set set) const {
    Set least = UINT32_MAX;
    for (const std::vector<std::uint32_t>& renamed : renamings_) {
      Set other = 0;
      for (std::uint32_t f = 0; f < size(); ++f)
        if (set >> f & 1) other |= Set{1} << renamed[f];
      least = std::min(least, other);
    }
    return least;
  }

 private:
  std::uint32_t code_of(const Transformation& f) const {
    return static_cast<std::uint32_t>(std::ranges::find(maps_, f) - maps_.begin());
  }

  std::vector<Transformation> maps_;
  std::uint32_t identity_ = 0;
  std::vector<std::uint32_t> products_;
  std::vector<std::vector<std::uint32_t>> renamings_;
};

SmallMonoid monoid(const Maps& maps, Set set) {
  SmallMonoid result;
  Set letters = set & ~(Set{1} << maps.identity());
  for (std::uint32_t f = 0; f < maps.size(); ++f)
    if (letters >> f & 1)
      if (const Set without = letters & ~(Set{1} << f); maps.closed(without) == set) letters = without;
  for (std::uint32_t f = 0; f < maps.size(); ++f) {
    if (set >> f & 1) result.elements.push_back(maps[f]);
    if (letters >> f & 1) result.generators.push_back(maps[f]);
  }
  std::ranges::sort(result.elements);
  std::ranges::sort(result.generators);
  return result;
}

}  // namespace

std::vector<SmallMonoid> monoids_on(Point degree) {
  if (degree < 1 || degree > 3)
    throw InputError(fmt::format("monoids on {}", counted(degree, "point")), "1, 2 or 3 are listed");
  const Maps maps(degree);
  std::vector<Set> queue{maps.closed(0)};
  std::set<Set> known(queue.begin(), queue.end());
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::uint32_t f = 0; f < maps.size(); ++f)
      if (const Set next = maps.least_renaming(maps.closed(queue[i] | Set{1} << f)); known.insert(next).second)
        queue.push_back(next);
  std::vector<SmallMonoid> result;
  for (const Set set : queue) result.push_back(monoid(maps, set));
  std::ranges::sort(result, [](const SmallMonoid& a, const SmallMonoid& b) {
    return std::pair(a.elements.size(), a.elements) < std::pair(b.elements.size(), b.elements);
  });
  return result;
}

}  // namespace krohn
