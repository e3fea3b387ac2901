// simulate/models/recurrence/state_scales.h — powers of two that keep states within the range of their numbers, where
// nothing that is read off them depends on their scale.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "krohn/simulate/arithmetic/numbers.h"

namespace krohn {

/// Every state is multiplied by what brings its greatest number into [½, 1): after each letter, since one letter of
/// small first weights shrinks it to a thousandth, and gradients, too, must stay in range. No bit of a state's
/// direction changes by it. A loss that is the same at every scale has no gradient by these numbers.
template <class Real>
class StateScales {
 public:
  StateScales() = default;  ///< nothing is scaled
  explicit StateScales(std::size_t nodes) : of_(nodes, 1) {}

  bool are_on() const { return !of_.empty(); }
  /// 0, and what is not finite, stays as it is; and by no number whose inverse would be subnormal, or itself.
  void scale(std::size_t node, std::span<Real> state) {
    Bits greatest = 0;
    for (const Real x : state) greatest = std::max<Bits>(greatest, std::bit_cast<Bits>(x) & kMagnitude);
    const Bits exponent = greatest >> kFraction;  // with its bias; 0 for subnormal numbers
    if (greatest == 0 || exponent == kNotFinite) return;
    const Real by = of_[node] =
        std::bit_cast<Real>(std::clamp<Bits>(2 * kBias - 1 - exponent, 1, 2 * kBias - 1) << kFraction);
    for (Real& x : state) x *= by;
  }
  /// From the gradient by the state that went on to the one by the state before it was scaled.
  void scale_gradient(std::size_t node, std::span<Real> by_state) const {
    for (Real& by : by_state) by *= of_[node];
  }

 private:
  using Bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  static constexpr int kFraction = std::numeric_limits<Real>::digits - 1;
  static constexpr Bits kMagnitude = std::numeric_limits<Bits>::max(),
                        kBias = std::numeric_limits<Real>::max_exponent - 1, kNotFinite = 2 * kBias + 1;

  Numbers<Real> of_;
};

}  // namespace krohn
