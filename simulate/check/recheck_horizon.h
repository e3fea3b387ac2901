// simulate/check/recheck_horizon.h — the re-checker's part for linear horizons, in rational arithmetic.
#pragma once

#include <string>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/check/not_established.h"
#include "krohn/simulate/check/recheck_network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// Establishes that words of at most `proof.length` letters are read rightly (docs/reference/certificate-file.md, "linear
/// horizon"), or throws NotEstablished. Returns what was found, as a sentence.
std::string check_horizon(const LinearHorizon& proof, const Network& network, const RecheckedNetwork& plain);

}  // namespace krohn
