// automata/prime_cascade.h — cuts the group layers of a cascade into cyclic groups of prime order (Krohn–Rhodes for
// solvable groups).
#pragma once

#include <cstdint>

#include "automata/cascade.h"

namespace krohn {

/// The same emulation with two kinds of layers only: *resets*, whose actions are the identity and constants, and
/// *shifts* of Z_p for a prime p, whose actions are x ↦ x + b (mod p).
///
/// A layer with the bijections G and constants becomes the coordinates of g ∈ G in a prime series, then a reset layer
/// for the point r that the last constant wrote: its label is r·g. A bijection h moves g to g·h and leaves r; a
/// constant c leaves g and writes r = c·g⁻¹. Throws InputError naming the layer whose group is not solvable, LimitError
/// past `max_contexts` over all layers or a group of more than 100,000 elements.
Cascade prime_cascade(const Cascade& cascade, std::uint64_t max_contexts = 5'000'000);

}  // namespace krohn
