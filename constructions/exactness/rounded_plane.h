// constructions/exactness/rounded_plane.h — points of the plane and 2×2 matrices in one floating-point format, every
// operation rounded: what the searches for locked rotations compute with.
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cstdint>
#include <numbers>
#include <type_traits>
#include <utility>

#include "krohn/constructions/network/precision.h"

namespace krohn {

/// Calls `body` with a number of the format: with_number(p, [](auto number) { using Number = decltype(number); … }).
template <class Body>
decltype(auto) with_number(Precision precision, Body&& body) {
  switch (precision) {
    case Precision::kFp64:
      return body(double{});
    case Precision::kFp32:
      return body(float{});
    case Precision::kFp16:
      return body(Eigen::half{});
    default:
      return body(Eigen::bfloat16{});
  }
}

template <class Number>
struct NumberTraits;
template <>
struct NumberTraits<double> {
  using Bits = std::uint64_t;
  static constexpr int digits = 53;
};
template <>
struct NumberTraits<float> {
  using Bits = std::uint32_t;
  static constexpr int digits = 24;
};
template <>
struct NumberTraits<Eigen::half> {
  using Bits = std::uint16_t;
  static constexpr int digits = 11;
};
template <>
struct NumberTraits<Eigen::bfloat16> {
  using Bits = std::uint16_t;
  static constexpr int digits = 8;
};

/// Exact.
template <class Number>
double widen_number(Number number) {
  if constexpr (std::is_floating_point_v<Number>)
    return static_cast<double>(number);
  else
    return static_cast<double>(static_cast<float>(number));
}

/// A number of the format near `value`: the nearest, but for ties that a first rounding to float makes.
template <class Number>
Number narrow_number(double value) {
  if constexpr (std::is_floating_point_v<Number>)
    return static_cast<Number>(value);
  else
    return Number(static_cast<float>(value));
}

/// `steps` units in the last place further from 0; zero stays zero. For normal numbers far from the ends of the range.
template <class Number>
Number stepped(Number number, int steps) {
  using Bits = typename NumberTraits<Number>::Bits;
  if (number == Number(0)) return number;
  return std::bit_cast<Number>(static_cast<Bits>(std::bit_cast<Bits>(number) + static_cast<Bits>(steps)));
}

template <class Number>
struct PlanePoint {
  Number x, y;
  friend bool operator==(const PlanePoint& a, const PlanePoint& b) { return a.x == b.x && a.y == b.y; }
};

/// (xx, xy; yx, yy).
template <class Number>
struct PlaneMatrix {
  Number xx, xy, yx, yy;
};

/// One row of a product, left to right; with a grid, rounded to whole numbers by two more sums.
template <class Number>
class RoundedPlane {
 public:
  using Point = PlanePoint<Number>;
  using Matrix = PlaneMatrix<Number>;

  explicit RoundedPlane(double grid = 0) : grid_(narrow_number<Number>(grid)), has_grid_(grid != 0) {}

  Number row(Number a, Number b, const Point& point) const {
    const Number first = a * point.x, second = b * point.y;
    Number sum = first + second;
    if (!has_grid_) return sum;
    sum = sum + grid_;
    return sum - grid_;
  }

  Point operator()(const Matrix& matrix, const Point& point) const {
    return {row(matrix.xx, matrix.xy, point), row(matrix.yx, matrix.yy, point)};
  }

 private:
  Number grid_;
  bool has_grid_;
};

template <class Number>
PlaneMatrix<Number> complex_number(Number c, Number s) {
  return {c, -s, s, c};
}

}  // namespace krohn
