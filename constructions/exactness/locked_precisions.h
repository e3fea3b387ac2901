// constructions/exactness/locked_precisions.h — in which precisions rounding keeps a network on its codewords, letter
// after letter.
#pragma once

#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/constructions/network/precision.h"

namespace krohn {

/// The precisions that are not in `exact_precisions`, but in which every layer takes every codeword to the codeword
/// that is nearest to the exact result, bit for bit, when rows are summed from left to right and every product and
/// every sum is rounded: exact for words of every length, but in this order of evaluation only. Looks at layers of
/// dense, block-diagonal, diagonal, map and zero matrices whose numbers all are numbers of the precision; gives nothing
/// for other layers, and where more than 2·10^7 numbers would have to be looked at. O(codewords · actions · (n² +
/// codewords · n)).
std::vector<Precision> locked_precisions(const Network& network);

}  // namespace krohn
