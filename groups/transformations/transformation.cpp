#include "krohn/groups/transformations/transformation.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

Transformation Transformation::identity(Point degree) {
  std::vector<Point> images(degree);
  std::iota(images.begin(), images.end(), Point{0});
  return Transformation(std::move(images));
}

Transformation Transformation::constant(Point degree, Point image) {
  return from_images(std::vector<Point>(degree, image));
}

Transformation Transformation::from_images(std::vector<Point> images) {
  for (std::size_t point = 0; point < images.size(); ++point)
    if (images[point] >= images.size())
      throw InputError(fmt::format("point {} goes to {}, outside 0…{}", point, images[point], images.size() - 1));
  return Transformation(std::move(images));
}

Point Transformation::rank() const { return static_cast<Point>(image_set().size()); }

std::vector<Point> Transformation::image_set() const {
  std::vector<bool> hit(images_.size(), false);
  for (const Point image : images_) hit[image] = true;
  std::vector<Point> set;
  for (Point point = 0; point < degree(); ++point)
    if (hit[point]) set.push_back(point);
  return set;
}

bool Transformation::is_identity() const {
  for (Point point = 0; point < degree(); ++point)
    if (images_[point] != point) return false;
  return true;
}

bool Transformation::is_permutation() const { return rank() == degree(); }

std::optional<Point> Transformation::constant_image() const {
  if (images_.empty()) return std::nullopt;
  const bool constant = std::all_of(images_.begin(), images_.end(), [&](Point p) { return p == images_.front(); });
  return constant ? std::optional<Point>(images_.front()) : std::nullopt;
}

Permutation Transformation::to_permutation() const { return Permutation::from_images(images_); }

Transformation operator*(const Transformation& f, const Transformation& g) {
  if (f.degree() != g.degree())
    throw InputError(fmt::format("cannot compose maps of degrees {} and {}", f.degree(), g.degree()));
  std::vector<Point> images(f.degree());
  for (Point point = 0; point < f.degree(); ++point) images[point] = g[f[point]];
  return Transformation::from_images(std::move(images));
}

std::string to_string(const Transformation& transformation) {
  std::string text = "[";
  for (Point point = 0; point < transformation.degree(); ++point)
    text += fmt::format("{}{}", point ? " " : "", transformation[point] + 1);
  return text + "]";
}

/// Tarjan (1972) with a stack of its own, on the table itself: Boost.Graph would want a copy of every edge, of which
/// there may be tens of millions, in 50 bytes.
std::vector<std::uint32_t> strong_components(std::uint32_t nodes, std::uint32_t letters,
                                             std::span<const std::uint32_t> table) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  struct Visit {
    std::uint32_t node, letter;
  };
  std::vector<std::uint32_t> component(nodes, kNone), number(nodes, kNone), least(nodes), open;
  std::vector<Visit> path;
  std::uint32_t met = 0, components = 0;
  const auto enter = [&](std::uint32_t node) {
    if (met % 65'536 == 65'535) TimeLimit::check();
    number[node] = least[node] = met++;
    open.push_back(node);
    path.push_back({node, 0});
  };
  for (std::uint32_t root = 0; root < nodes; ++root) {
    if (number[root] == kNone) enter(root);
    while (!path.empty()) {
      auto& [node, letter] = path.back();
      if (letter < letters) {
        const std::uint32_t to = table[std::size_t{node} * letters + letter++];
        if (number[to] == kNone)
          enter(to);
        else if (component[to] == kNone)
          least[node] = std::min(least[node], number[to]);
        continue;
      }
      const std::uint32_t done = node;
      path.pop_back();
      if (!path.empty()) least[path.back().node] = std::min(least[path.back().node], least[done]);
      if (least[done] != number[done]) continue;
      while (component[done] == kNone) {
        component[open.back()] = components;
        open.pop_back();
      }
      ++components;
    }
  }
  return component;
}

}  // namespace krohn
