#include "groups/prime_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "groups/error.h"
#include "groups/series.h"

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

}  // namespace

PrimeSeries PrimeSeries::of(const PermutationGroup& group) {
  const std::vector<PermutationGroup> derived = derived_series(group);
  if (!is_trivial(derived.back()))
    throw InputError(fmt::format("the group of order {} is not solvable: its derived series stops at order {}",
                                 order(group).str(), order(derived.back()).str()));
  PrimeSeries series;
  // From the bottom: each generator of a derived subgroup is added to what is below, and any group between two terms of
  // the derived series is normal in the upper one. A cyclic step of order m is cut into its primes.
  for (std::size_t i = derived.size(); i-- > 1;) {
    std::vector<Permutation> generators = derived[i].generator_values();
    for (const NamedPermutation& next : derived[i - 1].generators()) {
      StabiliserChain below(PermutationGroup::from_generators(group.degree(), generators));
      std::uint64_t rest = relative_order(next.value, below);
      std::vector<std::uint32_t> primes;
      for (std::uint64_t m = rest; m > 1; m /= primes.back()) primes.push_back(least_prime_factor(m));
      // ⟨below, g^(m/p)⟩, then ⟨…, g^(m/pp')⟩, …, at last g itself.
      for (const std::uint32_t prime : primes) {
        rest /= prime;
        const Permutation transversal = next.value.power(rest);
        series.steps_.push_back({transversal, prime, below});
        generators.push_back(transversal);
        below = StabiliserChain(PermutationGroup::from_generators(group.degree(), generators));
      }
    }
  }
  std::reverse(series.steps_.begin(), series.steps_.end());
  return series;
}

std::uint32_t PrimeSeries::coordinate(std::size_t step, const Permutation& g) const {
  const Step& at = steps_[step];
  const Permutation back = at.transversal.inverse();
  Permutation rest = g;
  for (std::uint32_t b = 0; b < at.prime; ++b, rest = rest * back)
    if (at.below.contains(rest)) return b;
  assert(false && "the element is not in this term of the series");
  return 0;
}

}  // namespace krohn
