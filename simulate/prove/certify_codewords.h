// simulate/prove/certify_codewords.h — certificate 1 of MATH.md §5: all states are codewords.
#pragma once

#include <optional>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/claims/certify_options.h"

namespace krohn {

/// Certificate 1 of MATH.md §5, *closed codewords*: in every layer, from H_0 on, every action takes every codeword to
/// the codeword that the decoder then picks, bit for bit; and the machine of labels that was found so, not the one that
/// the tables promise, emulates the automaton (automata/cascades/emulation.h: by induction over the wiring for all
/// label tuples that decode, or else for all that words reach). Proved for every length, or nothing: not closing is no
/// refutation. O(Σ codewords · actions · cost of one step).
std::optional<Certificate> certify_closed_codewords(const Network& network, const CertifyOptions& options);

}  // namespace krohn
