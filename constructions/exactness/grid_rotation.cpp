// The search for rotations onto whole numbers. With K = 1.5 · 2^(p−1), p the digits of the significand, numbers near K
// are whole numbers, so that (t + K) − K is the whole number nearest to t. A codeword that lies by e beside the regular
// polygon is taken to a point that lies by the turned e, and some rounding of the products, beside the next one, and
// rounds to the next codeword when these two differences are less than ½ apart in both coordinates.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

#include "krohn/constructions/exactness/locked_rotation.h"
#include "krohn/constructions/exactness/rounded_plane.h"
#include "krohn/constructions/network/matrix.h"
#include "krohn/groups/stated_functions.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMostRadii = 1'000'000;
constexpr std::uint64_t kMostOrbitSteps = 4'000'000;
constexpr int kMostRadiusBits = 17;
constexpr double kLeastStep = 0.005;  ///< of the radius

template <class Number>
class GridSearch {
 public:
  using Point = PlanePoint<Number>;
  using Matrix = PlaneMatrix<Number>;

  GridSearch(std::uint32_t m, const std::set<std::uint32_t>& shifts, Precision precision)
      : m_(m), precision_(precision), plane_(kGrid), points_(m), shifts_(shifts.begin(), shifts.end()) {
    for (std::uint32_t i = 0; i < m; ++i) {
      const krohn::Turn turn{i, m};
      polygon_.emplace_back(static_cast<double>(turn.cosine()), static_cast<double>(turn.sine()));
    }
    for (const std::uint32_t shift : shifts_)
      turns_.push_back(
          complex_number(narrow_number<Number>(polygon_[shift].x()), narrow_number<Number>(polygon_[shift].y())));
  }

  std::optional<LockedRotation> run() {
    const double most = std::ldexp(1.0, std::min(kMostRadiusBits, digits - 4));
    const double step = std::max(kLeastStep, most / static_cast<double>(kMostRadii));
    for (double radius = 1; radius <= most; radius += step)
      if (polygon_closes(radius))
        if (auto found = finish()) return found;
    if (shifts_.size() == 1 && std::gcd(shifts_[0], m_) == 1) return closed_orbit(most);
    return std::nullopt;
  }

 private:
  static constexpr int digits = NumberTraits<Number>::digits;
  static constexpr double kGrid = 1.5 * static_cast<double>(std::uint64_t{1} << (digits - 1));

  Point nearest(double radius, std::uint32_t i) const {
    return {narrow_number<Number>(std::nearbyint(radius * polygon_[i].x())),
            narrow_number<Number>(std::nearbyint(radius * polygon_[i].y()))};
  }

  /// Whether the grid points nearest to the polygon of this radius are taken to one another. Most radii fail at one of
  /// the first points.
  bool polygon_closes(double radius) {
    for (std::size_t k = 0; k < shifts_.size(); ++k)
      for (std::uint32_t i = 0; i < m_; ++i)
        if (!(plane_(turns_[k], nearest(radius, i)) == nearest(radius, (i + shifts_[k]) % m_))) return false;
    for (std::uint32_t i = 0; i < m_; ++i) points_[i] = nearest(radius, i);
    return true;
  }

  /// One shift that generates Z_m: m steps from a grid point only have to come back.
  std::optional<LockedRotation> closed_orbit(double most) {
    const auto shift = std::uint64_t{shifts_[0]};
    for (std::uint64_t n = 0; n < kMostOrbitSteps / m_; ++n) {
      const double radius = std::min(most, m_ + static_cast<double>(n) / 8);
      const double angle = 2 * std::numbers::pi * std::fmod(static_cast<double>(n) * (std::numbers::phi - 1), 1.0);
      Point point{narrow_number<Number>(std::nearbyint(radius * stated::cos(angle))),
                  narrow_number<Number>(std::nearbyint(radius * stated::sin(angle)))};
      for (std::uint64_t i = 0; i < m_; ++i) {
        points_[i * shift % m_] = point;
        point = plane_(turns_[0], point);
      }
      if (!(point == points_[0])) continue;
      if (auto found = finish()) return found;
    }
    return std::nullopt;
  }

  std::optional<LockedRotation> finish() const {
    LockedRotation rotation{m_, precision_, kGrid, {}, {{0, Eigen::Matrix2d::Identity()}}};
    for (const Point& point : points_) rotation.codewords.emplace_back(widen_number(point.x), widen_number(point.y));
    for (std::size_t k = 0; k < shifts_.size(); ++k) {
      Eigen::Matrix2d& turn = rotation.turns[shifts_[k]];
      turn << widen_number(turns_[k].xx), widen_number(turns_[k].xy), widen_number(turns_[k].yx),
          widen_number(turns_[k].yy);
    }
    if (!is_locked(rotation)) return std::nullopt;
    return rotation;
  }

  std::uint32_t m_;
  Precision precision_;
  RoundedPlane<Number> plane_;
  std::vector<Point> points_;
  std::vector<std::uint32_t> shifts_;
  std::vector<Eigen::Vector2d> polygon_;
  std::vector<Matrix> turns_;
};

}  // namespace

std::optional<LockedRotation> grid_rotation(std::uint32_t m, const std::vector<std::uint32_t>& shifts,
                                            Precision precision) {
  std::set<std::uint32_t> moving;
  for (const std::uint32_t shift : shifts)
    if (shift % m != 0) moving.insert(shift % m);
  return with_number(precision, [&](auto number) { return GridSearch<decltype(number)>(m, moving, precision).run(); });
}

}  // namespace krohn
