// simulate/check/recheck_any_order.h — the re-checker's part for claims that hold in any order, in exact arithmetic.
#pragma once

#include <string>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/check/recheck_network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// Establishes that nothing can round, for tables of codewords that were established before (docs/reference/certificate-file.md,
/// "exact in any order"), or throws NotEstablished. Returns what was found, as a sentence.
std::string check_any_order(const AnyOrder& proof, const Network& network, const RecheckedNetwork& plain);

}  // namespace krohn
