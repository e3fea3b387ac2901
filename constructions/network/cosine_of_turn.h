// constructions/network/cosine_of_turn.h — cosines of exact fractions of a turn, in integers: a weight that a file
// gives as p/q is one number, whatever the C library and the processor.
#pragma once

#include <cstdint>

namespace krohn {

/// cos(2π·p/q): exact where it is 0, ±½ or ±1, otherwise rounded to odd at 64 significant bits (cut off there, the last
/// bit 1). Rounding such a number once more, to at most 62 bits and in any way, is rounding the true value (Boldo &
/// Melquiond 2008). assert(0 ≤ p < q ≤ 2^58); p/q need not be reduced. About 5 µs.
long double cosine_of_turn(std::int64_t p, std::int64_t q);

}  // namespace krohn
