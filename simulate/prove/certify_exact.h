// simulate/prove/certify_exact.h — certificate 1 of MATH.md §5 in exact arithmetic.
#pragma once

#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// *Closed exact states*: in every layer the states that its actions reach from H_0 are found, as exact numbers; they
/// are finitely many, each is decoded for certain, and the machine of labels so found emulates the automaton. Proved
/// for every length in exact arithmetic, whatever the form of the weights. When the machine does not emulate, a search
/// over tuples of states finds a shortest failing word. When states do not close within the limits, nothing is decided:
/// proved up to no letter, with `limit` set. Throws InputError when the network has no exact form
/// (simulate/evaluate/exact_network.h). O(states · actions) exact steps and decodings.
Certificate certify_exact(const Network& network, const CertifyOptions& options);

}  // namespace krohn
