// simulate/prove/pairs/certify_reachable.h — certificate 2 of MATH.md §5: all reachable pairs, breadth first.
#pragma once

#include <optional>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/claims/certify_options.h"

namespace krohn {

/// Certificate 2, *closed reachable set*: breadth-first search over pairs (automaton state, all numbers of all layers,
/// and the labels that numbers alone do not tell) under the actual arithmetic, −0 counted as +0. It ends: proved. It
/// meets a wrong answer: refuted by a shortest word. It meets a limit: proved up to the last depth that it completed,
/// with `limit` set. A pair costs 4 bytes for the automaton's state, the bytes of the numbers, 4 for its parent and at
/// most 16 of table.
Certificate certify_reachable_set(const Network& network, const CertifyOptions& options);

}  // namespace krohn
