// simulate/prove/any_order.h — the strongest claim: right however sums and letters are ordered, grouped, split,
// batched and fused, in the format or a wider one (docs/reference/certificate-file.md, "exact in any order").
#pragma once

#include <string>
#include <variant>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certify_options.h"

namespace krohn {

/// The claim, established by simulate/check; or why there is none, in words, which says nothing about the network. Two
/// things are asked beyond what the certificate's file says: that the model's weights are numbers of the format, since
/// a wider one would have others, and that chunks of reflections (the UT transform) do not round either.
/// `options.order` is not looked at. O(words' maps · actions · n³).
/// Throws InputError for an arithmetic other than fp64, fp32, fp16 and bf16.
std::variant<Certificate, std::string> certify_any_order(const Network& network, const CertifyOptions& options);

}  // namespace krohn
