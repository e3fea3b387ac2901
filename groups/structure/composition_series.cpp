#include "krohn/groups/structure/composition_series.h"

#include <fmt/format.h>

#include <cassert>

#include "krohn/groups/error.h"
#include "krohn/groups/structure/composition.h"
#include "krohn/groups/structure/conjugacy_classes.h"
#include "krohn/groups/structure/series.h"

namespace krohn {
namespace {

std::uint32_t least_prime_factor(std::uint64_t n) {
  for (std::uint64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return static_cast<std::uint32_t>(p);
  return static_cast<std::uint32_t>(n);
}

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

/// Of a perfect group that is not trivial. One pass over the classes is enough: a class that generates the whole group
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
      for (std::uint64_t m = rest; m > 1; m /= primes.back()) primes.push_back(least_prime_factor(m));
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

}  // namespace krohn
