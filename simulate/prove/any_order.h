// simulate/prove/any_order.h — the strongest claim: right however sums and letters are ordered, grouped, split,
// batched and fused, in the format or a wider one (docs/certificate-file.md, "exact in any order").
#pragma once

#include <string>
#include <variant>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certify_options.h"

namespace krohn {

/// The claim, established by simulate/check, whose inequalities are the only ones there are; or why there is none, in
/// words, which says nothing about the network. `options.order` is not looked at. O(words' maps · actions · n³).
/// Throws InputError for an arithmetic other than fp64, fp32, fp16 and bf16.
std::variant<Certificate, std::string> certify_any_order(const Network& network, const CertifyOptions& options);

}  // namespace krohn
