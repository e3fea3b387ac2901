// constructions/exactness/exactness.h — in which precisions a network is bit-exact whatever the order of evaluation,
// and how far apart its codewords are.
#pragma once

#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/constructions/network/precision.h"

namespace krohn {

/// The precisions in which every step from a codeword to a codeword is exact by arithmetic alone: all products, partial
/// sums and results are multiples of one power of two and small enough for the significand, in any order of summation,
/// so that no operation rounds. Swaps are recognised as such and need only the differences of two coordinates.
/// Sufficient, not necessary: a precision that is absent may still be exact by luck of rounding, which certificates
/// decide. O(codewords · n · d + weights).
std::vector<Precision> exact_precisions(const Network& network);

/// Whether one layer is so in the precision. O(codewords · n · d + weights).
bool is_exact(const Layer& layer, Precision precision);

/// The least Frobenius distance of two codewords of one book that stand for different labels; infinity when there are
/// no two. O(N² n d) for N stored codewords; O(N n d), from H_0 alone, when more than 2048 are the orbit of H_0 under
/// isometries (B = 0, every A with a Householder form), where all codewords have the same distances.
double least_codeword_distance(const Layer& layer);

}  // namespace krohn
