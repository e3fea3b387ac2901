// simulate/models/recurrence/state_scales.h — powers of two that keep states within the range of their numbers, where
// nothing that is read off them depends on their scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "krohn/simulate/arithmetic/numbers.h"

namespace krohn {

/// States after every kEvery-th letter are multiplied by what brings their greatest number into [½, 1). No bit of a
/// state's direction changes by it. A loss that is the same at every scale has no gradient by these numbers.
template <class Real>
class StateScales {
 public:
  static constexpr std::size_t kEvery = 8;

  StateScales() = default;  ///< nothing is scaled
  explicit StateScales(std::size_t nodes) : of_(nodes, 1) {}

  bool at(std::size_t position) const { return !of_.empty() && position % kEvery == kEvery - 1; }
  /// 0, and what is not finite, stays as it is.
  void scale(std::size_t node, std::span<Real> state) {
    Real greatest = 0;
    for (const Real x : state) greatest = std::max(greatest, std::abs(x));
    if (!(greatest > 0) || !std::isfinite(greatest)) return;
    int exponent = 0;
    std::frexp(greatest, &exponent);
    const Real by = of_[node] = std::ldexp(Real{1}, -exponent);
    for (Real& x : state) x *= by;
  }
  /// From the gradient by the state that went on to the one by the state before it was scaled.
  void scale_gradient(std::size_t node, std::span<Real> by_state) const {
    for (Real& by : by_state) by *= of_[node];
  }

 private:
  Numbers<Real> of_;
};

}  // namespace krohn
