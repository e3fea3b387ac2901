// groups/permutations/permutation.h — a permutation of {0, …, n−1} and its reflection length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/groups/base/random.h"

namespace krohn {

using Point = std::uint32_t;

/// A bijection of {0, …, degree−1}. States move as q·w, so `f * g` means first f, then g (MATH.md §1).
class Permutation {
 public:
  /// The identity on `degree` points.
  static Permutation identity(Point degree);

  /// The permutation with `point ↦ images[point]`.
  /// Throws InputError naming the first repeated or out-of-range image. O(n).
  static Permutation from_images(std::vector<Point> images);

  Point degree() const { return static_cast<Point>(images_.size()); }
  Point operator[](Point point) const { return images_[point]; }
  std::span<const Point> images() const { return images_; }
  bool is_identity() const;

  /// Cycles of length at least 2, each rotated to start at its least point, in increasing order of that point.
  std::vector<std::vector<Point>> cycles() const;

  /// The least number of reflections whose product is this permutation's matrix: n minus the number of cycles,
  /// fixed points counted. Equals codim Fix (Cartan–Dieudonné); Grazzi et al., Prop. 1.2, gives only the bound n−1.
  Point reflection_length() const;

  /// Least k ≥ 1 with p^k = id: the lcm of the cycle lengths. Throws LimitError past 2^64 − 1.
  std::uint64_t order() const;

  Permutation inverse() const;

  /// p^exponent, by squaring.
  Permutation power(std::uint64_t exponent) const;

  friend bool operator==(const Permutation&, const Permutation&) = default;
  friend auto operator<=>(const Permutation&, const Permutation&) = default;
  friend Permutation operator*(const Permutation& f, const Permutation& g);

 private:
  explicit Permutation(std::vector<Point> images) : images_(std::move(images)) {}
  std::vector<Point> images_;
};

/// First `f`, then `g`. Throws InputError when the degrees differ.
Permutation operator*(const Permutation& f, const Permutation& g);

/// Reads disjoint or overlapping cycles with points counted from 1, as textbooks and GAP write them: "(1 2 3)(4 5)" or
/// "(1,2,3)(4,5)"; "()" is the identity. Overlapping cycles are multiplied left to right.
/// Throws InputError with the column of the first fault.
Permutation parse_cycles(std::string_view text, Point degree);

/// The inverse of `parse_cycles`: "(1 2 3)(4 5)", points from 1; the identity is "()".
std::string to_string(const Permutation& permutation);

/// The swap of two points.
struct Transposition {
  Point first, second;

  friend bool operator==(const Transposition&, const Transposition&) = default;
};

/// As many as the reflection length, n less the number of cycles: (a_0 a_1), (a_0 a_2), … of each cycle (a_0 a_1 …),
/// whose product, first to last, is the permutation. a_0 is the least of its cycle, so that first < second. O(n).
std::vector<Transposition> transpositions_of(const Permutation& permutation);

/// The swap as a permutation of `degree` points. Throws InputError when one of its points is no less than `degree`.
Permutation permutation_of(const Transposition& swap, Point degree);

/// A uniformly random permutation of {0, …, degree−1}.
Permutation random_permutation(Point degree, Random& random);

}  // namespace krohn
