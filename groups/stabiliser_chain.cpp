#include "groups/stabiliser_chain.h"

#include <fmt/format.h>

#include <algorithm>

#include "groups/error.h"

namespace krohn {
namespace {

bool is_even(const Permutation& permutation) { return permutation.reflection_length() % 2 == 0; }

/// A number that |G| cannot exceed: Π |orbit|!, halved when some orbit has two points and no generator is odd.
Integer largest_possible_order(const PermutationGroup& group) {
  Integer bound = 1;
  for (const std::vector<Point>& orbit : orbits(group))
    for (std::size_t k = 2; k <= orbit.size(); ++k) bound *= k;
  const auto generators = group.generators();
  const bool all_even =
      std::all_of(generators.begin(), generators.end(), [](const NamedPermutation& g) { return is_even(g.value); });
  if (all_even && bound > 1) bound /= 2;
  return bound;
}

/// Product replacement (Celler, Leedham-Green, Murray, Niemeyer, O'Brien 1995): a walk on generating tuples whose
/// accumulator soon looks like a random element.
class ProductReplacement {
 public:
  ProductReplacement(std::vector<Permutation> generators, Random& random)
      : pool_(std::move(generators)), accumulator_(Permutation::identity(pool_.front().degree())), random_(random) {
    constexpr std::size_t kPool = 10;
    constexpr int kWarmUp = 50;
    for (std::size_t i = 0; pool_.size() < kPool; ++i) pool_.push_back(pool_[i]);
    for (int i = 0; i < kWarmUp; ++i) next();
  }

  const Permutation& next() {
    const std::size_t i = random_.below(pool_.size());
    const std::size_t j = (i + 1 + random_.below(pool_.size() - 1)) % pool_.size();
    const Permutation factor = random_.below(2) ? pool_[j] : pool_[j].inverse();
    pool_[i] = random_.below(2) ? pool_[i] * factor : factor * pool_[i];
    accumulator_ = accumulator_ * pool_[i];
    return accumulator_;
  }

 private:
  std::vector<Permutation> pool_;
  Permutation accumulator_;
  Random& random_;
};

Point least_moved_point(const Permutation& permutation) {
  Point point = 0;
  while (permutation[point] == point) ++point;
  return point;
}

}  // namespace

StabiliserChain::StabiliserChain(const PermutationGroup& group, const StabiliserChainOptions& options)
    : degree_(group.degree()), options_(options) {
  std::vector<Permutation> generators;
  for (const NamedPermutation& generator : group.generators())
    if (!generator.value.is_identity()) generators.push_back(generator.value);
  if (generators.empty()) return;
  const Integer bound = largest_possible_order(group);
  find_strong_generators(generators, bound);
  // The chain found so far is one of subsets of G, so its order is at most |G| ≤ bound: equality proves it complete.
  if (order() != bound) check_schreier_generators();
}

Integer StabiliserChain::order() const {
  Integer product = 1;
  for (const Level& level : levels_) product *= level.orbit.size();
  return product;
}

std::vector<Point> StabiliserChain::base() const {
  std::vector<Point> points;
  for (const Level& level : levels_) points.push_back(level.base_point);
  return points;
}

bool StabiliserChain::contains(const Permutation& permutation) const {
  if (permutation.degree() != degree_)
    throw InputError(fmt::format("a permutation of degree {} was compared with a group of degree {}",
                                 permutation.degree(), degree_));
  return sift(permutation, 0).rest.is_identity();
}

Permutation StabiliserChain::least_in_right_coset(Permutation t) const {
  for (const Level& level : levels_) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < level.orbit.size(); ++i)
      if (t[level.orbit[i]] < t[level.orbit[best]]) best = i;
    t = level.from_base[best] * t;
  }
  return t;
}

Permutation StabiliserChain::random_element(Random& random) const {
  Permutation product = Permutation::identity(degree_);
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    product = product * level->from_base[random.below(level->orbit.size())];
  return product;
}

/// Divides by coset representatives, level by level, until one is missing.
StabiliserChain::Residue StabiliserChain::sift(Permutation permutation, std::size_t from) const {
  for (std::size_t i = from; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    const std::int32_t position = level.position[permutation[level.base_point]];
    if (position < 0) return {std::move(permutation), i};
    if (position > 0) permutation = permutation * level.to_base[static_cast<std::size_t>(position)];
  }
  return {std::move(permutation), levels_.size()};
}

void StabiliserChain::add_level(Point base_point) {
  Level& level = levels_.emplace_back();
  level.base_point = base_point;
  level.orbit = {base_point};
  level.position.assign(degree_, -1);
  level.position[base_point] = 0;
  level.from_base = {Permutation::identity(degree_)};
  level.to_base = {Permutation::identity(degree_)};
  level.checked = {0};
}

/// `generator` fixes the base points before `first`…; it joins levels `first` to `last`.
void StabiliserChain::add_strong_generator(const Permutation& generator, std::size_t first, std::size_t last) {
  if (last == levels_.size()) add_level(least_moved_point(generator));
  const auto index = static_cast<std::uint32_t>(strong_.size());
  strong_.push_back(generator);
  for (std::size_t i = first; i <= last; ++i) extend_orbit(levels_[i], index);
}

/// Grows the orbit of a level by a new generator, keeping every representative that is there.
void StabiliserChain::extend_orbit(Level& level, std::uint32_t new_generator) {
  level.generators.push_back(new_generator);
  const std::size_t old_size = level.orbit.size();
  for (std::size_t i = 0; i < old_size; ++i) visit(level, i, new_generator);
  for (std::size_t i = old_size; i < level.orbit.size(); ++i)
    for (const std::uint32_t generator : level.generators) visit(level, i, generator);
}

void StabiliserChain::visit(Level& level, std::size_t index, std::uint32_t generator) {
  const Point image = strong_[generator][level.orbit[index]];
  if (level.position[image] >= 0) return;
  entries_ += 2 * std::uint64_t{degree_};
  if (entries_ > options_.max_entries)
    throw LimitError(fmt::format("the stabiliser chain of this group of degree {} needs more than {} numbers", degree_,
                                 options_.max_entries));
  level.position[image] = static_cast<std::int32_t>(level.orbit.size());
  level.orbit.push_back(image);
  level.from_base.push_back(level.from_base[index] * strong_[generator]);
  level.to_base.push_back(level.from_base.back().inverse());
  level.checked.push_back(0);
}

/// Sifts an element of the group; what is left joins the strong generators. True when nothing was left.
bool StabiliserChain::absorb(const Permutation& element) {
  const Residue residue = sift(element, 0);
  if (residue.rest.is_identity()) return true;
  add_strong_generator(residue.rest, 0, residue.level);
  return false;
}

void StabiliserChain::find_strong_generators(const std::vector<Permutation>& generators, const Integer& bound) {
  constexpr std::uint64_t kSeed = 1;
  constexpr int kEnoughSuccesses = 12;
  for (const Permutation& generator : generators) absorb(generator);
  Random random(kSeed);
  ProductReplacement elements(generators, random);
  for (int successes = 0; successes < kEnoughSuccesses && order() != bound;)
    successes = absorb(elements.next()) ? successes + 1 : 0;
}

/// Schreier's lemma: the chain is complete when at every level every from_base[β]·s·to_base[β·s] sifts to the identity
/// through the levels below.
void StabiliserChain::check_schreier_generators() {
  for (std::size_t level = levels_.size(); level > 0;) {
    std::size_t resume = 0;
    level = check_level(level - 1, resume) ? level - 1 : resume + 1;
  }
}

/// False when a Schreier generator of `level` did not sift; its residue was added and checking goes on at `resume`.
/// Pairs that sifted once always will, because representatives never change.
bool StabiliserChain::check_level(std::size_t level, std::size_t& resume) {
  for (std::size_t i = 0; i < levels_[level].orbit.size(); ++i)
    for (std::uint32_t& k = levels_[level].checked[i]; k < levels_[level].generators.size();) {
      const Permutation& generator = strong_[levels_[level].generators[k]];
      const std::int32_t target = levels_[level].position[generator[levels_[level].orbit[i]]];
      const Residue residue =
          sift(levels_[level].from_base[i] * generator * levels_[level].to_base[static_cast<std::size_t>(target)],
               level + 1);
      if (residue.rest.is_identity()) {
        ++k;
        continue;
      }
      add_strong_generator(residue.rest, level + 1, residue.level);
      resume = residue.level;
      return false;
    }
  return true;
}

Integer order(const PermutationGroup& group) {
  if (group.generators().size() != 1) return StabiliserChain(group).order();
  Integer order = 1;
  for (const auto& cycle : group.generators().front().value.cycles())
    order = boost::multiprecision::lcm(order, Integer(cycle.size()));
  return order;
}

}  // namespace krohn
