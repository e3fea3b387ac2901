// constructions/exactness/locked_rotation.h — rotations of the plane that rounding does not move: codewords and weights
// of one format, found by search, that one letter takes into one another bit for bit (MATH.md §5).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "krohn/constructions/network/precision.h"

namespace krohn {

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
