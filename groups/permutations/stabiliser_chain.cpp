#include "krohn/groups/permutations/stabiliser_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/permutations/permutation.h"

namespace krohn {

// Nearly random elements of a group known by generators only.

/// Product replacement (Celler, Leedham-Green, Murray, Niemeyer, O'Brien 1995): a walk on generating tuples whose
/// accumulator soon looks like a random element. Nothing that is proved rests on how random it is.
class ProductReplacement {
 public:
  /// `generators` not empty, all of one degree.
  ProductReplacement(std::vector<Permutation> generators, Random& random)
      : pool_(std::move(generators)), accumulator_(Permutation::identity(0)), random_(random) {
    assert(!pool_.empty());
    constexpr std::size_t kPool = 10;
    constexpr int kWarmUp = 50;
    accumulator_ = Permutation::identity(pool_.front().degree());
    for (std::size_t i = 0; pool_.size() < kPool; ++i) pool_.push_back(pool_[i]);
    for (int i = 0; i < kWarmUp; ++i) next();
  }

  /// The next element. Two products of permutations.
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

namespace {

/// A number that |G| cannot exceed: Π |orbit|!, halved when some orbit has two points and no generator is odd.
Integer largest_possible_order(const PermutationGroup& group) {
  Integer bound = 1;
  for (const std::vector<Point>& orbit : orbits(group)) bound *= factorial(static_cast<Point>(orbit.size()));
  if (bound > 1 && all_even(group)) bound /= 2;
  return bound;
}

bool is_identity(std::span<const Point> images) {
  for (std::size_t point = 0; point < images.size(); ++point)
    if (images[point] != point) return false;
  return true;
}

Point least_moved_point(std::span<const Point> images) {
  Point point = 0;
  while (images[point] == point) ++point;
  return point;
}

/// images := images · factor. On the right a product can be taken in place.
void multiply_in_place(std::span<Point> images, std::span<const Point> factor) {
  for (Point& image : images) image = factor[image];
}

void check_first_base(std::span<const Point> points, Point degree) {
  std::vector<bool> seen(degree, false);
  for (const Point point : points) {
    if (point >= degree || seen[point])
      throw InputError(fmt::format("base point {} is {}", point, point >= degree ? "outside the degree" : "repeated"));
    seen[point] = true;
  }
}

}  // namespace

StabiliserChain::StabiliserChain(const PermutationGroup& group, const StabiliserChainOptions& options)
    : degree_(group.degree()), max_entries_(options.max_entries), scratch_(degree_) {
  check_first_base(options.first_base, degree_);
  std::vector<Permutation> generators;
  for (const NamedPermutation& generator : group.generators())
    if (!generator.value.is_identity()) generators.push_back(generator.value);
  if (generators.empty()) return;
  for (const Point point : options.first_base) add_level(point);
  const Integer bound = largest_possible_order(group);
  find_strong_generators(generators, bound);
  // The chain found so far is one of subsets of G, so its order is at most |G| ≤ bound: equality proves it complete.
  if (order() == bound) return;
  drop_redundant_generators();
  for (const Permutation& generator : generators) absorb(generator);
  check_schreier_generators();
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

std::vector<Permutation> StabiliserChain::strong_generators_from(std::size_t level) const {
  std::vector<Permutation> generators;
  if (level < levels_.size())
    for (const std::uint32_t generator : levels_[level].generators) generators.push_back(strong_[generator]);
  return generators;
}

bool StabiliserChain::contains(const Permutation& permutation) const {
  if (permutation.degree() != degree_)
    throw InputError(fmt::format("a permutation of degree {} was compared with a group of degree {}",
                                 permutation.degree(), degree_));
  std::vector<Point> images(permutation.images().begin(), permutation.images().end());
  return sift(images, 0) == levels_.size() && is_identity(images);
}

Permutation StabiliserChain::least_in_right_coset(Permutation t) const {
  for (const Level& level : levels_) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < level.orbit.size(); ++i)
      if (t[level.orbit[i]] < t[level.orbit[best]]) best = i;
    const std::span<const Point> factor = level.from_base[best];
    std::vector<Point> images(degree_);
    for (Point point = 0; point < degree_; ++point) images[point] = t[factor[point]];
    t = Permutation::from_images(std::move(images));
  }
  return t;
}

Permutation StabiliserChain::random_element(Random& random) const {
  std::vector<Point> images(degree_);
  std::iota(images.begin(), images.end(), Point{0});
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    multiply_in_place(images, level->from_base[random.below(level->orbit.size())]);
  return Permutation::from_images(std::move(images));
}

/// Divides by coset representatives, level by level, until one is missing: the level where it stopped.
std::size_t StabiliserChain::sift(std::span<Point> images, std::size_t from) const {
  for (std::size_t i = from; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    const std::int32_t position = level.position[images[level.base_point]];
    if (position < 0) return i;
    if (position > 0) multiply_in_place(images, level.to_base[static_cast<std::size_t>(position)]);
  }
  return levels_.size();
}

void StabiliserChain::add_level(Point base_point) {
  levels_.emplace_back().base_point = base_point;
  reset_orbit(levels_.back());
}

/// Only the base point, with the identity.
void StabiliserChain::reset_orbit(Level& level) {
  entries_ -= 2 * std::uint64_t{degree_} * level.orbit.size();
  level.generators.clear();
  level.orbit = {level.base_point};
  level.position.assign(degree_, -1);
  level.position[level.base_point] = 0;
  level.from_base.assign(1, std::vector<Point>(degree_));
  std::iota(level.from_base[0].begin(), level.from_base[0].end(), Point{0});
  level.to_base = level.from_base;
  level.checked = {0};
  entries_ += 2 * std::uint64_t{degree_};
}

/// The generator fixes the base points before `first`…; it joins levels `first` to `last`.
void StabiliserChain::add_strong_generator(std::span<const Point> images, std::size_t first, std::size_t last) {
  if (last == levels_.size()) add_level(least_moved_point(images));
  const auto index = static_cast<std::uint32_t>(strong_.size());
  strong_.push_back(Permutation::from_images({images.begin(), images.end()}));
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
  TimeLimit::check();
  entries_ += 2 * std::uint64_t{degree_};
  if (entries_ > max_entries_)
    throw LimitError(fmt::format("the stabiliser chain of this group of degree {} needs more than {}", degree_,
                                 counted(max_entries_, "number")));
  level.position[image] = static_cast<std::int32_t>(level.orbit.size());
  level.orbit.push_back(image);
  level.checked.push_back(0);
  std::vector<Point>&from = level.from_base.emplace_back(degree_), &to = level.to_base.emplace_back(degree_);
  for (Point point = 0; point < degree_; ++point) {
    from[point] = strong_[generator][level.from_base[index][point]];
    to[from[point]] = point;
  }
}

/// Sifts an element of the group; what is left joins the strong generators. True when nothing was left.
bool StabiliserChain::absorb(const Permutation& element) {
  std::copy(element.images().begin(), element.images().end(), scratch_.begin());
  const std::size_t stopped = sift(scratch_, 0);
  if (is_identity(scratch_)) return true;
  add_strong_generator(scratch_, 0, stopped);
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

/// From the bottom up, for each level, the generators of the level below and as few more as reach the whole orbit.
/// When the chain is complete these are strong generators too, since they reach the same orbits.
std::vector<std::vector<std::uint32_t>> StabiliserChain::sufficient_generators() const {
  std::vector<std::vector<std::uint32_t>> kept(levels_.size());
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = levels_.size(); i-- > 0;) {
    const Level& level = levels_[i];
    std::vector<bool> seen(degree_, false);
    std::vector<Point> orbit{level.base_point};
    seen[level.base_point] = true;
    const auto close = [&] {
      for (std::size_t k = 0; k < orbit.size(); ++k)
        for (const std::uint32_t generator : chosen)
          if (const Point image = strong_[generator][orbit[k]]; !seen[image]) {
            seen[image] = true;
            orbit.push_back(image);
          }
    };
    close();
    for (const std::uint32_t candidate : level.generators) {
      if (orbit.size() == level.orbit.size()) break;
      const bool enlarges =
          std::any_of(orbit.begin(), orbit.end(), [&](Point p) { return !seen[strong_[candidate][p]]; });
      if (!enlarges) continue;
      chosen.push_back(candidate);
      close();
    }
    kept[i] = chosen;
  }
  return kept;
}

/// Every generator costs a Schreier generator per orbit point. The transversals are made anew from those that stay, as
/// Schreier's lemma asks.
void StabiliserChain::drop_redundant_generators() {
  const std::vector<std::vector<std::uint32_t>> kept = sufficient_generators();
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    reset_orbit(levels_[i]);
    for (const std::uint32_t generator : kept[i]) extend_orbit(levels_[i], generator);
  }
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
  Level& here = levels_[level];
  for (std::size_t i = 0; i < here.orbit.size(); ++i)
    for (std::uint32_t& k = here.checked[i]; k < here.generators.size(); ++k) {
      const Permutation& generator = strong_[here.generators[k]];
      const auto target = static_cast<std::size_t>(here.position[generator[here.orbit[i]]]);
      const std::vector<Point>&from = here.from_base[i], &back = here.to_base[target];
      for (Point point = 0; point < degree_; ++point) scratch_[point] = back[generator[from[point]]];
      const std::size_t stopped = sift(scratch_, level + 1);
      if (is_identity(scratch_)) continue;
      add_strong_generator(scratch_, level + 1, stopped);
      resume = stopped;
      return false;
    }
  return true;
}

Integer order(const PermutationGroup& group, const StabiliserChainOptions& options) {
  if (group.generators().size() == 1) {
    Integer order = 1;
    for (const auto& cycle : group.generators().front().value.cycles())
      order = boost::multiprecision::lcm(order, Integer(cycle.size()));
    return order;
  }
  if (const std::optional<Giant> giant = find_giant(group)) return giant->order();
  return StabiliserChain(group, options).order();
}

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
