#include "krohn/groups/structure/series.h"

#include <optional>

namespace krohn {
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

bool is_nilpotent(const PermutationGroup& group) { return is_trivial(lower_central_series(group).back()); }

bool is_perfect(const PermutationGroup& group) { return order(derived_subgroup(group)) == order(group); }

}  // namespace krohn
