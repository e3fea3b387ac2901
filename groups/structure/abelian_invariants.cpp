#include "krohn/groups/structure/abelian_invariants.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/structure/series.h"

namespace krohn {
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

}  // namespace krohn
