#include "krohn/groups/structure/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "krohn/groups/permutations/group_elements.h"

namespace krohn {

std::vector<ConjugacyClass> conjugacy_classes(const PermutationGroup& group, std::uint64_t max_elements) {
  const GroupElements elements = GroupElements::enumerate(group, max_elements);
  std::vector<Permutation> generators = group.generator_values(), inverses;
  for (const Permutation& g : generators) inverses.push_back(g.inverse());
  std::vector<bool> seen(elements.size(), false);
  std::vector<ConjugacyClass> classes;
  for (ElementIndex start = 0; start < elements.size(); ++start) {
    if (seen[start]) continue;
    std::vector<ElementIndex> found{start};
    seen[start] = true;
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t g = 0; g < generators.size(); ++g) {
        const ElementIndex next = *elements.find(inverses[g] * elements[found[i]] * generators[g]);
        if (seen[next]) continue;
        seen[next] = true;
        found.push_back(next);
      }
    classes.push_back({elements[start], found.size(), elements[start].order()});
  }
  return classes;
}

namespace {

class Abelianisation {
 public:
  Abelianisation(const PermutationGroup& group, const StabiliserChainOptions& options)
      : options_(options),
        degree_(group.degree()),
        generators_(group.generator_values()),
        derived_(derived_subgroup(group).generator_values()) {}

  Integer order() const { return order_of_powers(1) / krohn::order(generated(derived_), options_); }

  /// The exponents e of the factors Z_{p^e}, decreasing: of p-power rank r_i = log_p |pⁱ⁻¹A : pⁱA|, there are r_i
  /// factors with e ≥ i.
  std::vector<unsigned> exponents(Point p) const {
    std::vector<unsigned> result;
    Integer last = order_of_powers(1);
    for (std::uint64_t q = p;; q *= p) {
      const Integer next = order_of_powers(q);
      std::size_t rank = 0;
      for (Integer index = last / next; index > 1; index /= p) ++rank;
      if (rank == 0) return result;
      result.resize(std::max(result.size(), rank), 0);
      for (std::size_t i = 0; i < rank; ++i) ++result[i];
      last = next;
    }
  }

 private:
  PermutationGroup generated(std::vector<Permutation> generators) const {
    return PermutationGroup::from_generators(degree_, std::move(generators));
  }
  /// |⟨G', g^q for all g⟩|.
  Integer order_of_powers(std::uint64_t q) const {
    std::vector<Permutation> generators = derived_;
    for (const Permutation& g : generators_) generators.push_back(g.power(q));
    return krohn::order(generated(std::move(generators)), options_);
  }

  StabiliserChainOptions options_;
  Point degree_;
  std::vector<Permutation> generators_, derived_;
};

}  // namespace

std::vector<Integer> abelian_invariants(const PermutationGroup& group, const StabiliserChainOptions& options) {
  const Abelianisation quotient(group, options);
  std::vector<Integer> invariants;  // the largest first
  Integer rest = quotient.order();
  for (Point p = 2; rest > 1; ++p) {
    if (rest % p != 0) continue;
    while (rest % p == 0) rest /= p;
    const std::vector<unsigned> exponents = quotient.exponents(p);
    invariants.resize(std::max(invariants.size(), exponents.size()), 1);
    for (std::size_t i = 0; i < exponents.size(); ++i)
      invariants[i] *= boost::multiprecision::pow(Integer(p), exponents[i]);
  }
  std::reverse(invariants.begin(), invariants.end());
  return invariants;
}

std::string abelian_name(const std::vector<Integer>& invariants) {
  if (invariants.empty()) return "trivial";
  if (invariants.size() == 2 && invariants[1] == 2) return "V_4";
  std::string name;
  for (std::size_t i = 0; i < invariants.size();) {
    std::size_t end = i;
    while (end < invariants.size() && invariants[end] == invariants[i]) ++end;
    if (!name.empty()) name += "×";
    name +=
        end - i == 1 ? fmt::format("Z_{}", invariants[i].str()) : fmt::format("Z_{}^{}", invariants[i].str(), end - i);
    i = end;
  }
  return name;
}

namespace {

/// Generators without those that the ones before them already give, beside the chain of what they generate.
class GrowingGroup {
 public:
  explicit GrowingGroup(Point degree) : degree_(degree) {}

  /// True when the element was not in the group yet.
  bool add(const Permutation& element) {
    if (chain_ ? chain_->contains(element) : element.is_identity()) return false;
    generators_.push_back(element);
    chain_.emplace(PermutationGroup::from_generators(degree_, generators_));
    return true;
  }
  const std::vector<Permutation>& generators() const { return generators_; }
  PermutationGroup group() const { return PermutationGroup::from_generators(degree_, generators_); }

 private:
  Point degree_;
  std::vector<Permutation> generators_;
  std::optional<StabiliserChain> chain_;
};

PermutationGroup normal_closure_of_commutators(const PermutationGroup& group, const PermutationGroup& left) {
  std::vector<Permutation> commutators;
  for (const NamedPermutation& f : left.generators())
    for (const NamedPermutation& g : group.generators()) commutators.push_back(commutator(f.value, g.value));
  return normal_closure(group, commutators);
}

/// Follows `next` until the order stops falling.
template <class Next>
std::vector<PermutationGroup> descend(const PermutationGroup& group, Next next) {
  std::vector<PermutationGroup> series{group};
  Integer last = order(group);
  while (last != 1) {
    PermutationGroup below = next(series.back());
    const Integer size = order(below);
    if (size == last) break;
    series.push_back(std::move(below));
    last = size;
  }
  return series;
}

}  // namespace

Permutation commutator(const Permutation& f, const Permutation& g) { return f.inverse() * g.inverse() * f * g; }

PermutationGroup normal_closure(const PermutationGroup& group, std::span<const Permutation> elements) {
  GrowingGroup closure(group.degree());
  for (const Permutation& element : elements) closure.add(element);
  for (std::size_t i = 0; i < closure.generators().size(); ++i)
    for (const NamedPermutation& g : group.generators()) {
      const Permutation conjugate = g.value.inverse() * closure.generators()[i] * g.value;
      closure.add(conjugate);
    }
  return closure.group();
}

PermutationGroup derived_subgroup(const PermutationGroup& group) { return normal_closure_of_commutators(group, group); }

std::vector<PermutationGroup> derived_series(const PermutationGroup& group) {
  return descend(group, [](const PermutationGroup& last) { return derived_subgroup(last); });
}

std::vector<PermutationGroup> lower_central_series(const PermutationGroup& group) {
  return descend(group, [&](const PermutationGroup& last) { return normal_closure_of_commutators(group, last); });
}

bool is_trivial(const PermutationGroup& group) {
  for (const NamedPermutation& g : group.generators())
    if (!g.value.is_identity()) return false;
  return true;
}

bool is_solvable(const PermutationGroup& group) { return is_trivial(derived_series(group).back()); }

bool is_perfect(const PermutationGroup& group) { return order(derived_subgroup(group)) == order(group); }

}  // namespace krohn
