// simulate/evaluate/quantise.h — a network whose stored weights are numbers of a format: what a framework holds after
// it has loaded the weights in bf16, as a network of its own that can be proved or refuted in any arithmetic.
#pragma once

#include "krohn/constructions/network/network.h"

namespace krohn {

/// Every weight of A, B and H_0 rounded once to `format`, to nearest, ties to even; the provenance's note says so.
/// Codewords stay as they are, since decoding is in fp64 everywhere. Structured forms stay structured: maps, signs and
/// zeros have nothing to round; a reflection keeps its rounded key as integers times a power of two, (e_i − e_j)/√2 in
/// bf16 becomes 181/256·(e_i − e_j); a rotation becomes the block-diagonal of its rounded 2×2 matrices.
/// In the format's arithmetics, but for tf32, the structured form of the result computes what the given network's does,
/// bit for bit. Networks are in fp64 already, so that rounding to it changes nothing.
/// Throws InputError when a weight overflows the format, or a rounded key has more than 31 bits after the point, which
/// happens in fp32 to entries below 1/256. O(weights).
Network quantise(const Network& network, Precision format);

/// True if rounding them to `format` changes none of these weights: a wider format then holds the same. O(weights).
bool has_weights_of(const Network& network, Precision format);

}  // namespace krohn
