// simulate/prove/certify_snapped.h — the certificate of networks that snap (MATH.md §5).
#pragma once

#include <optional>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/claims/certify_options.h"

namespace krohn {

/// Of a network that snaps after K letters, with one codeword for each label: the bounds of
/// simulate/prove/bounds/bounds.h, started at the rounded codewords, keep every layer within the margin for K letters,
/// after which it snaps to the right codeword. Proved for every length, by induction over blocks of K letters, or
/// nothing. Costs as certify_bounds.
std::optional<Certificate> certify_snapped(const Network& network, const CertifyOptions& options);

}  // namespace krohn
