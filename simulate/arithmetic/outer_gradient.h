// simulate/arithmetic/outer_gradient.h — a part of a gradient that is a product of few rows, as a model hands it to
// the optimiser: to write it out would take longer than to make it.
#pragma once

#include <cstddef>

#include "krohn/simulate/arithmetic/numbers.h"

namespace krohn {

/// The gradient by a matrix of rows × columns parameters, the first of which is parameter `first`: Σ_t left(t, i)
/// right(t, j) by number (i, j). Of no terms: there is none.
template <class Real>
struct OuterGradient {
  std::size_t first = 0, rows = 0, columns = 0, terms = 0;
  Numbers<Real> left, right;
};

}  // namespace krohn
