#include "krohn/simulate/closing/class_basis.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "krohn/simulate/closing/lattice_coordinates.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kMostPoints = 200;
constexpr std::size_t kMostCongruences = 4000;

/// Point ↦ the least point of its class.
using Classes = std::vector<std::uint32_t>;

/// next[letter][point].
using Action = std::vector<std::vector<std::uint32_t>>;

/// Nothing unless every letter permutes the points.
std::optional<Action> action_of(const std::vector<LearnedCode::Move>& moves, std::size_t letters, std::size_t points) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  Action next(letters, std::vector<std::uint32_t>(points, kNone));
  for (const auto& [from, letter, to] : moves)
    next[letter][static_cast<std::size_t>(from)] = static_cast<std::uint32_t>(to);
  for (std::vector<std::uint32_t> images : next) {
    std::ranges::sort(images);
    for (std::size_t i = 0; i < points; ++i)
      if (images[i] != i) return std::nullopt;
  }
  return next;
}

/// The least congruence above `classes` in which a and b are one.
Classes merged(Classes classes, std::uint32_t a, std::uint32_t b, const Action& next) {
  const auto root = [&](std::uint32_t x) {
    while (classes[x] != x) x = classes[x] = classes[classes[x]];
    return x;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> queue{{a, b}};
  while (!queue.empty()) {
    auto [x, y] = queue.back();
    queue.pop_back();
    x = root(x), y = root(y);
    if (x == y) continue;
    classes[std::max(x, y)] = std::min(x, y);
    for (const auto& images : next) queue.emplace_back(images[x], images[y]);
  }
  for (std::uint32_t x = 0; x < classes.size(); ++x) classes[x] = root(x);
  return classes;
}

/// Those that one or two pairs with point 0 generate, few classes first.
std::vector<Classes> congruences(const Action& next, std::size_t points) {
  Classes apart(points);
  std::iota(apart.begin(), apart.end(), 0);
  std::set<Classes> found{apart};
  for (int round = 0; round < 2; ++round)
    for (const Classes& classes : std::vector<Classes>(found.begin(), found.end()))
      for (std::uint32_t point = 1; point < points && found.size() < kMostCongruences; ++point)
        if (classes[point] != classes[0]) found.insert(merged(classes, 0, point, next));
  std::vector<Classes> all(found.begin(), found.end());
  std::ranges::stable_sort(all, {},
                           [](const Classes& classes) { return std::set(classes.begin(), classes.end()).size(); });
  return all;
}

MatrixXd class_means(const MatrixXd& points, const Classes& classes) {
  std::vector<std::uint32_t> names(classes);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  MatrixXd means = MatrixXd::Zero(points.rows(), static_cast<Index>(names.size()));
  VectorXd counts = VectorXd::Zero(means.cols());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const Index at = std::ranges::lower_bound(names, classes[i]) - names.begin();
    means.col(at) += points.col(static_cast<Index>(i));
    counts(at) += 1;
  }
  return means * counts.cwiseInverse().asDiagonal();
}

/// A lattice basis of the span of vectors, orthonormal directions of which are given back too.
struct Part {
  MatrixXd basis, directions;
};

std::optional<Part> part_of(const MatrixXd& vectors, double least) {
  Eigen::ColPivHouseholderQR<MatrixXd> qr(vectors);
  const VectorXd sizes = qr.matrixQR().diagonal().cwiseAbs();
  const Index rank = (sizes.array() > least).count();
  if (rank == 0) return std::nullopt;
  const MatrixXd directions = MatrixXd(qr.householderQ()).leftCols(rank);
  const auto coordinates = lattice_coordinates(directions.transpose() * vectors);
  if (!coordinates) return std::nullopt;
  return Part{directions * coordinates->basis, directions};
}

}  // namespace

std::optional<MatrixXd> basis_of_classes(const MatrixXd& points, const std::vector<LearnedCode::Move>& moves,
                                         std::size_t letters) {
  const Index rank = points.rows(), count = points.cols();
  if (count > kMostPoints) return std::nullopt;
  const auto next = action_of(moves, letters, static_cast<std::size_t>(count));
  if (!next) return std::nullopt;
  // In these coordinates the letters are orthogonal, and so is what is left of the space without an invariant part.
  const Eigen::LLT<MatrixXd> shape(points * points.transpose());
  if (shape.info() != Eigen::Success) return std::nullopt;
  const MatrixXd level = shape.matrixL().solve(points);
  const double least = 0.1 * std::sqrt(static_cast<double>(rank) / static_cast<double>(count));
  MatrixXd basis(rank, 0), spanned(rank, 0);
  for (const Classes& classes : congruences(*next, static_cast<std::size_t>(count))) {
    MatrixXd means = class_means(level, classes);
    means -= spanned * (spanned.transpose() * means);
    const auto part = part_of(means, least);
    if (!part || spanned.cols() + part->directions.cols() > rank) continue;
    basis.conservativeResize(Eigen::NoChange, basis.cols() + part->basis.cols());
    basis.rightCols(part->basis.cols()) = part->basis;
    spanned.conservativeResize(Eigen::NoChange, basis.cols());
    spanned.rightCols(part->basis.cols()) = part->directions;
    if (basis.cols() == rank) return MatrixXd(shape.matrixL() * basis);
  }
  return std::nullopt;
}

}  // namespace krohn
