#include "krohn/groups/structure/composition.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "krohn/groups/permutations/stabilisers.h"

namespace krohn {
namespace {

/// The map α·g ↦ β·g on the points of a transitive group, α = 0, when it is one.
std::optional<Permutation> commuting_map(const PermutationGroup& transitive, Point beta) {
  const Point n = transitive.degree();
  std::vector<Point> image(n, n), queue{0};
  image[0] = beta;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const NamedPermutation& g : transitive.generators()) {
      const Point to = g.value[queue[i]], wanted = g.value[image[queue[i]]];
      if (image[to] == n) {
        image[to] = wanted;
        queue.push_back(to);
      } else if (image[to] != wanted) {
        return {};
      }
    }
  return Permutation::from_images(std::move(image));
}

/// The centre of a transitive group: all of its elements, at most one for each point.
std::vector<Permutation> transitive_centre(const PermutationGroup& transitive, const StabiliserChainOptions& options) {
  const StabiliserChain chain(transitive, options);
  std::vector<Permutation> elements;
  for (Point beta = 1; beta < transitive.degree(); ++beta)
    if (std::optional<Permutation> map = commuting_map(transitive, beta); map && chain.contains(*map))
      elements.push_back(std::move(*map));
  return elements;
}

/// A permutation of `points`, by their places, as one of all points.
Permutation extended(const Permutation& local, const std::vector<Point>& points, Point degree) {
  std::vector<Point> images(degree);
  std::iota(images.begin(), images.end(), Point{0});
  for (Point place = 0; place < local.degree(); ++place) images[points[place]] = points[local[place]];
  return Permutation::from_images(std::move(images));
}

/// G ∩ ⟨a_1, a_2, …⟩ for commuting a_i that commute with G. With G_i = ⟨G, a_1, …, a_i⟩ and m_i the least power of a_i
/// in G_{i−1}, each relation a_i^{m_i} ∈ G·∏ a_j^{b_j} gives one element of the intersection, and these generate it.
class Intersection {
 public:
  Intersection(const PermutationGroup& group, const StabiliserChainOptions& options)
      : options_(options), degree_(group.degree()), generators_(group.generator_values()) {
    chains_.emplace_back(group, options_);
  }

  void add(const Permutation& a) {
    Permutation power = a;
    std::uint64_t least = 1;
    for (; !chains_.back().contains(power); power = power * a) ++least;
    for (std::size_t j = added_.size(); j-- > 0;)
      for (const Permutation back = added_[j].inverse(); !chains_[j].contains(power);) power = power * back;
    if (!power.is_identity()) elements_.push_back(power);
    if (least == 1) return;
    added_.push_back(a);
    generators_.push_back(a);
    chains_.emplace_back(PermutationGroup::from_generators(degree_, generators_), options_);
  }

  PermutationGroup group() && { return PermutationGroup::from_generators(degree_, std::move(elements_)); }

 private:
  StabiliserChainOptions options_;
  Point degree_;
  std::vector<Permutation> generators_;
  std::vector<Permutation> added_;
  std::vector<StabiliserChain> chains_;  ///< of G_0, G_1, …
  std::vector<Permutation> elements_;
};

}  // namespace

PermutationGroup centre(const PermutationGroup& group, const StabiliserChainOptions& options) {
  if (is_abelian(group)) return group;
  Intersection intersection(group, options);
  for (const std::vector<Point>& orbit : orbits(group)) {
    if (orbit.size() == 1) continue;
    for (const Permutation& local : transitive_centre(action_on(group, orbit), options))
      intersection.add(extended(local, orbit, group.degree()));
  }
  return std::move(intersection).group();
}

namespace {

using Pair = std::pair<PermutationGroup, PermutationGroup>;

class Splitter {
 public:
  Splitter(const PermutationGroup& group, const StabiliserChainOptions& options)
      : group_(group), options_(options), size_(order(group, options)) {}

  std::optional<Pair> split() const {
    if (is_abelian(group_)) return {};
    if (auto pair = by_orbits()) return pair;
    if (auto pair = product_of(derived_subgroup(group_), centre(group_, options_))) return pair;
    constexpr int kMaxElements = 1000;
    if (size_ <= kMaxElements) return by_classes();
    return {};
  }

 private:
  Integer size_of(const PermutationGroup& group) const { return order(group, options_); }

  PermutationGroup join(const PermutationGroup& a, const PermutationGroup& b) const {
    std::vector<Permutation> generators = a.generator_values();
    for (const NamedPermutation& g : b.generators()) generators.push_back(g.value);
    return PermutationGroup::from_generators(group_.degree(), std::move(generators));
  }

  /// Two normal subgroups are the factors when |A|·|B| = |AB| = |G|.
  std::optional<Pair> product_of(const PermutationGroup& a, const PermutationGroup& b) const {
    const Integer of_a = size_of(a), of_b = size_of(b);
    if (of_a == 1 || of_b == 1 || of_a * of_b != size_ || size_of(join(a, b)) != size_) return {};
    return Pair(a, b);
  }

  /// The elements that fix one orbit, and those that fix all others.
  std::optional<Pair> by_orbits() const {
    const std::vector<std::vector<Point>> all = orbits(group_);
    for (const std::vector<Point>& orbit : all) {
      if (orbit.size() == 1 || orbit.size() == group_.degree()) continue;
      std::vector<Point> rest;
      for (const std::vector<Point>& other : all)
        if (other != orbit) rest.insert(rest.end(), other.begin(), other.end());
      if (auto pair =
              product_of(pointwise_stabiliser(group_, rest, options_), pointwise_stabiliser(group_, orbit, options_)))
        return pair;
    }
    return {};
  }

  /// Normal closures of one or two classes, the small ones first.
  std::optional<Pair> by_classes() const {
    constexpr std::size_t kMaxSubgroups = 60;
    std::vector<std::pair<Integer, PermutationGroup>> normal;
    const auto add = [&](const PermutationGroup& subgroup) {
      const Integer size = size_of(subgroup);
      const bool known = std::any_of(normal.begin(), normal.end(), [&](const auto& other) {
        return other.first == size && size_of(join(other.second, subgroup)) == size;
      });
      if (!known && size > 1 && size < size_ && normal.size() < kMaxSubgroups) normal.emplace_back(size, subgroup);
    };
    for (const ConjugacyClass& one : conjugacy_classes(group_))
      add(normal_closure(group_, std::vector{one.representative}));
    const std::size_t single = normal.size();
    for (std::size_t i = 0; i < single; ++i)
      for (std::size_t j = 0; j < i; ++j) add(join(normal[i].second, normal[j].second));
    std::stable_sort(normal.begin(), normal.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& a : normal)
      for (const auto& b : normal)
        if (a.first * b.first == size_)
          if (auto pair = product_of(a.second, b.second)) return pair;
    return {};
  }

  const PermutationGroup& group_;
  StabiliserChainOptions options_;
  Integer size_;
};

}  // namespace

std::vector<PermutationGroup> direct_factors(const PermutationGroup& group, const StabiliserChainOptions& options) {
  const std::optional<Pair> pair = Splitter(group, options).split();
  if (!pair) return {group};
  std::vector<PermutationGroup> factors = direct_factors(pair->first, options);
  for (PermutationGroup& factor : direct_factors(pair->second, options)) factors.push_back(std::move(factor));
  return factors;
}

}  // namespace krohn
