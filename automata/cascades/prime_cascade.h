// automata/cascades/prime_cascade.h — cascades of prime groups, and of layers that exchange neighbours.
#pragma once

#include <cstdint>
#include <span>

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

// Cuts the layers of a cascade into resets and single swaps: what one generalized
// Householder factor per token can do in a layer of DeltaNet.

struct SwapCascadeOptions {
  std::uint64_t max_entries = 50'000'000;  ///< contexts and nodes times labels, over all layers; LimitError beyond
};

/// The same emulation with layers of two kinds only: *resets*, whose actions are the identity and constants, and
/// *swaps*, whose actions are the identity and swaps of two labels (MATH.md §3, "One reflection a token").
///
/// Bijections of more than one swap are put off: binary counters hold the position modulo a power of two, M; registers
/// gather the product of each block of M letters; and while a block is read, its predecessor's product is done, a swap
/// a letter. M is the least power of two such that no product of M bijections takes more than M swaps: at most twice
/// the labels. At the start the last register holds some product, and the labels are those that it takes to the initial
/// ones. A layer with bijections and constants becomes the points of a base of its group, a layer of swaps each,
/// then resets for the point that the last constant wrote, as in prime_cascade. One layer of n labels whose bijections
/// need M > 1 takes 2 log₂ M + 2 layers, of which log₂ M, the counters, are shared by all. Layers that move their
/// labels alike, each knowing the letter alone (the points of a base of a group), share the registers too.
///
/// Throws LimitError past `max_entries`, of which the products of a block, in pairs, may have no more points either,
/// and for groups of more than 100,000 elements that stand beside constants.
Cascade swap_cascade(const Cascade& cascade, const SwapCascadeOptions& options = {});

/// Returns the one of several cascades of one automaton that is cut into the fewest layers, then labels in all; the
/// first of equals. Layers of prime order need small registers, a large group in one layer few layers. Those past
/// `max_entries` count only when all are; then throws the first one's LimitError. InputError when there are none.
Cascade smallest_swap_cascade(std::span<const Cascade* const> cascades, const SwapCascadeOptions& options = {});

}  // namespace krohn
