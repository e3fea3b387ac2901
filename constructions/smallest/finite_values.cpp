#include "krohn/constructions/smallest/smallest.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/primes.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/representations/least_representation.h"
#include "krohn/groups/structure/composition.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMax = 4;
constexpr std::uint64_t kMaxCells = 2'000'000;  ///< of an egg-box, for witnesses
constexpr std::uint64_t kMaxCharacterised = 20'000;

class Bound {
 public:
  Bound(const Dfa& automaton, const GreenStructure& green) : automaton_(automaton), green_(green) { find_values(); }

  FiniteValuesBound take() {
    FiniteValuesBound result;
    std::uint32_t d = 0;  // of the identity, above all others
    result.numbers = static_cast<std::uint64_t>(value_[d]);
    try {
      Idempotent at = first_idempotent(d);
      result.chain.push_back(power(at));
      while (static_cast<std::uint64_t>(value_[d]) > dimension_[d]) {
        d = best_below_.at(d);
        at = idempotent_below(d, at);
        result.chain.push_back(power(at));
      }
      result.group = group_words(at);
    } catch (const LimitError&) {  // the bound stands without its words
      result.chain.clear();
      while (static_cast<std::uint64_t>(value_[d]) > dimension_[d]) d = best_below_.at(d);
    }
    result.group_dimension = dimension_[d];
    result.group_name = recognised_name(green_.d_classes()[d].group);
    return result;
  }

 private:
  /// A group H-class of an egg-box.
  struct Idempotent {
    std::uint32_t d_class = 0, row = 0, column = 0;
    std::vector<Point> kernel, image;
  };

  void find_values() {
    const auto classes = green_.d_classes();
    std::map<std::vector<Permutation>, std::uint64_t> known;
    for (const DClass& box : classes) {
      const auto [entry, fresh] = known.try_emplace(box.group.generator_values());
      if (fresh && box.regular) entry->second = least_orthogonal_dimension(box.group, box.group_order);
      dimension_.push_back(box.regular ? entry->second : 0);
    }
    std::vector<std::uint32_t> above(classes.size(), 0), order;
    for (const DClass& box : classes)
      for (const std::uint32_t lower : box.below) ++above[lower];
    for (std::uint32_t d = 0; d < classes.size(); ++d)
      if (above[d] == 0) order.push_back(d);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const std::uint32_t lower : classes[order[i]].below)
        if (--above[lower] == 0) order.push_back(lower);
    value_.assign(classes.size(), -1);
    best_.assign(classes.size(), 0);
    // best_[d]: the class of greatest value among d and all below; value_ is of chains that begin in d.
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      std::int64_t most = -1;
      for (const std::uint32_t lower : classes[*d].below)
        if (value_[best_[lower]] > most) most = value_[best_[lower]], best_[*d] = best_[lower];
      if (!classes[*d].regular) continue;
      value_[*d] = std::max(static_cast<std::int64_t>(dimension_[*d]), most + 1);
      best_below_.emplace(*d, best_[*d]);
      best_[*d] = *d;
    }
  }

  GreenStructure::EggBox egg_box(std::uint32_t d) const {
    const DClass& box = green_.d_classes()[d];
    if (box.r_classes * box.l_classes > kMaxCells) throw LimitError("the egg-box is too large for a witness");
    return green_.egg_box(d);
  }

  template <class Fits>
  Idempotent find(std::uint32_t d, Fits fits) const {
    const GreenStructure::EggBox box = egg_box(d);
    for (std::uint32_t row = 0; row < box.kernels.size(); ++row)
      for (std::uint32_t column = 0; column < box.images.size(); ++column)
        if (box.cells[row][column] && fits(box.kernels[row], box.images[column]))
          return {d, row, column, box.kernels[row], box.images[column]};
    throw Error("an idempotent is missing below another one; please report this");
  }

  Idempotent first_idempotent(std::uint32_t d) const {
    return find(d, [](const auto&, const auto&) { return true; });
  }

  /// f ≤ e: its image lies in that of e, and it merges what e merges.
  Idempotent idempotent_below(std::uint32_t d, const Idempotent& e) const {
    return find(d, [&](const std::vector<Point>& kernel, const std::vector<Point>& image) {
      if (!std::ranges::includes(e.image, image)) return false;
      std::map<Point, Point> merged;
      for (std::size_t q = 0; q < kernel.size(); ++q)
        if (merged.try_emplace(e.kernel[q], kernel[q]).first->second != kernel[q]) return false;
      return true;
    });
  }

  Transformation map_of(const std::vector<Letter>& word) const {
    Transformation map = Transformation::identity(automaton_.states());
    for (const Letter letter : word) map = map * automaton_.letter_map(letter);
    return map;
  }

  /// The H-class is a group: some power of any of its words is the idempotent.
  PowerOfWord power(const Idempotent& e) const {
    PowerOfWord result{green_.cell_word(e.d_class, e.row, e.column), 1};
    const Transformation map = map_of(result.word);
    for (Transformation power = map; !(power * power == power); power = power * map) ++result.exponent;
    return result;
  }

  /// There to the image on which loops are known by c, and back by b: the words cb and cℓb permute the image of e.
  std::vector<std::vector<Letter>> group_words(const Idempotent& e) const {
    if (green_.d_classes()[e.d_class].group_order == 1) return {};
    const GreenStructure::EggBox box = egg_box(e.d_class);
    const auto column =
        static_cast<std::uint32_t>(std::ranges::find(box.images, green_.image_of(e.d_class)) - box.images.begin());
    std::uint32_t row = 0;
    while (!box.cells[row][column]) ++row;
    const std::vector<Letter> there = green_.cell_word(e.d_class, e.row, column);
    const std::vector<Letter> back = green_.cell_word(e.d_class, row, e.column);
    std::vector<std::vector<Letter>> words;
    const auto add = [&](const std::vector<Letter>& loop) {
      std::vector<Letter> word = there;
      word.insert(word.end(), loop.begin(), loop.end());
      word.insert(word.end(), back.begin(), back.end());
      words.push_back(std::move(word));
    };
    add({});
    for (const GreenStructure::Loop& loop : green_.loops(e.d_class)) add(loop.word);
    return words;
  }

  const Dfa& automaton_;
  const GreenStructure& green_;
  std::vector<std::uint64_t> dimension_;  ///< by D-class: what its group needs
  std::vector<std::int64_t> value_;       ///< by D-class: the most that a chain from there on says; −1: not regular
  std::vector<std::uint32_t> best_;
  std::map<std::uint32_t, std::uint32_t> best_below_;
};

}  // namespace

std::uint64_t least_orthogonal_dimension(const PermutationGroup& group, const Integer& order) {
  if (order <= 2) return order == 1 ? 0 : 1;
  if (is_abelian(group)) return std::min(kMax, least_faithful_dimension(abelian_invariants(group)));
  if (order <= kMaxCharacterised) try {
      return std::min(kMax, least_faithful_dimension(CharacterTable::of(group)).value);
    } catch (const LimitError&) {  // too many classes, as large dihedral groups have
    }
  return order > 120 && !is_solvable(group) ? kMax : 2;
}

FiniteValuesBound finite_values_bound(const Dfa& automaton, const GreenStructure& green) {
  return Bound(automaton, green).take();
}

namespace {

using Map = std::vector<std::uint32_t>;

constexpr std::size_t kMaxElements = 20'000;
constexpr std::size_t kMaxOfSubgroup = 1'000, kMaxSquares = 200;

/// First f, then g.
Map then(const Map& f, const Map& g) {
  Map result(f.size());
  for (std::size_t i = 0; i < f.size(); ++i) result[i] = g[f[i]];
  return result;
}

Map identity(std::size_t n) {
  Map map(n);
  for (std::size_t i = 0; i < n; ++i) map[i] = static_cast<std::uint32_t>(i);
  return map;
}

std::uint64_t order_of(const Map& g) {
  const Map one = identity(g.size());
  std::uint64_t order = 1;
  for (Map power = g; power != one; power = then(power, g)) ++order;
  return order;
}

Map run(const Dfa& automaton, const std::vector<Letter>& word) {
  Map map = identity(automaton.states());
  for (std::uint32_t& state : map) state = automaton.run(word, state);
  return map;
}

Map power(Map map, std::uint64_t exponent) {
  Map result = identity(map.size());
  for (; exponent > 0; exponent >>= 1, map = then(map, map))
    if (exponent & 1) result = then(result, map);
  return result;
}

/// All products, or those found when there are more than the limit.
std::vector<Map> generated(const std::vector<Map>& generators, std::size_t degree, std::size_t limit) {
  std::vector<Map> list{identity(degree)};
  std::set<Map> known(list.begin(), list.end());
  for (std::size_t i = 0; i < list.size() && list.size() <= limit; ++i)
    for (const Map& g : generators)
      if (Map next = then(list[i], g); known.insert(next).second) list.push_back(std::move(next));
  return list;
}

/// The words' permutations of the points of an image, if they permute it.
std::vector<Map> actions(const Dfa& automaton, const std::vector<std::vector<Letter>>& words,
                         const std::vector<std::uint32_t>& image, bool& permute) {
  std::vector<Map> result;
  for (const std::vector<Letter>& word : words) {
    const Map map = run(automaton, word);
    Map action;
    for (const std::uint32_t point : image) {
      const auto to = std::ranges::lower_bound(image, map[point]);
      permute = permute && to != image.end() && *to == map[point];
      action.push_back(static_cast<std::uint32_t>(to - image.begin()));
    }
    permute = permute && std::set(action.begin(), action.end()).size() == image.size();
    if (!permute) return {};
    result.push_back(std::move(action));
  }
  return result;
}

bool commute(const Map& a, const Map& b) { return then(a, b) == then(b, a); }

/// A property of every finite group of real 3×3 matrices of more than 120 elements, and of every quotient of it:
/// squares commute, for they lie in a cyclic group. Looks at squares of random products.
bool has_squares_that_do_not_commute(const std::vector<Map>& generators) {
  std::mt19937_64 random(1);
  std::vector<Map> products = generators, squares;
  for (std::size_t i = 0; i < kMaxSquares; ++i) {
    Map& product = products[i % products.size()];
    product = then(product, products[random() % products.size()]);
    product = then(product, generators[random() % generators.size()]);
    squares.push_back(then(product, product));
  }
  for (const Map& a : squares)
    for (const Map& b : squares)
      if (!commute(a, b)) return true;
  return false;
}

/// A subgroup with few elements, made of generators and their powers of prime order. It needs no more dimensions than
/// the group: what lies above it in a group of matrices is one, too.
std::vector<Map> some_subgroup(const std::vector<Map>& generators, std::size_t degree) {
  std::vector<Map> candidates = generators;
  for (const Map& g : generators) {
    const std::uint64_t order = order_of(g);
    for (const auto& [p, p_part] : prime_powers(order)) candidates.push_back(power(g, order / p));
  }
  std::vector<Map> chosen, elements{identity(degree)};
  for (const Map& candidate : candidates) {
    if (std::ranges::count(elements, candidate) > 0) continue;
    chosen.push_back(candidate);
    std::vector<Map> larger = generated(chosen, degree, kMaxOfSubgroup);
    if (larger.size() <= kMaxOfSubgroup)
      elements = std::move(larger);
    else
      chosen.pop_back();
  }
  return elements;
}

/// At least so many.
std::uint64_t dimension(const std::vector<Map>& generators, std::size_t degree) {
  const std::vector<Map> elements = generated(generators, degree, kMaxElements);
  if (elements.size() <= kMaxElements) return orthogonal_dimension_by_counting(elements);
  if (has_squares_that_do_not_commute(generators)) return 4;
  return orthogonal_dimension_by_counting(some_subgroup(generators, degree));
}

/// G = ⟨c, s⟩ × ⟨z⟩ with c of order `turns`, s c s = c⁻¹ and z in the centre, in a group of 4 · turns elements.
bool is_dihedral_times_two(const std::vector<Map>& elements, const std::vector<Map>& involutions, std::uint64_t turns) {
  for (const Map& c : elements) {
    if (order_of(c) != turns) continue;
    const std::vector<Map> rotations = generated({c}, c.size(), SIZE_MAX);
    for (const Map& z : involutions) {
      if (std::ranges::count(rotations, z) > 0) continue;
      if (!std::ranges::all_of(elements, [&](const Map& g) { return commute(g, z); })) continue;
      for (const Map& s : involutions) {
        if (then(then(s, c), then(s, c)) != identity(c.size())) continue;
        const auto inside = generated({c, z}, c.size(), SIZE_MAX);
        if (std::ranges::count(inside, s) == 0) return true;
      }
    }
    return false;  // in these groups all elements of that order and no others will do, or none
  }
  return false;
}

}  // namespace

std::uint64_t orthogonal_dimension_by_counting(const std::vector<std::vector<std::uint32_t>>& elements) {
  const std::uint64_t size = elements.size();
  if (size <= 2) return size - 1;
  std::map<std::uint64_t, std::uint64_t> of_order;
  std::vector<Map> involutions;
  for (const Map& g : elements) {
    const std::uint64_t order = order_of(g);
    ++of_order[order];
    if (order == 2) involutions.push_back(g);
  }
  const std::uint64_t most = of_order.rbegin()->first;
  if (most == size) return 2;
  if (most >= 2 && 2 * most == size)
    for (const Map& c : elements) {
      if (order_of(c) != most) continue;
      const std::vector<Map> rotations = generated({c}, c.size(), SIZE_MAX);
      const std::set<Map> cyclic(rotations.begin(), rotations.end());
      if (std::ranges::all_of(elements, [&](const Map& g) { return cyclic.contains(g) || order_of(g) == 2; })) return 2;
    }
  const bool abelian = std::ranges::all_of(elements, [&](const Map& a) {
    return std::ranges::all_of(elements, [&](const Map& b) { return commute(a, b); });
  });
  if (abelian && 2 * most == size) return 3;  // Z_m × Z_2
  if (abelian) return size == 8 && most == 2 ? 3 : 4;
  using Census = std::map<std::uint64_t, std::uint64_t>;
  for (const Census& polyhedral : {Census{{1, 1}, {2, 3}, {3, 8}},                                 // A_4
                                   Census{{1, 1}, {2, 9}, {3, 8}, {4, 6}},                         // S_4
                                   Census{{1, 1}, {2, 15}, {3, 20}, {5, 24}},                      // A_5
                                   Census{{1, 1}, {2, 7}, {3, 8}, {6, 8}},                         // A_4 × Z_2
                                   Census{{1, 1}, {2, 19}, {3, 8}, {4, 12}, {6, 8}},               // S_4 × Z_2
                                   Census{{1, 1}, {2, 31}, {3, 20}, {5, 24}, {6, 20}, {10, 24}}})  // A_5 × Z_2
    if (of_order == polyhedral) return 3;
  return size % 4 == 0 && is_dihedral_times_two(elements, involutions, size / 4) ? 3 : 4;
}

bool holds(const Dfa& automaton, const FiniteValuesBound& bound) {
  if (bound.chain.empty() || bound.numbers != bound.chain.size() - 1 + bound.group_dimension) return false;
  Map above;
  for (const PowerOfWord& link : bound.chain) {
    const Map e = power(run(automaton, link.word), link.exponent);
    if (then(e, e) != e) return false;
    if (!above.empty() && (e == above || then(e, above) != e || then(above, e) != e)) return false;
    above = e;
  }
  const std::set<std::uint32_t> points(above.begin(), above.end());
  const std::vector<std::uint32_t> image(points.begin(), points.end());
  bool permute = true;
  const std::vector<Map> generators = actions(automaton, bound.group, image, permute);
  return permute && dimension(generators, image.size()) >= bound.group_dimension;
}

}  // namespace krohn
