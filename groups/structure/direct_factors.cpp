#include "krohn/groups/structure/direct_factors.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "krohn/groups/permutations/stabilisers.h"
#include "krohn/groups/structure/centre.h"
#include "krohn/groups/structure/conjugacy_classes.h"
#include "krohn/groups/structure/series.h"

namespace krohn {
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
    constexpr int kMostElements = 1000;
    if (size_ <= kMostElements) return by_classes();
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

  /// What fixes one orbit, and what fixes all others.
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
    constexpr std::size_t kMostSubgroups = 60;
    std::vector<std::pair<Integer, PermutationGroup>> normal;
    const auto add = [&](const PermutationGroup& subgroup) {
      const Integer size = size_of(subgroup);
      const bool known = std::any_of(normal.begin(), normal.end(), [&](const auto& other) {
        return other.first == size && size_of(join(other.second, subgroup)) == size;
      });
      if (!known && size > 1 && size < size_ && normal.size() < kMostSubgroups) normal.emplace_back(size, subgroup);
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
