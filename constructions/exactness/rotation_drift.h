// constructions/exactness/rotation_drift.h — for how many letters the rounding errors of rotations stay small (MATH.md
// §5, "Snapping").
#pragma once

#include <cstdint>

#include "krohn/constructions/network/precision.h"

namespace krohn {

/// A state of `planes` unit vectors, started at rounded codewords and turned by rounded rotations with one rounding for
/// each product and sum, stays nearer than `radius` to the exact one for this many letters: the greatest K with
/// √planes · ((1 + u)(1 + η)^K − 1 + u) < radius, η = √2((1 + u)³ − 1) and what underflow adds.
std::uint64_t letters_before_drift(std::uint32_t planes, double radius, Precision precision);

}  // namespace krohn
