// groups/permutations/stabiliser_chain.h — a base and strong generating set of a permutation group, and the recognition
// of giants.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/groups/base/random.h"
#include "krohn/groups/permutations/permutation_group.h"

namespace krohn {

using Integer = boost::multiprecision::cpp_int;

struct StabiliserChainOptions {
  /// Numbers held by all transversals together, Σ |orbit|·degree; LimitError beyond.
  std::uint64_t max_entries = 100'000'000;
  /// The first base points, in this order, also where they are redundant: `strong_generators_from(first_base.size())`
  /// then generate their pointwise stabiliser. Read by the constructor only.
  std::span<const Point> first_base = {};
};

/// A chain G = G⁽⁰⁾ ≥ G⁽¹⁾ ≥ … ≥ 1 where G⁽ⁱ⁺¹⁾ is the stabiliser of the base point b_i in G⁽ⁱ⁾, with a transversal of
/// each step. The images of the base determine an element. Always exact: strong generators are found by random
/// products, then every Schreier generator is checked, unless the order already meets the largest possible one.
class StabiliserChain {
 public:
  /// Deterministic. After `first_base`, each base point is the least point that the generators found so far for its
  /// stabiliser move. O(Σ |orbit| · generators · degree · base length). Throws LimitError, and InputError when a point
  /// of `first_base` is outside the degree or repeated.
  explicit StabiliserChain(const PermutationGroup& group, const StabiliserChainOptions& options = {});

  Point degree() const { return degree_; }
  /// |G|, the product of the orbit lengths.
  Integer order() const;
  /// b_1 … b_k; past `first_base` every orbit has at least two points. Empty for the trivial group.
  std::vector<Point> base() const;
  /// The strong generators that fix the first i = `level` base points, which generate G⁽ⁱ⁾; none past the base.
  std::vector<Permutation> strong_generators_from(std::size_t level) const;
  /// The orbit of b_{level+1} under the stabiliser of the base points before it; the base point stands first.
  std::span<const Point> orbit(std::size_t level) const { return levels_[level].orbit; }

  /// Membership. O(base length · degree). Throws InputError when the degree differs.
  bool contains(const Permutation& permutation) const;
  /// The element of the coset G·t whose images of the base points, in order, are least: the same for every t of the
  /// coset. O(Σ |orbit| + base length · degree).
  Permutation least_in_right_coset(Permutation t) const;
  /// Uniform over G: a product of uniform coset representatives.
  Permutation random_element(Random& random) const;

 private:
  struct Level {
    Point base_point = 0;
    std::vector<std::uint32_t> generators;  ///< indices into strong_
    std::vector<Point> orbit;
    std::vector<std::int32_t> position;         ///< of a point in `orbit`, −1 outside it
    std::vector<std::vector<Point>> from_base;  ///< per orbit point: images of `degree` points, base_point ↦ orbit[i]
    std::vector<std::vector<Point>> to_base;    ///< their inverses
    std::vector<std::uint32_t> checked;         ///< per orbit point, how many Schreier generators are known to sift
  };

  std::size_t sift(std::span<Point> images, std::size_t from) const;
  void add_level(Point base_point);
  void reset_orbit(Level& level);
  void add_strong_generator(std::span<const Point> images, std::size_t first, std::size_t last);
  void extend_orbit(Level& level, std::uint32_t new_generator);
  void visit(Level& level, std::size_t index, std::uint32_t generator);
  bool absorb(const Permutation& element);
  void find_strong_generators(const std::vector<Permutation>& generators, const Integer& bound);
  std::vector<std::vector<std::uint32_t>> sufficient_generators() const;
  void drop_redundant_generators();
  void check_schreier_generators();
  bool check_level(std::size_t level, std::size_t& resume);

  Point degree_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t max_entries_ = 0;
  std::vector<Permutation> strong_;
  std::vector<Level> levels_;
  std::vector<Point> scratch_;
};

/// The exact order of the group: the lcm of the cycle lengths for one generator, n! or n!/2 for a giant, else by a
/// stabiliser chain. Throws LimitError as chains do.
Integer order(const PermutationGroup& group, const StabiliserChainOptions& options = {});

/// A_n or S_n in its natural action on the points that move.
struct Giant {
  Point points = 0;        ///< n
  bool symmetric = false;  ///< S_n; otherwise A_n
  Integer order() const;   ///< n! or n!/2
  std::string name() const { return (symmetric ? "S_" : "A_") + std::to_string(points); }
};

/// Certain when it answers: a transitive group of n points with an element that has a cycle of prime length p,
/// n/2 < p < n−2, is primitive and holds a p-cycle, so it holds A_n (Jordan 1873; Wielandt, Finite Permutation Groups,
/// 13.9). Such elements are looked for among random ones: a giant is missed with probability about 10⁻⁶. Groups of at
/// most 7 moved points are decided by their order. O(n log n) products of permutations at most, O(log n) for giants.
/// Throws LimitError.
std::optional<Giant> find_giant(const PermutationGroup& group);

/// k!.
Integer factorial(Point k);

/// No generator is an odd permutation, hence no element.
bool all_even(const PermutationGroup& group);

}  // namespace krohn
