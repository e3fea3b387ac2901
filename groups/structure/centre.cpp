#include "krohn/groups/structure/centre.h"

#include <numeric>
#include <optional>

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

}  // namespace krohn
