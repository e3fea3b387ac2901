// gpu/networks/pair_search.h — simulate/prove/certify.h's closed reachable set, searched on a CUDA device.
#pragma once

#include "krohn/gpu/device/place.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {

/// The share of a device's free bytes that pairs may take beside the work on them: seven eighths, less the work.
/// Throws NoDevice where that leaves nothing.
std::uint64_t bytes_for_pairs(std::uint64_t free, std::uint64_t work);

/// The certificate of certify_reachable_set, equal in claim, counts and failing word, for up to 2^31 − 2 pairs. The
/// memory for options.max_pairs, or as many as options.max_bytes and the device hold, is taken at once: a record, its
/// parent and at most 16 bytes of table for each. Throws InputError for an arithmetic or a network that devices do not
/// have; SystemError when there is no device, or it fails.
Certificate search_pairs(Place place, const Network& network, const CertifyOptions& options);

}  // namespace krohn
