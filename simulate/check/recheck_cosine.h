// simulate/check/recheck_cosine.h — cosines of fractions of a turn for the re-checker of certificates alone: enclosed
// between integers, so that neither the C library nor constructions/network/cosine_of_turn.h has a say in a weight.
#pragma once

#include <cstdint>

namespace krohn {

/// The number of `digits` significant bits, fewer below 2^least_exponent, that is nearest to cos(2π·p/q); |p| and q are
/// at most 2^58 and q > 0.
double nearest_cosine(std::int64_t p, std::int64_t q, int digits, int least_exponent);

}  // namespace krohn
