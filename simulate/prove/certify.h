// simulate/prove/certify.h — proves that a network computes its automaton, or shows a shortest word on which it does
// not.
#pragma once

#include <optional>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// The strongest claim that the certificates give, each tried in turn: closed codewords; the reachable set as far as
/// 65,536 pairs; of a network that snaps, the bounds between snaps; contraction (simulate/prove/bounds/bounds.h); the
/// reachable set to the limits. A proof for all lengths or a failing word ends it. Otherwise the greater of two lengths
/// is proved, that of the horizon bound or that of the search, with the `limit` that the search met; and where that is
/// below 4,096 letters, long words are read (simulate/prove/machine/certify_reader.h), since errors add up in words
/// that no search reaches: a wrong one refutes. In another order than `sequential`: certify_order. In exact arithmetic,
/// where all orders give the same: simulate/prove/certify_codewords.h.
Certificate certify(const Network& network, const CertifyOptions& options);

/// For a network that snaps after K letters, with one codeword for each label: the bounds of
/// simulate/prove/bounds/bounds.h, started at the rounded codewords, keep every layer within the margin for K letters,
/// after which it snaps to the right codeword. Proved for every length, by induction over blocks of K letters, or
/// nothing. Costs as certify_bounds.
std::optional<Certificate> certify_snapped(const Network& network, const CertifyOptions& options);

}  // namespace krohn
