// automata/cascades/prime_cascade.h — cuts the group layers of a cascade into simple groups, the primes of Krohn and
// Rhodes.
#pragma once

#include <cstdint>

#include "krohn/automata/cascades/cascade.h"

namespace krohn {

struct PrimeCascadeOptions {
  std::uint64_t max_contexts = 5'000'000;  ///< over all layers; LimitError beyond
  /// The most elements of a simple group that is not abelian: 0 asks for solvable groups, 60 allows A_5.
  std::uint64_t largest_simple = 0;
};

/// The same emulation with layers of three kinds only: *resets*, whose actions are the identity and constants; *shifts*
/// of Z_p for a prime p, whose actions are x ↦ x + b (mod p); and simple groups that are not abelian, in their regular
/// action on as many labels as they have elements.
///
/// A layer with the bijections G and constants becomes the coordinates of g ∈ G in a composition series, then a reset
/// layer for the point r that the last constant wrote: its label is r·g. A bijection h moves g to g·h and leaves r; a
/// constant c leaves g and writes r = c·g⁻¹. Throws InputError naming the layer whose group has a larger factor,
/// LimitError past `max_contexts` or a group of more than 100,000 elements.
Cascade prime_cascade(const Cascade& cascade, const PrimeCascadeOptions& options = {});

}  // namespace krohn
