#include "krohn/groups/names/named_group.h"

#include <fmt/format.h>

#include <optional>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/primes.h"
#include "krohn/groups/permutations/stabiliser_chain.h"
#include "krohn/groups/permutations/stabilisers.h"
#include "krohn/groups/structure/composition.h"

namespace krohn {
namespace {

using Name = std::optional<std::string>;

bool is_small_prime(const Integer& n) { return n <= UINT32_MAX && is_prime(static_cast<std::uint64_t>(n)); }

/// The same group on an orbit, or on blocks, where it acts faithfully, over and over.
PermutationGroup reduced(PermutationGroup group, const Integer& size, const StabiliserChainOptions& options) {
  for (;;) {
    std::optional<PermutationGroup> smaller;
    const std::vector<std::vector<Point>> all = orbits(group);
    for (const std::vector<Point>& orbit : all)
      if (all.size() > 1 && !smaller && orbit.size() > 1)
        if (PermutationGroup action = action_on(group, orbit); order(action, options) == size)
          smaller = std::move(action);
    if (all.size() == 1)
      for (const BlockSystem& system : minimal_block_systems(group))
        if (PermutationGroup action = action_on_blocks(group, system); !smaller && order(action, options) == size)
          smaller = std::move(action);
    if (!smaller) return group;
    group = std::move(*smaller);
  }
}

/// The facts that decide the name of a nonabelian group.
class Recogniser {
 public:
  Recogniser(const PermutationGroup& group, Integer size, const StabiliserChainOptions& options)
      : options_(options),
        group_(group),
        size_(std::move(size)),
        derived_(derived_subgroup(group)),
        derived_size_(order(derived_, options)),
        centre_size_(order(centre(group, options), options)) {}

  Name name() {
    if (Name name = of_small_order()) return name;
    if (Name name = with_cyclic_half()) return name;
    if (Name name = frobenius()) return name;
    factors_ = composition_factors(group_, options_);
    if (factors_.size() == 1) return factors_.front().name;
    if (Name name = almost_simple()) return name;
    if (Name name = special_linear()) return name;
    if (Name name = direct_product()) return name;
    return wreath_product();
  }

  std::string description() const {
    return fmt::format("order {} with composition factors {}", size_.str(), to_string(factors_));
  }

 private:
  /// Among the groups of order 12 only A_4 has a derived subgroup of order 4; of order 24 only SL(2,3) one of order 8
  /// and only S_4 one of order 12.
  Name of_small_order() const {
    if (size_ == 6) return "S_3";
    if (size_ == 12 && derived_size_ == 4) return "A_4";
    if (size_ == 24 && derived_size_ == 8) return "SL(2,3)";
    if (size_ == 24 && derived_size_ == 12) return "S_4";
    return {};
  }

  /// ⟨c⟩ of index 2 and an r outside that inverts c: r² is 1 (dihedral) or the involution of ⟨c⟩ (quaternion,
  /// dicyclic).
  Name with_cyclic_half() const {
    if (2 * derived_size_ != size_ && 4 * derived_size_ != size_) return {};
    const StabiliserChain chain(group_, options_);
    Random random(1);
    constexpr int kTrials = 200;
    for (int trial = 0; trial < kTrials; ++trial) {
      const Permutation c = chain.random_element(random);
      if (2 * Integer(c.order()) != size_) continue;
      const StabiliserChain half(PermutationGroup::from_generators(c.degree(), {c}), options_);
      for (const NamedPermutation& r : group_.generators()) {
        if (half.contains(r.value)) continue;
        if (r.value.inverse() * c * r.value != c.inverse()) return {};
        if ((r.value * r.value).is_identity()) return fmt::format("D_{}", Integer(size_ / 2).str());
        return fmt::format("Q_{}", size_.str());
      }
    }
    return {};
  }

  /// G' ≅ Z_p, trivial centre and p ∤ d = |G/G'|: a complement of G' in its centraliser would be central, so Z_d acts
  /// faithfully on Z_p; there is one such group.
  Name frobenius() const {
    if (!is_small_prime(derived_size_) || centre_size_ != 1) return {};
    const Integer d = size_ / derived_size_;
    if (d % derived_size_ == 0) return {};
    if (d == derived_size_ - 1) return fmt::format("AGL(1,{})", derived_size_.str());
    return fmt::format("F_{}", size_.str());
  }

  /// T = G' simple of index 2 and a trivial centre: a centraliser of T would be central, so G ≤ Aut(T), which is S_n
  /// for A_n, n ≠ 6, and PGL(2,p) for PSL(2,p); Aut(A_6)/A_6 is V_4, and element orders tell its three subgroups apart.
  Name almost_simple() const {
    if (2 * derived_size_ != size_ || centre_size_ != 1 || factors_.size() != 2) return {};
    const std::string& simple = factors_.back().name;
    if (simple == "A_6") return above_a6();
    if (simple.starts_with("A_")) return "S_" + simple.substr(2);
    if (const Name p = prime_of_linear(simple)) return "PGL(2," + *p + ")";
    return {};
  }

  Name above_a6() const {
    bool six = false, ten = false;
    for (const ConjugacyClass& one : conjugacy_classes(group_)) {
      six = six || one.element_order == 6;
      ten = ten || one.element_order == 10;
    }
    return six ? "S_6" : ten ? "PGL(2,9)" : "M_10";
  }

  /// Perfect with a centre of order 2 and PSL(2,p) above it: the double cover is unique, as the multiplier is Z_2.
  Name special_linear() const {
    if (derived_size_ != size_ || centre_size_ != 2 || factors_.size() != 2) return {};
    if (factors_.back().name == "A_5") return "SL(2,5)";
    if (const Name p = prime_of_linear(factors_.back().name)) return "SL(2," + *p + ")";
    return {};
  }

  static Name prime_of_linear(const std::string& simple) {
    if (!simple.starts_with("PSL(2,")) return {};
    const std::string q = simple.substr(6, simple.size() - 7);
    return is_small_prime(Integer(q)) ? Name(q) : std::nullopt;
  }

  Name direct_product() const {
    const std::vector<PermutationGroup> parts = direct_factors(group_, options_);
    if (parts.size() < 2) return {};
    std::string name;
    std::vector<Permutation> commuting;
    for (const PermutationGroup& part : parts) {
      if (is_abelian(part)) {
        for (const NamedPermutation& g : part.generators()) commuting.push_back(g.value);
        continue;
      }
      const std::string one = recognised_name(part, options_);
      if (one.starts_with("order")) return {};
      name += (name.empty() ? "" : "×") + bracketed(one);
    }
    const auto abelian = PermutationGroup::from_generators(group_.degree(), std::move(commuting));
    if (!is_trivial(abelian)) name += "×" + abelian_name(abelian_invariants(abelian, options_));
    return name;
  }

  /// A transitive group embeds into (action of a block's stabiliser on the block) wr (action on the blocks); it is all
  /// of that when the orders agree.
  Name wreath_product() const {
    if (!is_transitive(group_)) return {};
    for (const BlockSystem& system : minimal_block_systems(group_)) {
      const std::vector<Point> block = members(system).front();
      const PermutationGroup top = action_on_blocks(group_, system);
      const PermutationGroup inside = action_on(set_stabiliser(group_, block), block);
      if (boost::multiprecision::pow(order(inside, options_), system.blocks) * order(top, options_) != size_) continue;
      const std::string below = recognised_name(inside, options_), above = recognised_name(top, options_);
      if (below.starts_with("order") || above.starts_with("order")) return {};
      return bracketed(below, "×") + " wr " + bracketed(above, "×");
    }
    return {};
  }

  static std::string bracketed(const std::string& name, const char* also = " wr ") {
    return name.find(" wr ") == std::string::npos && name.find(also) == std::string::npos ? name : "(" + name + ")";
  }

  StabiliserChainOptions options_;
  const PermutationGroup& group_;
  Integer size_;
  PermutationGroup derived_;
  Integer derived_size_, centre_size_;
  std::vector<CompositionFactor> factors_;
};

}  // namespace

std::string recognised_name(const PermutationGroup& group, const StabiliserChainOptions& options) {
  if (is_trivial(group)) return "trivial";
  if (group.generators().size() == 1) return fmt::format("Z_{}", order(group).str());
  if (const std::optional<Giant> giant = find_giant(group); giant && giant->points > 3) return giant->name();
  if (is_abelian(group)) return abelian_name(abelian_invariants(group, options));
  const Integer size = order(group, options);
  try {
    const PermutationGroup small = reduced(group, size, options);
    if (const std::optional<Giant> giant = find_giant(small)) return giant->name();
    Recogniser recogniser(small, size, options);
    if (const Name name = recogniser.name()) return *name;
    return recogniser.description();
  } catch (const LimitError&) {
    return fmt::format("order {}", size.str());
  }
}

}  // namespace krohn
