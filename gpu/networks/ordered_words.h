// gpu/networks/ordered_words.h — random words through a network in the orders that compose letters, each word by a
// parallel scan over its affine maps or in chunks of reflections, layer after layer, on a CUDA device.
#pragma once

#include "krohn/constructions/network/network.h"
#include "krohn/gpu/device/place.h"
#include "krohn/simulate/evaluate/evaluate.h"

namespace krohn {

/// The report of `sample_from` (simulate/evaluate/lanes/sample.h) in options.order, equal in every number: the products
/// are made side by side, but each is the one that the order names. Memory: a map for every 64 letters, or for every
/// chunk; with several layers 12 bytes a letter too. Throws as `sample`; InputError for several lengths, the sequential
/// order, an arithmetic or a network that devices do not have; SystemError when there is no device, or it fails.
SampleReport sample_words_in_order(Place place, const Network& network, ArithmeticName arithmetic,
                                   const SampleOptions& options, std::uint64_t first = 0);

}  // namespace krohn
