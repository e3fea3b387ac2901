#include "krohn/simulate/closing/learned_copies.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "krohn/simulate/closing/group_copies.h"
#include "krohn/simulate/closing/lattice_coordinates.h"
#include "krohn/simulate/learned/linear_systems.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kMostCongruences = 4000;
constexpr double kLeastShare = 1e-3;  ///< of the greatest copy; smaller ones are noise
constexpr double kGap = 1.5;          ///< between the sizes of copies that count and those that do not
constexpr double kExact = 1e-6;       ///< how near to integers letters have to be that are exact but for roundings

/// Point ↦ the least point of its class.
using Classes = std::vector<std::uint32_t>;

/// next[letter][point].
using Action = std::vector<std::vector<std::uint32_t>>;

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
  MatrixXd means = MatrixXd::Zero(points.rows(), points.cols());
  VectorXd counts = VectorXd::Zero(points.cols());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    means.col(static_cast<Index>(classes[i])) += points.col(static_cast<Index>(i));
    counts(static_cast<Index>(classes[i])) += 1;
  }
  Index kept = 0;  // a class stands at its least point
  for (Index i = 0; i < means.cols(); ++i)
    if (counts(i) > 0) means.col(kept++) = means.col(i) / counts(i);
  return means.leftCols(kept);
}

/// A basis of a lattice of full rank that the letters keep, in the coordinates of `level`; nothing where class means
/// generate none.
std::optional<MatrixXd> lattice_of(const MatrixXd& level, const std::vector<Classes>& all, const Action& next) {
  const Index rank = level.rows();
  const double least = kLeastShare * std::sqrt(static_cast<double>(rank) / static_cast<double>(level.cols()));
  MatrixXd basis(rank, 0), spanned(rank, 0);
  for (const Classes& classes : all) {
    MatrixXd means = class_means(level, classes);
    means -= spanned * (spanned.transpose() * means);
    const PivotedQr qr = pivoted_qr(means);
    const Index more = (qr.diagonal.cwiseAbs().array() > least).count();
    if (more == 0 || basis.cols() + more > rank) continue;
    const MatrixXd directions = qr.q.leftCols(more);
    const auto part = lattice_coordinates(directions.transpose() * means);
    if (!part) continue;
    basis.conservativeResize(Eigen::NoChange, basis.cols() + more);
    basis.rightCols(more) = directions * part->basis;
    spanned.conservativeResize(Eigen::NoChange, basis.cols());
    spanned.rightCols(more) = directions;
    if (basis.cols() == rank) break;
  }
  if (basis.cols() < rank) return std::nullopt;
  const MatrixXd points = solution(basis, level);
  for (const auto& images : next) {
    MatrixXd moved(points.rows(), points.cols());
    for (std::size_t i = 0; i < images.size(); ++i) moved.col(static_cast<Index>(i)) = points.col(images[i]);
    const MatrixXd letter = moved * level.transpose() * basis;  // level has orthonormal rows
    if (!((letter - nearest_integers(letter)).cwiseAbs().maxCoeff() <= kExact)) return std::nullopt;
  }
  return basis * std::exp2(std::floor(std::log2(points.cwiseAbs().maxCoeff())));
}

}  // namespace

std::vector<LearnedCopies> learned_copies(const MatrixXd& all_points, const std::vector<LearnedCode::Move>& moves,
                                          std::size_t letters) {
  const auto group = group_copies(all_points, moves, letters);
  if (!group) return {};
  const MatrixXd points = all_points(Eigen::all, group->points);
  const Index count = points.cols();
  const std::vector<GroupCopies::Copy>& copies = group->copies;
  const std::vector<Classes> all = congruences(group->next, static_cast<std::size_t>(count));
  const double least = kLeastShare * copies.front().size;
  std::vector<LearnedCopies> found;
  LearnedCopies kept{MatrixXd(points.rows(), 0), MatrixXd(0, count)};
  MatrixXd waiting(count, 0);  // copies that have no lattice by themselves
  double greatest_waiting = 0;
  for (std::size_t i = 0; i < copies.size() && copies[i].size > least; ++i) {
    const MatrixXd own = group->vectors.middleCols(copies[i].first, copies[i].count);
    MatrixXd both(count, waiting.cols() + own.cols());
    both << waiting, own;
    bool is_kept = false;
    for (const MatrixXd* part : {&own, static_cast<const MatrixXd*>(&both)}) {
      const auto lattice = lattice_of(part->transpose(), all, group->next);
      if (!lattice) continue;
      const Index rank = kept.points.rows();
      kept.basis.conservativeResize(Eigen::NoChange, rank + part->cols());
      kept.basis.rightCols(part->cols()) = points * *part * *lattice;
      kept.points.conservativeResize(rank + part->cols(), Eigen::NoChange);
      kept.points.bottomRows(part->cols()) = solution(*lattice, part->transpose());
      if (part == &both) waiting.resize(count, 0), greatest_waiting = 0;
      is_kept = true;
      break;
    }
    if (!is_kept) {
      waiting = both;
      greatest_waiting = std::max(greatest_waiting, copies[i].size);
      continue;
    }
    const double next = i + 1 < copies.size() ? copies[i + 1].size : 0;
    if (copies[i].size > kGap * std::max({next, least, greatest_waiting})) found.push_back(kept);
  }
  for (LearnedCopies& kept_ones : found) kept_ones.points = MatrixXd(kept_ones.points(Eigen::all, group->at));
  std::ranges::reverse(found);
  return found;
}

}  // namespace krohn
