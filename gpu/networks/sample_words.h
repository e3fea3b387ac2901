// gpu/networks/sample_words.h — simulate/evaluate/evaluate.h's test of a network on random words, on a CUDA device.
#pragma once

#include "krohn/constructions/network/network.h"
#include "krohn/gpu/device/place.h"
#include "krohn/simulate/evaluate/evaluate.h"

namespace krohn {

/// The report of `sample_from` (simulate/evaluate/lanes/sample.h), equal in every number, for any number of words: they
/// are read side by side, each letter by letter in the sequential order, and compared with the automaton at every
/// letter where they are read; what comes back is a few numbers for every word and length. `options.threads` is not
/// used. On the processor the same functions run word by word. Throws as `sample`; InputError for another order, or an
/// arithmetic or a network that devices do not have; SystemError when there is no device, or it fails.
SampleReport sample_words(Place place, const Network& network, ArithmeticName arithmetic, const SampleOptions& options,
                          std::uint64_t first = 0);

// Random words in the orders that compose letters: each word by a parallel scan over its affine maps or in chunks of
// reflections, layer after layer.

/// The report of `sample_from` (simulate/evaluate/lanes/sample.h) in options.order, equal in every number: the products
/// are made side by side, but each is the one that the order names. Memory: a map for every 64 letters, or for every
/// chunk; with several layers 12 bytes a letter too. Throws as `sample`; InputError for several lengths, the sequential
/// order, an arithmetic or a network that devices do not have; SystemError when there is no device, or it fails.
SampleReport sample_words_in_order(Place place, const Network& network, ArithmeticName arithmetic,
                                   const SampleOptions& options, std::uint64_t first = 0);

}  // namespace krohn
