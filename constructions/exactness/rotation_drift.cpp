#include "krohn/constructions/exactness/rotation_drift.h"

#include <cmath>

#include "krohn/groups/stated_functions.h"

namespace krohn {
namespace {

struct Format {
  double unit_roundoff, least_number;  ///< the least positive, subnormal one
};

Format format_of(Precision precision) {
  switch (precision) {
    case Precision::kFp64:
      return {0x1p-53, 0x1p-1074};
    case Precision::kFp32:
      return {0x1p-24, 0x1p-149};
    case Precision::kFp16:
      return {0x1p-11, 0x1p-24};
    default:
      return {0x1p-8, 0x1p-133};
  }
}

}  // namespace

std::uint64_t letters_before_drift(std::uint32_t planes, double radius, Precision precision) {
  const auto [u, least] = format_of(precision);
  const double growth = std::sqrt(2.0) * (u * (3 + u * (3 + u)) + 4 * least);
  const double room = radius / std::sqrt(static_cast<double>(planes)) - u;
  if (room <= u) return 0;
  // A hair less than the quotient, for the roundings of this line.
  const double letters = (stated::log1p(room) - stated::log1p(u)) / stated::log1p(growth) * (1 - 1e-12);
  return static_cast<std::uint64_t>(std::floor(letters));
}

}  // namespace krohn
