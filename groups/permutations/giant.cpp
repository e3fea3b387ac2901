#include "krohn/groups/permutations/giant.h"

#include <algorithm>

#include "krohn/groups/permutations/product_replacement.h"

namespace krohn {
namespace {

/// For every length up to n: is it a prime p with n/2 < p < n−2?
std::vector<bool> jordan_primes(Point n) {
  std::vector<bool> prime(n + 1, true);
  for (std::uint64_t p = 2; p * p <= n; ++p)
    if (prime[p])
      for (std::uint64_t multiple = p * p; multiple <= n; multiple += p) prime[multiple] = false;
  for (Point length = 0; length <= n; ++length)
    if (2 * std::uint64_t{length} <= n || length + 2 >= n) prime[length] = false;
  return prime;
}

bool has_cycle_of_length(const Permutation& permutation, const std::vector<bool>& lengths, std::vector<bool>& seen) {
  seen.assign(permutation.degree(), false);
  for (Point start = 0; start < permutation.degree(); ++start) {
    if (seen[start]) continue;
    std::size_t length = 0;
    for (Point point = start; !seen[point]; point = permutation[point], ++length) seen[point] = true;
    if (lengths[length]) return true;
  }
  return false;
}

/// The one orbit of more than one point; nothing when there are none or several.
std::optional<std::vector<Point>> only_orbit(const PermutationGroup& group) {
  std::optional<std::vector<Point>> only;
  for (std::vector<Point>& orbit : orbits(group)) {
    if (orbit.size() == 1) continue;
    if (only) return {};
    only = std::move(orbit);
  }
  return only;
}

/// A subgroup of Sym(n) of order n! is all of it, and the only one of index 2 is the alternating group.
std::optional<Giant> giant_by_order(const PermutationGroup& group, Point n) {
  const Integer order = StabiliserChain(group).order();
  if (order == factorial(n)) return Giant{n, true};
  if (2 * order == factorial(n)) return Giant{n, false};
  return {};
}

}  // namespace

Integer Giant::order() const { return symmetric || points < 2 ? factorial(points) : factorial(points) / 2; }

Integer factorial(Point k) {
  Integer product = 1;
  for (Point i = 2; i <= k; ++i) product *= i;
  return product;
}

bool all_even(const PermutationGroup& group) {
  const auto generators = group.generators();
  return std::all_of(generators.begin(), generators.end(),
                     [](const NamedPermutation& g) { return g.value.reflection_length() % 2 == 0; });
}

std::optional<Giant> find_giant(const PermutationGroup& group) {
  constexpr Point kSmall = 7;
  constexpr double kConfidence = 14;  // −ln 10⁻⁶
  constexpr std::uint64_t kSeed = 1;
  const std::optional<std::vector<Point>> orbit = only_orbit(group);
  if (!orbit) return {};
  const auto n = static_cast<Point>(orbit->size());
  if (n <= kSmall) return giant_by_order(group, n);

  std::vector<bool> lengths = jordan_primes(n);
  // The share of S_n, and of A_n, with a cycle of length p > n/2 is 1/p.
  double share = 0;
  for (Point p = 0; p <= n; ++p)
    if (lengths[p]) share += 1.0 / p;
  lengths.resize(group.degree() + std::size_t{1}, false);
  Random random(kSeed);
  ProductReplacement elements(group.generator_values(), random);
  std::vector<bool> seen;
  for (double trial = 0; trial * share < kConfidence; ++trial)
    if (has_cycle_of_length(elements.next(), lengths, seen)) return Giant{n, !all_even(group)};
  return {};
}

}  // namespace krohn
