#include "krohn/groups/structure/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <optional>

#include "krohn/groups/error.h"
#include "krohn/groups/permutations/block_systems.h"
#include "krohn/groups/permutations/giant.h"
#include "krohn/groups/permutations/stabilisers.h"
#include "krohn/groups/structure/series.h"
#include "krohn/groups/structure/simple_groups.h"

namespace krohn {
namespace {

using Factors = std::vector<CompositionFactor>;

bool precedes(const CompositionFactor& a, const CompositionFactor& b) {
  return a.order != b.order ? a.order < b.order : a.name < b.name;
}

void append(Factors& to, const Factors& more) { to.insert(to.end(), more.begin(), more.end()); }

/// The factors of a solvable group of that order. Every prime in the order of a permutation group is at most its
/// degree.
Factors prime_factors(Integer order, Point degree) {
  Factors factors;
  for (Point p = 2; p <= degree && order > 1; ++p)
    for (; order % p == 0; order /= p) factors.push_back({p, fmt::format("Z_{}", p)});
  assert(order == 1);
  return factors;
}

/// The factors of G/N when N is transitive, as G/N ≅ G_α/N_α: those of the one stabiliser without those of the other.
Factors difference(Factors all, const Factors& part) {
  for (const CompositionFactor& factor : part) {
    const auto at = std::find(all.begin(), all.end(), factor);
    assert(at != all.end());
    all.erase(at);
  }
  return all;
}

class Composer {
 public:
  explicit Composer(const StabiliserChainOptions& options) : options_(options) {}

  Factors factors(const PermutationGroup& group) const {
    if (is_trivial(group)) return {};
    const std::vector<std::vector<Point>> all_orbits = orbits(group);
    if (all_orbits.size() > 1) return by_orbit(group, all_orbits);
    if (const std::optional<Giant> giant = find_giant(group); giant && giant->points >= 5) return of_giant(*giant);
    if (is_abelian(group)) return prime_factors(order(group), group.degree());
    if (const std::optional<BlockSystem> system = some_block_system(group)) return by_blocks(group, *system);
    const PermutationGroup derived = derived_subgroup(group);
    const Integer whole = order(group, options_), below = order(derived, options_);
    if (below == whole) return of_primitive_perfect(group, whole);
    Factors result = prime_factors(whole / below, group.degree());
    append(result, factors(derived));
    return result;
  }

 private:
  Factors by_orbit(const PermutationGroup& group, const std::vector<std::vector<Point>>& all_orbits) const {
    const auto largest = std::max_element(all_orbits.begin(), all_orbits.end(),
                                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
    std::vector<Point> rest;
    for (const std::vector<Point>& orbit : all_orbits)
      if (orbit != *largest && orbit.size() > 1) rest.insert(rest.end(), orbit.begin(), orbit.end());
    Factors result = factors(action_on(group, *largest));
    if (!rest.empty()) append(result, factors(action_on(pointwise_stabiliser(group, *largest, options_), rest)));
    return result;
  }

  Factors by_blocks(const PermutationGroup& group, const BlockSystem& system) const {
    Factors result = factors(action_on_blocks(group, system));
    append(result, factors(kernel_on_blocks(group, system, options_)));
    return result;
  }

  static Factors of_giant(const Giant& giant) {
    Factors result;
    if (giant.symmetric) result.push_back({2, "Z_2"});
    result.push_back({Giant{giant.points, false}.order(), fmt::format("A_{}", giant.points)});
    return result;
  }

  /// O'Nan and Scott: the socle of a primitive group is T^k for a simple T. T abelian: the group is affine, of prime
  /// power degree. T not abelian and k = 1: G/T embeds into Out(T), which is solvable, so a perfect G is T. k ≥ 2: the
  /// degree is a power of |T| (diagonal and twisted types), or m^k with m ≥ 5 (product type), where a perfect group
  /// that permutes the k factors transitively needs k ≥ 5, or a power of |T| again.
  Factors of_primitive_perfect(const PermutationGroup& group, const Integer& whole) const {
    if (const std::optional<PermutationGroup> translations = regular_normal_subgroup(group, whole))
      return above_transitive(group, *translations);
    const bool other_types = may_be_power_of_simple_order(group.degree()) || is_high_power(group.degree());
    if (!other_types) return {{whole, simple_group_name(group, whole)}};
    const StabiliserChain chain(group, options_);
    Random random(1);
    constexpr int kTrials = 20;
    for (int trial = 0; trial < kTrials; ++trial) {
      const PermutationGroup normal = normal_closure(group, std::vector{of_prime_order(chain, random)});
      if (order(normal, options_) != whole) return above_transitive(group, normal);
    }
    throw LimitError(
        fmt::format("whether the primitive perfect group of degree {} and order {} is simple is not "
                    "decided; the methods here settle other degrees only",
                    group.degree(), whole.str()));
  }

  /// Every normal subgroup of a primitive group but 1 is transitive.
  Factors above_transitive(const PermutationGroup& group, const PermutationGroup& normal) const {
    Factors result = factors(normal);
    append(result, difference(factors(point_stabiliser(group, 0)), factors(point_stabiliser(normal, 0))));
    return result;
  }

  /// m^k with m, k ≥ 5?
  static bool is_high_power(Point n) {
    for (std::uint64_t m = 5; m * m * m * m * m <= n; ++m)
      for (std::uint64_t power = m * m * m * m * m; power <= n; power *= m)
        if (power == n) return true;
    return false;
  }

  static Permutation of_prime_order(const StabiliserChain& chain, Random& random) {
    for (;;) {
      const Permutation g = chain.random_element(random);
      if (g.is_identity()) continue;
      std::uint64_t rest = g.order(), p = 2;
      while (rest % p) ++p;
      return g.power(rest / p);
    }
  }

  /// The translations of an affine group of degree p^d: elementary abelian, regular, normal. Nothing when it is certain
  /// that there are none: in a perfect affine group G_α ≅ G/N is perfect and faithful on N, so |G_α| divides |GL(d,p)|.
  /// Throws LimitError when neither is found.
  std::optional<PermutationGroup> regular_normal_subgroup(const PermutationGroup& group, const Integer& whole) const {
    const Point n = group.degree();
    Point p = 2;
    while (n % p) ++p;
    Integer matrices = 1;
    Integer size = 1;
    for (; size < n; size *= p) matrices *= n - size;
    if (size != n) return {};
    if (matrices % (whole / n) != 0) return {};
    if (!is_perfect(point_stabiliser(group, 0))) return {};
    const StabiliserChain chain(group, options_);
    Random random(1);
    constexpr int kTrials = 2000;
    for (int trial = 0; trial < kTrials; ++trial) {
      const Permutation g = chain.random_element(random);
      if (g.order() % p) continue;
      const Permutation translation = g.power(g.order() / p);
      if (translation.reflection_length() != n - n / p) continue;  // it has a fixed point
      const Permutation h = chain.random_element(random);
      const Permutation other = h.inverse() * translation * h;
      if (other * translation != translation * other) continue;
      PermutationGroup normal = normal_closure(group, std::vector{translation});
      if (order(normal, options_) == n) return normal;
    }
    throw LimitError(fmt::format(
        "whether the primitive perfect group of degree {} and order {} is affine is not decided", n, whole.str()));
  }

  StabiliserChainOptions options_;
};

}  // namespace

std::vector<CompositionFactor> composition_factors(const PermutationGroup& group,
                                                   const StabiliserChainOptions& options) {
  Factors factors = Composer(options).factors(group);
  std::sort(factors.begin(), factors.end(), precedes);
  return factors;
}

std::string to_string(const std::vector<CompositionFactor>& factors) {
  std::string text;
  for (std::size_t i = 0; i < factors.size();) {
    std::size_t end = i;
    while (end < factors.size() && factors[end] == factors[i]) ++end;
    text += text.empty() ? "" : ", ";
    text += end - i == 1 ? factors[i].name : fmt::format("{}^{}", factors[i].name, end - i);
    i = end;
  }
  return text;
}

bool is_simple(const PermutationGroup& group) { return composition_factors(group).size() == 1; }

}  // namespace krohn
