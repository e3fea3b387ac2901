// simulate/prove/orders/exact_order.h — proofs that a layer computes without any rounding, in whatever way its letters'
// matrices, as they are stored, are associated: then every order of these gives the numbers that exact arithmetic gives
// (MATH.md §5, "Orders"). How they were stored is no part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "krohn/simulate/evaluate/layer_run.h"

namespace krohn {

/// A number that is only ever rounded upward, so that it stays a bound of what it was computed for: never negative, and
/// infinite where a NaN or an overflow came in. Sums and products in the format whose limits are in question would
/// round: 2^53 + 1 + 1 is 2^53.
class UpperBound {
 public:
  UpperBound() = default;
  /// |number|; infinite for a NaN.
  explicit UpperBound(double number);

  double value() const { return value_; }
  friend UpperBound operator+(UpperBound a, UpperBound b);
  friend UpperBound operator*(UpperBound a, UpperBound b);
  friend bool operator<(UpperBound a, UpperBound b) { return a.value_ < b.value_; }

 private:
  double value_ = 0;
};

/// A set of numbers: all are multiples of `grain`, a power of two, and at most `most` in absolute value. Sums of them
/// are multiples of the grain too, so a sum whose partial sums are within a bound is exact when {grain, bound} fits.
struct GrainRange {
  double grain = 0;  ///< 0 when all numbers are 0
  UpperBound most;

  void add(double number);
  GrainRange& operator|=(const GrainRange& other);
  /// Products of a number of each.
  friend GrainRange operator*(const GrainRange& a, const GrainRange& b) { return {a.grain * b.grain, a.most * b.most}; }
};

struct ExactnessLimits {
  std::uint64_t max_maps = 1'000'000;  ///< maps, vectors of an orbit
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
};

/// All states of a layer that words reach, n·d numbers each, as far as the bounds need them.
struct StateExtent {
  GrainRange entries;
  UpperBound column_sum;  ///< most of Σ |h| over a column

  /// Adds a state of n rows.
  void add(const std::vector<double>& numbers, std::size_t n);
};

/// The reason why the layer is exact, in words; nothing when no proof was found, which says nothing about the layer.
/// The states must be all that words reach if letters round nothing; that they do not is part of what is proved.
///
/// With maps (`ordered.affine()`): every composition of letters, in any association, and its application to any state.
/// In the UT form: chunks of any number of letters. O(maps · letters · n³), O(vectors · factors · n).
template <class A>
std::optional<std::string> exactness(const OrderedLayer<A>& ordered, const StateExtent& states,
                                     const ExactnessLimits& limits);

}  // namespace krohn
