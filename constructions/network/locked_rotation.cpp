#include "krohn/constructions/network/exactness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <set>

#include "krohn/constructions/network/matrix.h"
#include "krohn/groups/base/stated_functions.h"

namespace krohn {
namespace {

constexpr int kSharedSteps = 4, kOwnSteps = 2;  ///< units in the last place around the nearest weights
constexpr std::uint32_t kSharedRadii = 16'384, kOwnRadii = 12'288;
constexpr std::uint64_t kOrbitSteps = 4'000'000;
/// Points of a regular polygon that its symmetries with the axes and diagonals do not give: each multiplies what the
/// search has to try, and with five it has found nothing.
constexpr std::uint32_t kMaxFreePoints = 4;

std::uint32_t free_points(std::uint32_t m) {
  if (m % 4 == 0) return (m + 7) / 8 - 1;
  const std::uint32_t odd = m % 2 == 0 ? m / 2 : m;
  return (odd - 1) / 2;
}

/// Pairs of steps, the small ones first.
std::vector<std::array<int, 2>> step_pairs(int most) {
  std::vector<std::array<int, 2>> pairs;
  for (int a = -most; a <= most; ++a)
    for (int b = -most; b <= most; ++b) pairs.push_back({a, b});
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& p, const auto& q) {
    return std::abs(p[0]) + std::abs(p[1]) < std::abs(q[0]) + std::abs(q[1]);
  });
  return pairs;
}

enum class Entries { kShared, kOwn };

/// Codewords and turns that are mirror images in the first axis: only the shifts 1 … m/2 have to be found.
template <class Number>
class MirroredSearch {
 public:
  using Point = PlanePoint<Number>;
  using Matrix = PlaneMatrix<Number>;

  MirroredSearch(std::uint32_t m, const std::vector<std::uint32_t>& shifts, Entries entries)
      : m_(m),
        entries_(entries),
        pairs_(step_pairs(entries == Entries::kShared ? kSharedSteps : kOwnSteps)),
        points_(m),
        turns_(m / 2 + 1) {
    for (const std::uint32_t shift : shifts) wanted_.insert(std::min(shift, m - shift));
    for (std::uint32_t w = 0; w <= m / 2; ++w) {
      const krohn::Turn turn{w, m};
      nearest_.push_back({narrow_number<Number>(static_cast<double>(turn.cosine())),
                          narrow_number<Number>(static_cast<double>(turn.sine()))});
    }
  }

  bool run() {
    const std::uint32_t most = entries_ == Entries::kShared ? kSharedRadii : kOwnRadii;
    const auto radii = static_cast<std::uint32_t>(std::min<double>(most, std::ldexp(1.0, digits - 1)));
    for (std::uint32_t n = 0; n < radii; ++n)
      if (try_radius(narrow_number<Number>(radius(n)))) return true;
    return false;
  }

  const std::vector<Point>& points() const { return points_; }

  Matrix turn(std::uint32_t shift) const {
    const Matrix& found = turns_[std::min(shift, m_ - shift)];
    if (shift <= m_ / 2) return found;
    return {found.xx, -found.xy, -found.yx, found.yy};
  }

 private:
  static constexpr int digits = NumberTraits<Number>::digits;

  /// In [1, 2): all of them where they are few, otherwise spread evenly.
  static double radius(std::uint32_t n) {
    if (digits <= 11) return 1 + std::ldexp(n, 1 - digits);
    return 1 + std::fmod(n * (std::numbers::phi - 1), 1.0);
  }

  bool try_radius(Number radius) {
    const auto [c, s] = nearest_[m_ > 1 ? 1 : 0];
    for (const auto& [dc, ds] : pairs_) {
      const Number cosine = stepped(c, dc), sine = stepped(s, ds);
      if (entries_ == Entries::kShared) {
        if (try_generator(radius, complex_number(cosine, sine))) return true;
        continue;
      }
      for (const auto& [own_ds, own_dc] : pairs_)
        if (try_generator(radius, {cosine, -stepped(s, own_ds), sine, stepped(c, own_dc)})) return true;
    }
    return false;
  }

  bool try_generator(Number radius, const Matrix& generator) {
    const std::uint32_t half = m_ / 2;
    points_[0] = {radius, Number(0)};
    for (std::uint32_t i = 1; i <= half; ++i) points_[i] = plane_(generator, points_[i - 1]);
    for (std::uint32_t i = 1; 2 * i < m_; ++i) points_[m_ - i] = {points_[i].x, -points_[i].y};
    if (m_ % 2 == 0 && points_[half].y != Number(0)) return false;
    if (!moves(generator, 1, half)) return false;
    for (const std::uint32_t shift : wanted_) {
      if (shift == 1 % m_)
        turns_[shift] = generator;
      else if (!find_turn(shift))
        return false;
    }
    return true;
  }

  bool moves(const Matrix& matrix, std::uint32_t shift, std::uint32_t first = 0) const {
    for (std::uint32_t i = first; i < m_; ++i)
      if (!(plane_(matrix, points_[i]) == points_[(i + shift) % m_])) return false;
    return true;
  }

  bool find_turn(std::uint32_t shift) {
    const auto [c, s] = nearest_[shift];
    Matrix& turn = turns_[shift];
    if (entries_ == Entries::kOwn)
      return find_row(c, -s, shift, &Point::x, turn.xx, turn.xy) && find_row(s, c, shift, &Point::y, turn.yx, turn.yy);
    for (const auto& [dc, ds] : pairs_)
      if (moves(turn = complex_number(stepped(c, dc), stepped(s, ds)), shift)) return true;
    return false;
  }

  /// Entries a, b near the given ones, so that the row gives one coordinate of every codeword's image.
  bool find_row(Number near_a, Number near_b, std::uint32_t shift, Number Point::*coordinate, Number& a,
                Number& b) const {
    for (const auto& [da, db] : pairs_) {
      a = stepped(near_a, da);
      b = stepped(near_b, db);
      std::uint32_t i = 0;
      while (i < m_ && plane_.row(a, b, points_[i]) == points_[(i + shift) % m_].*coordinate) ++i;
      if (i == m_) return true;
    }
    return false;
  }

  std::uint32_t m_;
  Entries entries_;
  std::vector<std::array<int, 2>> pairs_;
  RoundedPlane<Number> plane_;
  std::set<std::uint32_t> wanted_;
  std::vector<std::array<Number, 2>> nearest_;  ///< cosine and sine by shift
  std::vector<Point> points_;
  std::vector<Matrix> turns_;  ///< by shift, up to m/2
};

/// Every codeword nearer than half of the side to its corner of the regular polygon that
/// fits them best.
bool is_near_polygon(const std::vector<Eigen::Vector2d>& codewords) {
  const auto count = static_cast<std::uint32_t>(codewords.size());
  std::vector<std::complex<double>> turned;
  std::complex<double> centre = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const krohn::Turn turn{i, count};
    const std::complex<double> back{static_cast<double>(turn.cosine()), -static_cast<double>(turn.sine())};
    turned.push_back(std::complex(codewords[i].x(), codewords[i].y()) * back);
    centre += turned.back() / static_cast<double>(count);
  }
  const double half_side = std::abs(centre) * static_cast<double>(krohn::Turn{1, 2 * std::int64_t{count}}.sine());
  return count <= 2 || std::all_of(turned.begin(), turned.end(), [&](const std::complex<double>& word) {
           return std::abs(word - centre) < half_side;
         });
}

template <class Number>
LockedRotation begin_rotation(std::uint32_t m, Precision precision, const std::vector<PlanePoint<Number>>& points,
                              double grid = 0) {
  LockedRotation rotation{m, precision, grid, {}, {{0, Eigen::Matrix2d::Identity()}}};
  for (const auto& point : points) rotation.codewords.emplace_back(widen_number(point.x), widen_number(point.y));
  return rotation;
}

template <class Number>
Eigen::Matrix2d widen_matrix(const PlaneMatrix<Number>& matrix) {
  Eigen::Matrix2d wide;
  wide << widen_number(matrix.xx), widen_number(matrix.xy), widen_number(matrix.yx), widen_number(matrix.yy);
  return wide;
}

/// True if m steps of the turn of a shift that generates Z_m come back to the point; codeword i is then points[i].
template <class Number>
bool comes_back(const RoundedPlane<Number>& plane, const PlaneMatrix<Number>& turn, std::uint64_t shift,
                PlanePoint<Number> point, std::vector<PlanePoint<Number>>& points) {
  for (std::uint64_t i = 0; i < points.size(); ++i) {
    points[i * shift % points.size()] = point;
    point = plane(turn, point);
  }
  return point == points[0];
}

/// One shift that generates Z_m, from anywhere.
template <class Number>
std::optional<LockedRotation> closed_orbit(std::uint32_t m, std::uint32_t shift, Precision precision) {
  const RoundedPlane<Number> plane;
  const krohn::Turn turn{shift, m};
  const auto c = narrow_number<Number>(static_cast<double>(turn.cosine()));
  const auto s = narrow_number<Number>(static_cast<double>(turn.sine()));
  const auto pairs = step_pairs(1);
  std::vector<PlanePoint<Number>> points(m);
  const std::uint64_t starts = kOrbitSteps / m / pairs.size();
  for (std::uint64_t n = 0; n < starts; ++n) {
    // Two numbers that fill the square evenly (Roberts 2018): powers of 1/1.3247…, the plastic number.
    const double radius = 1 + std::fmod(static_cast<double>(n) * 0.7548776662466927, 1.0);
    const double angle = 2 * std::numbers::pi * std::fmod(static_cast<double>(n) * 0.5698402909980532, 1.0);
    for (const auto& [dc, ds] : pairs) {
      const auto matrix = complex_number(stepped(c, dc), stepped(s, ds));
      const PlanePoint<Number> start{narrow_number<Number>(radius * stated::cos(angle)),
                                     narrow_number<Number>(radius * stated::sin(angle))};
      if (!comes_back(plane, matrix, shift, start, points)) continue;
      LockedRotation rotation = begin_rotation(m, precision, points);
      rotation.turns.emplace(shift, widen_matrix(matrix));
      if (is_locked(rotation)) return rotation;
    }
  }
  return std::nullopt;
}

template <class Number>
std::optional<LockedRotation> search(std::uint32_t m, const std::set<std::uint32_t>& shifts, Precision precision,
                                     bool complex) {
  const std::vector<std::uint32_t> list(shifts.begin(), shifts.end());
  for (const Entries entries : {Entries::kShared, Entries::kOwn}) {
    if (free_points(m) > kMaxFreePoints || (complex && entries == Entries::kOwn)) break;
    MirroredSearch<Number> mirrored(m, list, entries);
    if (!mirrored.run()) continue;
    LockedRotation rotation = begin_rotation(m, precision, mirrored.points());
    for (const std::uint32_t shift : list)
      if (shift != 0) rotation.turns.emplace(shift, widen_matrix(mirrored.turn(shift)));
    if (is_locked(rotation)) return rotation;
  }
  if (list.size() == 1 && std::gcd(list[0], m) == 1) return closed_orbit<Number>(m, list[0], precision);
  return std::nullopt;
}

}  // namespace

std::optional<LockedRotation> locked_rotation(std::uint32_t m, const std::vector<std::uint32_t>& shifts,
                                              Precision precision, bool complex) {
  std::set<std::uint32_t> moving;
  for (const std::uint32_t shift : shifts)
    if (shift % m != 0) moving.insert(shift % m);
  return with_number(precision, [&](auto number) { return search<decltype(number)>(m, moving, precision, complex); });
}

std::optional<LockedRotation> locked_rotation(std::uint32_t m, Precision precision, bool complex) {
  std::vector<std::uint32_t> shifts(m);
  std::iota(shifts.begin(), shifts.end(), 0U);
  return locked_rotation(m, shifts, precision, complex);
}

bool is_locked(const LockedRotation& rotation) {
  if (rotation.codewords.size() != rotation.order || !is_near_polygon(rotation.codewords)) return false;
  return with_number(rotation.precision, [&](auto number) {
    using Number = decltype(number);
    const RoundedPlane<Number> plane(rotation.grid);
    const auto point = [&](std::uint32_t i) {
      const Eigen::Vector2d& codeword = rotation.codewords[i % rotation.order];
      return PlanePoint<Number>{narrow_number<Number>(codeword.x()), narrow_number<Number>(codeword.y())};
    };
    for (const auto& [shift, turn] : rotation.turns)
      for (std::uint32_t i = 0; i < rotation.order; ++i) {
        const PlaneMatrix<Number> matrix{narrow_number<Number>(turn(0, 0)), narrow_number<Number>(turn(0, 1)),
                                         narrow_number<Number>(turn(1, 0)), narrow_number<Number>(turn(1, 1))};
        if (!(plane(matrix, point(i)) == point(i + shift))) return false;
      }
    return true;
  });
}

// The search for rotations onto whole numbers. With K = 1.5 · 2^(p−1), p the digits of the significand, numbers near K
// are whole numbers, so that (t + K) − K is the whole number nearest to t. A codeword that lies by e beside the regular
// polygon is taken to a point that lies by the turned e, and some rounding of the products, beside the next one, and
// rounds to the next codeword when these two differences are less than ½ apart in both coordinates.

namespace {

constexpr std::uint64_t kMaxRadii = 1'000'000;
constexpr std::uint64_t kMaxOrbitSteps = 4'000'000;
constexpr int kMaxRadiusBits = 17;
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
    const double most = std::ldexp(1.0, std::min(kMaxRadiusBits, digits - 4));
    const double step = std::max(kLeastStep, most / static_cast<double>(kMaxRadii));
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

  /// True if the grid points nearest to the polygon of this radius are taken to one another. Most radii fail at one of
  /// the first points.
  bool polygon_closes(double radius) {
    for (std::size_t k = 0; k < shifts_.size(); ++k)
      for (std::uint32_t i = 0; i < m_; ++i)
        if (!(plane_(turns_[k], nearest(radius, i)) == nearest(radius, (i + shifts_[k]) % m_))) return false;
    for (std::uint32_t i = 0; i < m_; ++i) points_[i] = nearest(radius, i);
    return true;
  }

  /// One shift that generates Z_m, from grid points.
  std::optional<LockedRotation> closed_orbit(double most) {
    for (std::uint64_t n = 0; n < kMaxOrbitSteps / m_; ++n) {
      const double radius = std::min(most, m_ + static_cast<double>(n) / 8);
      const double angle = 2 * std::numbers::pi * std::fmod(static_cast<double>(n) * (std::numbers::phi - 1), 1.0);
      const Point start{narrow_number<Number>(std::nearbyint(radius * stated::cos(angle))),
                        narrow_number<Number>(std::nearbyint(radius * stated::sin(angle)))};
      if (comes_back(plane_, turns_[0], shifts_[0], start, points_))
        if (auto found = finish()) return found;
    }
    return std::nullopt;
  }

  std::optional<LockedRotation> finish() const {
    LockedRotation rotation = begin_rotation(m_, precision_, points_, kGrid);
    for (std::size_t k = 0; k < shifts_.size(); ++k) rotation.turns[shifts_[k]] = widen_matrix(turns_[k]);
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
