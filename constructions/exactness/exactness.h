// constructions/exactness/exactness.h — in which precisions a network is bit-exact whatever the order of evaluation,
// and how far apart its codewords are.
#pragma once

#include <cstdint>
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

}  // namespace krohn
