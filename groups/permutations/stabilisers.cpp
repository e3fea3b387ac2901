#include "krohn/groups/permutations/stabilisers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/union_find.h"

namespace krohn {
namespace {

bool refines(const BlockSystem& fine, const BlockSystem& coarse) {
  std::vector<Point> image(fine.blocks, coarse.blocks);
  for (std::size_t point = 0; point < fine.block_of.size(); ++point) {
    Point& block = image[fine.block_of[point]];
    if (block == coarse.blocks) block = coarse.block_of[point];
    if (block != coarse.block_of[point]) return false;
  }
  return true;
}

void check_transitive(const PermutationGroup& group) {
  if (!is_transitive(group))
    throw InputError(fmt::format("systems of blocks are asked of a group with {} orbits; take one orbit at a time",
                                 orbits(group).size()));
}

}  // namespace

BlockSystem finest_block_system(const PermutationGroup& group, Point a, Point b) {
  if (std::max(a, b) >= group.degree())
    throw InputError(fmt::format("point {} is outside a group of degree {}", std::max(a, b), group.degree()));
  // Whenever p and q meet, so do p·g and q·g.
  UnionFind<Point> classes(group.degree());
  std::vector<std::pair<Point, Point>> merged;
  if (classes.unite(a, b)) merged.emplace_back(a, b);
  while (!merged.empty()) {
    const auto [p, q] = merged.back();
    merged.pop_back();
    for (const NamedPermutation& g : group.generators())
      if (classes.unite(g.value[p], g.value[q])) merged.emplace_back(g.value[p], g.value[q]);
  }
  BlockSystem system;
  std::tie(system.block_of, system.blocks) = classes.classes();
  return system;
}

std::vector<BlockSystem> minimal_block_systems(const PermutationGroup& group) {
  check_transitive(group);
  std::vector<BlockSystem> systems;
  for (Point b = 1; b < group.degree(); ++b) {
    const BlockSystem found = finest_block_system(group, 0, b);
    if (found.blocks == 1) continue;
    const auto finer = [&](const BlockSystem& other) { return refines(other, found); };
    if (std::any_of(systems.begin(), systems.end(), finer)) continue;
    std::erase_if(systems, [&](const BlockSystem& other) { return refines(found, other); });
    systems.push_back(found);
  }
  return systems;
}

std::optional<BlockSystem> some_block_system(const PermutationGroup& group) {
  check_transitive(group);
  for (Point b = 1; b < group.degree(); ++b)
    if (BlockSystem found = finest_block_system(group, 0, b); found.blocks > 1) return found;
  return {};
}

bool is_primitive(const PermutationGroup& group) { return is_transitive(group) && !some_block_system(group); }

std::vector<std::vector<Point>> members(const BlockSystem& system) {
  std::vector<std::vector<Point>> result(system.blocks);
  for (Point point = 0; point < system.block_of.size(); ++point) result[system.block_of[point]].push_back(point);
  return result;
}

namespace {

/// The orbit of a set of points, with the way back to the first set.
class SetOrbitTree {
 public:
  SetOrbitTree(const PermutationGroup& group, std::vector<Point> set, std::uint64_t max_sets)
      : generators_(group.generator_values()), sets_(set.size()), parent_{0}, edge_{0} {
    sets_.insert(set);
    for (RecordSet::Index i = 0; i < sets_.size(); ++i)
      for (std::size_t g = 0; g < generators_.size(); ++g) {
        const std::vector<Point> image = sorted_image(sets_[i], generators_[g]);
        if (!sets_.insert(image).fresh) continue;
        if (sets_.size() > max_sets)
          throw LimitError(fmt::format("the orbit of a set of {} has more than {} sets; raise max_sets",
                                       counted(set.size(), "point"), max_sets));
        parent_.push_back(i);
        edge_.push_back(g);
      }
  }

  std::size_t size() const { return sets_.size(); }

  /// element · t⁻¹, where t takes the first set to the set that `element` takes it to.
  Permutation back_to_first(Permutation element) const {
    Permutation way = Permutation::identity(element.degree());
    for (RecordSet::Index i = *sets_.find(sorted_image(sets_[0], element)); i != 0; i = parent_[i])
      way = generators_[edge_[i]] * way;
    return element * way.inverse();
  }

 private:
  static std::vector<Point> sorted_image(RecordSet::Record set, const Permutation& g) {
    std::vector<Point> image;
    for (const Point point : set) image.push_back(g[point]);
    std::sort(image.begin(), image.end());
    return image;
  }

  std::vector<Permutation> generators_;
  RecordSet sets_;
  std::vector<RecordSet::Index> parent_;
  std::vector<std::size_t> edge_;
};

PermutationGroup subgroup(const PermutationGroup& group, std::vector<Permutation> generators) {
  return PermutationGroup::from_generators(group.degree(), std::move(generators));
}

/// `g` on the points, and on the blocks after them.
Permutation on_points_and_blocks(const Permutation& g, const Permutation& blocks) {
  std::vector<Point> images(g.images().begin(), g.images().end());
  for (const Point block : blocks.images()) images.push_back(g.degree() + block);
  return Permutation::from_images(std::move(images));
}

}  // namespace

PermutationGroup pointwise_stabiliser(const PermutationGroup& group, std::span<const Point> points,
                                      const StabiliserChainOptions& options) {
  StabiliserChainOptions with_base = options;
  with_base.first_base = points;
  return subgroup(group, StabiliserChain(group, with_base).strong_generators_from(points.size()));
}

PermutationGroup point_stabiliser(const PermutationGroup& group, Point point) {
  return pointwise_stabiliser(group, {&point, 1});
}

PermutationGroup set_stabiliser(const PermutationGroup& group, std::span<const Point> set, std::uint64_t max_sets) {
  std::vector<Point> points(set.begin(), set.end());
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.empty()) return group;
  if (points.back() >= group.degree())
    throw InputError(fmt::format("point {} is outside a group of degree {}", points.back(), group.degree()));
  const SetOrbitTree orbit(group, points, max_sets);
  const StabiliserChain chain(group);
  const Integer order = chain.order() / orbit.size();
  // A random element, taken back to the set, is a random element of the stabiliser.
  Random random(1);
  std::vector<Permutation> generators;
  for (StabiliserChain found(subgroup(group, {})); found.order() != order;) {
    Permutation element = orbit.back_to_first(chain.random_element(random));
    if (found.contains(element)) continue;
    generators.push_back(std::move(element));
    found = StabiliserChain(subgroup(group, generators));
  }
  return subgroup(group, std::move(generators));
}

PermutationGroup action_on(const PermutationGroup& group, std::span<const Point> points) {
  std::vector<Point> place(group.degree(), group.degree());
  for (std::size_t i = 0; i < points.size(); ++i) place[points[i]] = static_cast<Point>(i);
  std::vector<Permutation> generators;
  for (const NamedPermutation& g : group.generators()) {
    std::vector<Point> images;
    for (const Point point : points) images.push_back(place[g.value[point]]);
    generators.push_back(Permutation::from_images(std::move(images)));
  }
  return PermutationGroup::from_generators(static_cast<Point>(points.size()), std::move(generators));
}

PermutationGroup action_on_blocks(const PermutationGroup& group, const BlockSystem& system) {
  std::vector<Permutation> generators;
  for (const NamedPermutation& g : group.generators()) {
    std::vector<Point> images(system.blocks);
    for (Point point = 0; point < group.degree(); ++point)
      images[system.block_of[point]] = system.block_of[g.value[point]];
    generators.push_back(Permutation::from_images(std::move(images)));
  }
  return PermutationGroup::from_generators(system.blocks, std::move(generators));
}

PermutationGroup kernel_on_blocks(const PermutationGroup& group, const BlockSystem& system,
                                  const StabiliserChainOptions& options) {
  const PermutationGroup on_blocks = action_on_blocks(group, system);
  std::vector<Permutation> generators;
  for (std::size_t i = 0; i < group.generators().size(); ++i)
    generators.push_back(on_points_and_blocks(group.generators()[i].value, on_blocks.generators()[i].value));
  const auto both = PermutationGroup::from_generators(group.degree() + system.blocks, std::move(generators));
  std::vector<Point> blocks(system.blocks), points(group.degree());
  std::iota(blocks.begin(), blocks.end(), group.degree());
  std::iota(points.begin(), points.end(), Point{0});
  const PermutationGroup kernel = action_on(pointwise_stabiliser(both, blocks, options), points);
  return kernel;
}

}  // namespace krohn
