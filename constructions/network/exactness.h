// constructions/network/exactness.h — in which precisions a network is bit-exact whatever the order of evaluation,
// and how far apart its codewords are.
#pragma once

#include <Eigen/Core>

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <vector>

#include "krohn/constructions/network/network.h"

namespace krohn {

/// The precisions in which every step from a codeword to a codeword is exact by arithmetic alone: all products, partial
/// sums and results are multiples of one power of two and small enough for the significand, in any order of summation,
/// so that no operation rounds. Swaps are recognised as such and need only the differences of two coordinates.
/// Sufficient, not necessary: a precision that is absent may still be exact by luck of rounding, which certificates
/// decide. O(codewords · n · d + weights).
std::vector<Precision> exact_precisions(const Network& network);

/// True if one layer is so in the precision. O(codewords · n · d + weights).
bool is_exact(const Layer& layer, Precision precision);

/// The least Frobenius distance of two codewords of one book that stand for different labels; infinity when there are
/// no two. O(N² n d) for N stored codewords; O(N n d), from H_0 alone, when more than 2048 are the orbit of H_0 under
/// isometries (B = 0, every A with a Householder form), where all codewords have the same distances.
double least_codeword_distance(const Layer& layer);

// In which precisions rounding keeps a network on its codewords, letter
// after letter.

/// The precisions that are not in `exact_precisions`, but in which every layer takes every codeword to the codeword
/// that is nearest to the exact result, bit for bit, when rows are summed from left to right and every product and
/// every sum is rounded: exact for words of every length, but in this order of evaluation only. Looks at layers of
/// dense, block-diagonal, diagonal, map and zero matrices whose numbers all are numbers of the precision; gives nothing
/// for other layers, and where more than 2·10^7 numbers would have to be looked at. O(codewords · actions · (n² +
/// codewords · n)).
std::vector<Precision> locked_precisions(const Network& network);

// For how many letters the rounding errors of rotations stay small (MATH.md
// §5, "Snapping").

/// A state of `planes` unit vectors, started at rounded codewords and turned by rounded rotations with one rounding for
/// each product and sum, stays nearer than `radius` to the exact one for this many letters: the greatest K with
/// √planes · ((1 + u)(1 + η)^K − 1 + u) < radius, η = √2((1 + u)³ − 1) and what underflow adds.
std::uint64_t letters_before_drift(std::uint32_t planes, double radius, Precision precision);

// Rotations of the plane that rounding does not move: codewords and weights of one format, found by search, that one
// letter takes into one another bit for bit (MATH.md §5).

// Points of the plane and 2×2 matrices in one floating-point format, every
// operation rounded: what the searches for locked rotations compute with.

/// Calls `body` with a number of the format: with_number(p, [](auto number) { using Number = decltype(number); … }).
template <class Body>
decltype(auto) with_number(Precision precision, Body&& body) {
  switch (precision) {
    case Precision::kFp64:
      return body(double{});
    case Precision::kFp32:
      return body(float{});
    case Precision::kFp16:
      return body(Eigen::half{});
    default:
      return body(Eigen::bfloat16{});
  }
}

template <class Number>
struct NumberTraits;
template <>
struct NumberTraits<double> {
  using Bits = std::uint64_t;
  static constexpr int digits = 53;
};
template <>
struct NumberTraits<float> {
  using Bits = std::uint32_t;
  static constexpr int digits = 24;
};
template <>
struct NumberTraits<Eigen::half> {
  using Bits = std::uint16_t;
  static constexpr int digits = 11;
};
template <>
struct NumberTraits<Eigen::bfloat16> {
  using Bits = std::uint16_t;
  static constexpr int digits = 8;
};

/// Exact.
template <class Number>
double widen_number(Number number) {
  if constexpr (std::is_floating_point_v<Number>)
    return static_cast<double>(number);
  else
    return static_cast<double>(static_cast<float>(number));
}

/// A number of the format near `value`: the nearest, but for ties that a first rounding to float makes.
template <class Number>
Number narrow_number(double value) {
  if constexpr (std::is_floating_point_v<Number>)
    return static_cast<Number>(value);
  else
    return Number(static_cast<float>(value));
}

/// `steps` units in the last place further from 0; zero stays zero. For normal numbers far from the ends of the range.
template <class Number>
Number stepped(Number number, int steps) {
  using Bits = typename NumberTraits<Number>::Bits;
  if (number == Number(0)) return number;
  return std::bit_cast<Number>(static_cast<Bits>(std::bit_cast<Bits>(number) + static_cast<Bits>(steps)));
}

template <class Number>
struct PlanePoint {
  Number x, y;
  friend bool operator==(const PlanePoint& a, const PlanePoint& b) { return a.x == b.x && a.y == b.y; }
};

/// (xx, xy; yx, yy).
template <class Number>
struct PlaneMatrix {
  Number xx, xy, yx, yy;
};

/// One row of a product, left to right; with a grid, rounded to whole numbers by two more sums.
template <class Number>
class RoundedPlane {
 public:
  using Point = PlanePoint<Number>;
  using Matrix = PlaneMatrix<Number>;

  explicit RoundedPlane(double grid = 0) : grid_(narrow_number<Number>(grid)), has_grid_(grid != 0) {}

  Number row(Number a, Number b, const Point& point) const {
    const Number first = a * point.x, second = b * point.y;
    Number sum = first + second;
    if (!has_grid_) return sum;
    sum = sum + grid_;
    return sum - grid_;
  }

  Point operator()(const Matrix& matrix, const Point& point) const {
    return {row(matrix.xx, matrix.xy, point), row(matrix.yx, matrix.yy, point)};
  }

 private:
  Number grid_;
  bool has_grid_;
};

template <class Number>
PlaneMatrix<Number> complex_number(Number c, Number s) {
  return {c, -s, s, c};
}

/// Codeword i of Z_m lies near the angle 2πi/m, and `turns.at(w)`, close to the rotation by 2πw/m, takes codeword i to
/// codeword i + w: exactly, when the two products of a row and then their sum are each rounded to `precision` (and,
/// with a grid, as below). A proof for words of every length in that arithmetic, letter after letter, and in no other:
/// there the weights are rotations by a slightly wrong angle. All numbers are numbers of the format.
struct LockedRotation {
  std::uint32_t order = 1;
  Precision precision = Precision::kFp32;
  /// 0: none. Otherwise codewords are points with integer coordinates, and a row is computed as
  /// ((a·x + b·y) + grid) − grid: the first sum is so large that it keeps whole numbers only.
  double grid = 0;
  std::vector<Eigen::Vector2d> codewords;
  std::map<std::uint32_t, Eigen::Matrix2d> turns;  ///< by shift, 0 … m−1, those that were asked for
};

/// Searches radius and weights, first with matrices (c, −s; s, c), complex numbers, then, unless `complex` is asked
/// for, with four entries each on its own; c and s are within 4 units in the last place of the nearest ones. Start (r,
/// 0), so that codewords and turns come in mirror images; a single shift that generates Z_m is searched by closed
/// orbits from any angle. The same result every time; gives up after a stated number of tries, well under a second.
/// `shifts` are taken modulo m. Found for all shifts: table in MATH.md §5.
std::optional<LockedRotation> locked_rotation(std::uint32_t m, const std::vector<std::uint32_t>& shifts,
                                              Precision precision, bool complex = false);

/// For every shift of Z_m.
std::optional<LockedRotation> locked_rotation(std::uint32_t m, Precision precision, bool complex = false);

/// The same onto the grid of whole numbers. A regular polygon has to lie near enough to grid points, which a radius
/// achieves for every m that is not too large for the significand: 60 in fp32 for all shifts.
std::optional<LockedRotation> grid_rotation(std::uint32_t m, const std::vector<std::uint32_t>& shifts,
                                            Precision precision);

/// The definition: every turn takes every codeword to the right one in the stated arithmetic, and (m > 2) every
/// codeword is nearer than half of the side to its corner of one regular polygon, so that they differ. O(m · shifts).
bool is_locked(const LockedRotation& rotation);

}  // namespace krohn
