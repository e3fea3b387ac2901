#include "krohn/groups/structure/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <optional>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/primes.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/permutations/stabilisers.h"

namespace krohn {
namespace {

struct SimpleGroup {
  std::uint64_t order;
  const char* name;
};

/// Conway et al., Atlas of Finite Groups, 1985: the orders below 3·10⁸ that are not those of A_n or PSL(2,q).
constexpr std::array<SimpleGroup, 37> kSimpleGroups = {{
    {5616, "PSL(3,3)"},
    {6048, "PSU(3,3)"},
    {7920, "M_11"},
    {25920, "PSU(4,2)"},
    {29120, "Sz(8)"},
    {62400, "PSU(3,4)"},
    {95040, "M_12"},
    {126000, "PSU(3,5)"},
    {175560, "J_1"},
    {372000, "PSL(3,5)"},
    {443520, "M_22"},
    {604800, "J_2"},
    {979200, "PSp(4,4)"},
    {1451520, "PSp(6,2)"},
    {1876896, "PSL(3,7)"},
    {3265920, "PSU(4,3)"},
    {4245696, "G_2(3)"},
    {4680000, "PSp(4,5)"},
    {5515776, "PSU(3,8)"},
    {5663616, "PSU(3,7)"},
    {6065280, "PSL(4,3)"},
    {9999360, "PSL(5,2)"},
    {10200960, "M_23"},
    {13685760, "PSU(5,2)"},
    {16482816, "PSL(3,8)"},
    {17971200, "2F_4(2)'"},
    {32537600, "Sz(32)"},
    {42456960, "PSL(3,9)"},
    {42573600, "PSU(3,9)"},
    {44352000, "HS"},
    {50232960, "J_3"},
    {70915680, "PSU(3,11)"},
    {138297600, "PSp(4,7)"},
    {174182400, "POmega+(8,2)"},
    {197406720, "POmega-(8,2)"},
    {211341312, "3D_4(2)"},
    {244823040, "M_24"},
}};

/// Is n a power of one prime? The prime, if so.
std::optional<std::uint64_t> prime_of_power(std::uint64_t n) {
  const std::vector<PrimePower> powers = prime_powers(n);
  return powers.size() == 1 ? std::optional(powers.front().prime) : std::nullopt;
}

/// A_n by n!/2.
std::optional<std::string> alternating_name(const Integer& order) {
  Integer size = 60;
  for (Point n = 5; size <= order; size *= ++n)
    if (size == order) return fmt::format("A_{}", n);
  return {};
}

/// PSL(2,q) by q(q²−1)/gcd(2, q−1); q up to 10⁶.
std::optional<std::string> linear_name(const Integer& order) {
  constexpr double kMax = 1e6;
  for (const int halves : {1, 2}) {
    const double root = std::cbrt(order.convert_to<double>() * halves);
    if (root > kMax) return {};
    const auto nearest = static_cast<std::uint64_t>(root);
    for (std::uint64_t q = nearest; q <= nearest + 2; ++q)
      if (q >= 7 && Integer(q) * (q * q - 1) / (q % 2 ? 2 : 1) == order && prime_of_power(q))
        return fmt::format("PSL(2,{})", q);
  }
  return {};
}

/// A_8 has elements of order 15; the orders in PSL(3,4) are 1, 2, 3, 4, 5 and 7.
std::string alternating_or_linear(const PermutationGroup& group) {
  const GroupElements elements = GroupElements::enumerate(group);
  for (ElementIndex i = 0; i < elements.size(); ++i)
    if (elements[i].order() == 15) return "A_8";
  return "PSL(3,4)";
}

}  // namespace

std::string simple_group_name(const PermutationGroup& group, const Integer& order) {
  if (order <= UINT32_MAX && prime_of_power(order.convert_to<std::uint64_t>()) == order.convert_to<std::uint64_t>())
    return fmt::format("Z_{}", order.str());
  if (order == 20160) return alternating_or_linear(group);
  if (const auto name = alternating_name(order)) return *name;
  if (const auto name = linear_name(order)) return *name;
  for (const SimpleGroup& simple : kSimpleGroups)
    if (simple.order == order) return simple.name;
  return fmt::format("simple of order {}", order.str());
}

bool may_be_power_of_simple_order(Point n) { return n >= 60 && n % 4 == 0 && prime_powers(n).size() >= 3; }

namespace {

/// The least m ≥ 1 with g^m in the group.
std::uint64_t relative_order(const Permutation& g, const StabiliserChain& group) {
  std::uint64_t m = 1;
  for (Permutation last = g; !group.contains(last); last = last * g) ++m;
  return m;
}

std::vector<Permutation> powers(const Permutation& g, std::uint32_t count) {
  std::vector<Permutation> result{Permutation::identity(g.degree())};
  while (result.size() < count) result.push_back(result.back() * g);
  return result;
}

/// For a perfect group that is not trivial. One pass over the classes is enough: a class that generates the whole group
/// together with the subgroup so far does so with a larger one.
PermutationGroup maximal_normal_subgroup(const PermutationGroup& group) {
  const Integer whole = order(group);
  auto normal = PermutationGroup::from_generators(group.degree(), {});
  StabiliserChain chain(normal);
  for (const ConjugacyClass& next : conjugacy_classes(group)) {
    if (chain.contains(next.representative)) continue;
    std::vector<Permutation> elements = normal.generator_values();
    elements.push_back(next.representative);
    PermutationGroup larger = normal_closure(group, elements);
    if (order(larger) == whole) continue;
    normal = std::move(larger);
    chain = StabiliserChain(normal);
  }
  return normal;
}

/// One element of every right coset of `below` in the group, by multiplying with generators.
std::vector<Permutation> transversal(const PermutationGroup& group, const StabiliserChain& below) {
  std::vector<Permutation> found{Permutation::identity(group.degree())};
  std::map<Permutation, bool> seen{{below.least_in_right_coset(found[0]), true}};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const NamedPermutation& g : group.generators()) {
      Permutation next = found[i] * g.value;
      if (seen.try_emplace(below.least_in_right_coset(next), true).second) found.push_back(std::move(next));
    }
  return found;
}

void require_small_factors(const PermutationGroup& group, std::uint64_t largest_simple) {
  for (const CompositionFactor& factor : composition_factors(group))
    if (factor.name.rfind("Z_", 0) != 0 && factor.order > largest_simple)
      throw InputError(fmt::format("the group of order {} is not solvable: it has the composition factor {}",
                                   order(group).str(), factor.name));
}

}  // namespace

CompositionSeries CompositionSeries::of(const PermutationGroup& group, std::uint64_t largest_simple) {
  if (!is_solvable(group)) require_small_factors(group, largest_simple);
  CompositionSeries series;
  for (PermutationGroup rest = series.add_solvable(group); !is_trivial(rest);) {
    const PermutationGroup normal = maximal_normal_subgroup(rest);
    StabiliserChain below(normal);
    std::vector<Permutation> cosets = transversal(rest, below);
    series.add_step(std::move(cosets), std::move(below), false);
    rest = series.add_solvable(normal);
  }
  return series;
}

/// Steps from the group down to the last term of its derived series, which is returned. A generator of a derived
/// subgroup at a time is added to what is below, and any group between two terms of the series is normal in the upper
/// one; a cyclic step of order m is cut into its primes: ⟨below, g^(m/p)⟩, ⟨…, g^(m/pp')⟩, …, at last g itself.
PermutationGroup CompositionSeries::add_solvable(const PermutationGroup& group) {
  struct Rise {
    Permutation transversal;
    std::uint32_t prime;
    StabiliserChain below;
  };
  const std::vector<PermutationGroup> derived = derived_series(group);
  std::vector<Rise> rises;
  for (std::size_t i = derived.size() - 1; i-- > 0;) {
    std::vector<Permutation> generators = derived[i + 1].generator_values();
    for (const NamedPermutation& next : derived[i].generators()) {
      StabiliserChain below(PermutationGroup::from_generators(group.degree(), generators));
      std::uint64_t rest = relative_order(next.value, below);
      std::vector<std::uint32_t> primes;
      for (const auto& [prime, power] : prime_powers(rest))
        for (std::uint64_t m = power; m > 1; m /= prime) primes.push_back(static_cast<std::uint32_t>(prime));
      for (const std::uint32_t prime : primes) {
        rest /= prime;
        const Permutation power = next.value.power(rest);
        rises.push_back({power, prime, below});
        generators.push_back(power);
        below = StabiliserChain(PermutationGroup::from_generators(group.degree(), generators));
      }
    }
  }
  for (std::size_t i = rises.size(); i-- > 0;)
    add_step(powers(rises[i].transversal, rises[i].prime), std::move(rises[i].below), true);
  return derived.back();
}

void CompositionSeries::add_step(std::vector<Permutation> transversal, StabiliserChain below, bool cyclic) {
  Step step{std::move(transversal), std::move(below), cyclic};
  for (std::uint32_t b = 0; b < step.transversal.size(); ++b)
    step.coset.emplace(step.below.least_in_right_coset(step.transversal[b]), b);
  steps_.push_back(std::move(step));
}

std::uint32_t CompositionSeries::coordinate(std::size_t step, const Permutation& g) const {
  const Step& at = steps_[step];
  const auto found = at.coset.find(at.below.least_in_right_coset(g));
  assert(found != at.coset.end() && "the element is in this term of the series");
  return found->second;
}

std::vector<std::uint32_t> CompositionSeries::cayley_table(std::size_t step) const {
  const std::vector<Permutation>& elements = steps_[step].transversal;
  std::vector<std::uint32_t> table;
  for (const Permutation& a : elements)
    for (const Permutation& b : elements) table.push_back(coordinate(step, a * b));
  return table;
}

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
