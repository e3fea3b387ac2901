// groups/stabiliser_chain.h — base, strong generators, exact order and membership of a permutation group
// (Schreier–Sims; Sims 1970; Seress, Permutation Group Algorithms, 2003, ch. 4).
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "groups/permutation_group.h"
#include "groups/random.h"

namespace krohn {

using Integer = boost::multiprecision::cpp_int;

struct StabiliserChainOptions {
  /// Numbers held by all transversals together, Σ |orbit|·degree; LimitError beyond.
  std::uint64_t max_entries = 100'000'000;
};

/// A chain G = G⁽⁰⁾ ≥ G⁽¹⁾ ≥ … ≥ 1 where G⁽ⁱ⁺¹⁾ is the stabiliser of the base point b_i in G⁽ⁱ⁾, with a transversal of
/// each step. The images of the base determine an element. Always exact: strong generators are found by random
/// products, then every Schreier generator is checked, unless the order already meets the largest possible one.
class StabiliserChain {
 public:
  /// Deterministic. Each base point is the least point that the generators found so far for its stabiliser move.
  /// O(Σ |orbit| · generators · degree · base length). Throws LimitError.
  explicit StabiliserChain(const PermutationGroup& group, const StabiliserChainOptions& options = {});

  Point degree() const { return degree_; }
  /// |G|, the product of the orbit lengths.
  Integer order() const;
  /// b_1 … b_k; every orbit has at least two points, so none is redundant where it stands. Empty for the trivial group.
  std::vector<Point> base() const;
  /// Generators of G; those that fix the first i base points generate G⁽ⁱ⁾.
  std::span<const Permutation> strong_generators() const { return strong_; }
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
    std::vector<std::int32_t> position;  ///< of a point in `orbit`, −1 outside it
    std::vector<Permutation> from_base;  ///< base_point ↦ orbit[i]
    std::vector<Permutation> to_base;    ///< their inverses
    std::vector<std::uint32_t> checked;  ///< per orbit point, how many Schreier generators are known to sift
  };
  struct Residue {
    Permutation rest;
    std::size_t level;  ///< where sifting stopped
  };

  Residue sift(Permutation permutation, std::size_t from) const;
  void add_level(Point base_point);
  void add_strong_generator(const Permutation& generator, std::size_t first, std::size_t last);
  void extend_orbit(Level& level, std::uint32_t new_generator);
  void visit(Level& level, std::size_t index, std::uint32_t generator);
  bool absorb(const Permutation& element);
  void find_strong_generators(const std::vector<Permutation>& generators, const Integer& bound);
  void check_schreier_generators();
  bool check_level(std::size_t level, std::size_t& resume);

  Point degree_ = 0;
  std::uint64_t entries_ = 0;
  StabiliserChainOptions options_;
  std::vector<Permutation> strong_;
  std::vector<Level> levels_;
};

/// The exact order of the group: the lcm of the cycle lengths for one generator, else by a stabiliser chain.
Integer order(const PermutationGroup& group);

}  // namespace krohn
