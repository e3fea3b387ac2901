#include "krohn/simulate/closing/integer_code.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "krohn/constructions/build/based_action.h"
#include "krohn/groups/base/decompositions.h"
#include "krohn/simulate/learned/spectrum.h"

namespace krohn {

PointMoves point_moves(const std::vector<LearnedCode::Move>& moves, std::size_t letters, std::size_t points) {
  PointMoves found{{letters, std::vector<std::uint32_t>(points, kNoPoint)},
                   std::vector<std::uint32_t>(points, kNoPoint)};
  for (const auto& [from, letter, to] : moves) {
    found.next[letter][static_cast<std::size_t>(from)] = static_cast<std::uint32_t>(to);
    found.like[static_cast<std::size_t>(to)] = static_cast<std::uint32_t>(to);
  }
  const std::vector<std::uint32_t> reached = found.like;
  for (std::uint32_t point = 0; point < points; ++point) {
    if (reached[point] != kNoPoint) continue;
    const auto like = std::ranges::find_if(reached, [&](std::uint32_t other) {
      return other != kNoPoint &&
             std::ranges::all_of(found.next, [&](const auto& images) { return images[point] == images[other]; });
    });
    if (like != reached.end()) found.like[point] = *like;
  }
  return found;
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kMaxPoints = 200;
constexpr double kSame = 1e-6;        ///< of the greater of two sizes, in which they may differ and be one
constexpr double kRoundings = 1e-11;  ///< of the greatest square of a size, the same of two squares

/// All but the vectors and the copies; nothing where the letters are no permutations.
std::optional<GroupCopies> permuted(const std::vector<LearnedCode::Move>& moves, std::size_t letters,
                                    std::size_t points) {
  const PointMoves by = point_moves(moves, letters, points);
  GroupCopies found;
  found.at.assign(points, kNoPoint);
  for (std::size_t i = 0; i < points; ++i) {
    if (by.like[i] == kNoPoint) return std::nullopt;
    if (by.like[i] != i) continue;
    found.at[i] = static_cast<std::uint32_t>(found.points.size());
    found.points.push_back(static_cast<Index>(i));
  }
  for (std::size_t i = 0; i < points; ++i) found.at[i] = found.at[by.like[i]];
  for (const std::vector<std::uint32_t>& images : by.next) {
    std::vector<std::uint32_t> own;
    for (const Index point : found.points) {
      const std::uint32_t image = images[static_cast<std::size_t>(point)];
      if (image == kNoPoint) return std::nullopt;
      own.push_back(found.at[image]);
    }
    std::vector<std::uint32_t> sorted = own;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != i) return std::nullopt;
    found.next.push_back(std::move(own));
  }
  return found;
}

/// The mean of g M gᵀ over the group that the letters generate: that over the letters and the identity, again and
/// again. Nothing where that does not come to rest.
std::optional<MatrixXd> mean_over_group(MatrixXd matrix, const std::vector<std::vector<std::uint32_t>>& next) {
  constexpr int kMaxRounds = 1000;
  const double near = 1e-14 * matrix.cwiseAbs().maxCoeff();
  for (int round = 0; round < kMaxRounds; ++round) {
    MatrixXd mean = matrix;
    for (const auto& images : next)
      for (Index j = 0; j < matrix.cols(); ++j)
        for (Index i = 0; i < matrix.rows(); ++i)
          mean(images[static_cast<std::size_t>(i)], images[static_cast<std::size_t>(j)]) += matrix(i, j);
    mean /= static_cast<double>(next.size() + 1);
    const double change = (mean - matrix).cwiseAbs().maxCoeff();
    matrix = std::move(mean);
    if (change <= near) return matrix;
  }
  return std::nullopt;
}

/// For the squares of sizes, falling.
std::vector<GroupCopies::Copy> copies_of(const VectorXd& squares) {
  std::vector<GroupCopies::Copy> copies;
  for (Index i = 0; i < squares.size(); ++i) {
    const double size = std::sqrt(std::max(squares(i), 0.0));
    const bool is_same = i > 0 && (copies.back().size - size <= kSame * copies.back().size ||
                                   squares(i - 1) - squares(i) <= kRoundings * squares(0));
    if (is_same)
      ++copies.back().count;
    else
      copies.push_back({i, 1, size});
  }
  return copies;
}

}  // namespace

std::optional<GroupCopies> group_copies(const MatrixXd& points, const std::vector<LearnedCode::Move>& moves,
                                        std::size_t letters) {
  if (points.cols() > kMaxPoints) return std::nullopt;
  auto found = permuted(moves, letters, static_cast<std::size_t>(points.cols()));
  if (!found || found->points.empty()) return std::nullopt;
  const MatrixXd own = points(Eigen::all, found->points);
  const auto shape = mean_over_group(own.transpose() * own, found->next);
  if (!shape) return std::nullopt;
  const auto parts = symmetric_eigen(*shape);
  if (!parts) return std::nullopt;
  found->vectors = parts->vectors.rowwise().reverse();
  found->copies = copies_of(parts->values.reverse());
  return found;
}

namespace {

constexpr int kMaxDenominator = 12;
constexpr double kClear = 0.25;  ///< coordinates farther from an integer are not taken for one
constexpr double kMaxEntry = 1 << 20;

double greatest(const MatrixXd& numbers) { return numbers.size() == 0 ? 0 : numbers.cwiseAbs().maxCoeff(); }

double modulo(double x, double d) { return x - d * std::floor(x / d); }

/// Columns that generate the same group as the integer columns of `generators` and d times every unit vector: a lower
/// triangular basis (Hermite's normal form; Cohen 1993, §2.4.2, numbers reduced modulo d).
MatrixXd lattice_basis(const MatrixXd& generators, double d) {
  const Index size = generators.rows();
  MatrixXd all(size, generators.cols() + size), basis = MatrixXd::Zero(size, size);
  all << generators, d * MatrixXd::Identity(size, size);
  for (Index row = 0; row < size; ++row) {
    // The column of d e_row stays, so that the pivot divides d.
    const Index pivot = generators.cols() + row;
    for (Index j = 0; j < generators.cols(); ++j)
      while (all(row, j) != 0) {
        const double quotient = std::floor(all(row, pivot) / all(row, j));
        all.col(pivot) -= quotient * all.col(j);
        all.col(pivot).swap(all.col(j));
        // d times later unit vectors are generators too.
        for (Index i = row + 1; i < size; ++i) {
          all(i, j) = modulo(all(i, j), d);
          all(i, pivot) = modulo(all(i, pivot), d);
        }
      }
    basis.col(row) = all.col(pivot) * (all(row, pivot) < 0 ? -1 : 1);
  }
  return basis;
}

}  // namespace

MatrixXd nearest_integers(const MatrixXd& numbers) { return (numbers.array().round() + 0.0).matrix(); }

std::optional<LatticeCoordinates> lattice_coordinates(const MatrixXd& pivots, const MatrixXd& in_pivots) {
  for (int d = 1; d <= kMaxDenominator; ++d) {
    const MatrixXd multiples = d * in_pivots, rounded = nearest_integers(multiples);
    if (greatest(multiples - rounded) > kClear || greatest(rounded) > kMaxEntry) continue;
    if (d == 1) return LatticeCoordinates{pivots, rounded};
    const MatrixXd lattice = lattice_basis(rounded, d);
    const MatrixXd points = nearest_integers(lattice.triangularView<Eigen::Lower>().solve(rounded));
    if (lattice * points != rounded) return std::nullopt;
    return LatticeCoordinates{pivots * lattice / d, points};
  }
  return std::nullopt;
}

std::optional<LatticeCoordinates> lattice_coordinates(const MatrixXd& points) {
  const Index rank = points.rows();
  if (points.cols() < rank) return std::nullopt;
  const PivotedQr qr = pivoted_qr(points);
  MatrixXd pivots(rank, rank);
  for (Index i = 0; i < rank; ++i) pivots.col(i) = points.col(qr.order[static_cast<std::size_t>(i)]);
  return lattice_coordinates(pivots, solution(pivots, points));
}

namespace {

constexpr std::size_t kMaxCongruences = 4000;
constexpr double kLeastShare = 1e-3;  ///< of the greatest copy; smaller ones are noise
constexpr double kGap = 1.5;          ///< between the sizes of copies that count and those that do not
constexpr double kExact = 1e-6;       ///< how near to integers letters have to be that are exact but for roundings

/// next[letter][point].
using Action = std::vector<std::vector<std::uint32_t>>;

/// Those that one or two pairs with point 0 generate, few classes first.
std::vector<Congruence> congruences(const Action& next, std::size_t points) {
  std::vector<Transformation> letters;
  for (const auto& images : next) letters.push_back(Transformation::from_images(images));
  std::vector<Congruence> of_pair;
  for (Point point = 0; point < points; ++point) of_pair.push_back(congruence_generated_by(letters, 0, point));
  std::set<Congruence> found{of_pair[0]};
  for (int round = 0; round < 2; ++round)
    for (const Congruence& classes : std::vector<Congruence>(found.begin(), found.end()))
      for (Point point = 1; point < points && found.size() < kMaxCongruences; ++point)
        if (classes[point] != classes[0]) found.insert(join(classes, of_pair[point]));
  std::vector<Congruence> all(found.begin(), found.end());
  std::ranges::stable_sort(all, {}, class_count);
  return all;
}

MatrixXd class_means(const MatrixXd& points, const Congruence& classes) {
  MatrixXd means = MatrixXd::Zero(points.rows(), Index{class_count(classes)});
  VectorXd counts = VectorXd::Zero(means.cols());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    means.col(classes[i]) += points.col(static_cast<Index>(i));
    counts(classes[i]) += 1;
  }
  return means.array().rowwise() / counts.transpose().array();
}

/// A basis of a lattice of full rank that the letters keep, in the coordinates of `level`; nothing where class means
/// generate none.
std::optional<MatrixXd> lattice_of(const MatrixXd& level, const std::vector<Congruence>& all, const Action& next) {
  const Index rank = level.rows();
  const double least = kLeastShare * std::sqrt(static_cast<double>(rank) / static_cast<double>(level.cols()));
  MatrixXd basis(rank, 0), spanned(rank, 0);
  for (const Congruence& classes : all) {
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
  const std::vector<Congruence> all = congruences(group->next, static_cast<std::size_t>(count));
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

namespace {

constexpr double kMaxMove = 0.35;   ///< of a coordinate; a farther one was not nearly an integer
constexpr double kMaxShift = 0.25;  ///< of a point, by the greatest coordinate of all

bool holds(const IntegerCode& code, const std::vector<LearnedCode::Move>& moves) {
  return std::ranges::all_of(moves, [&](const LearnedCode::Move& move) {
    return code.letters[move.letter] * code.points.col(move.from) == code.points.col(move.to);
  });
}

/// The trained letters in a basis, and rounded.
struct LettersInBasis {
  std::vector<MatrixXd> trained, rounded;
};

std::optional<LettersInBasis> letters_in(const MatrixXd& basis, const LearnedCode& learned,
                                         const MatrixXd& directions) {
  const MatrixXd of_basis = directions.transpose() * basis;
  LettersInBasis letters;
  for (const MatrixXd& letter : learned.letters) {
    letters.trained.push_back(solution(of_basis, directions.transpose() * letter * basis));
    if (!letters.trained.back().allFinite() || greatest(letters.trained.back()) > kMaxEntry) return std::nullopt;
    letters.rounded.push_back(nearest_integers(letters.trained.back()));
  }
  return letters;
}

/// Nothing where a move does not hold, or the learned points or what the trained letters make of the rounded ones lie
/// too far off: then another representation was found than the learned one.
std::optional<IntegerCode> checked(MatrixXd basis, MatrixXd points, LettersInBasis letters, const LearnedCode& learned,
                                   const MatrixXd& directions) {
  const MatrixXd trained = solution(directions.transpose() * basis, directions.transpose() * learned.points);
  if (!(greatest(trained - points) <= kMaxShift * greatest(points))) return std::nullopt;
  IntegerCode code{std::move(basis), std::move(points), std::move(letters.rounded), 0};
  if (!holds(code, learned.moves)) return std::nullopt;
  for (const auto& [from, letter, to] : learned.moves)
    code.moved = std::max(code.moved, greatest(letters.trained[letter] * code.points.col(from) - code.points.col(to)));
  if (code.moved > kMaxMove) return std::nullopt;
  return code;
}

/// The lattice that the points generate.
std::optional<IntegerCode> code_of_points(const LearnedCode& learned, const MatrixXd& directions) {
  const auto coordinates = lattice_coordinates(directions.transpose() * learned.points);
  if (!coordinates) return std::nullopt;
  const MatrixXd basis = directions * coordinates->basis;
  auto letters = letters_in(basis, learned, directions);
  if (!letters) return std::nullopt;
  return checked(basis, coordinates->points, *std::move(letters), learned, directions);
}

/// The first point on a grid, the others where the rounded letters take it.
std::optional<MatrixXd> orbit(const VectorXd& first, const std::vector<MatrixXd>& letters,
                              const std::vector<LearnedCode::Move>& moves, Index count) {
  constexpr double kGrid = 64;  // of the power of two below the greatest coordinate
  const double unit = std::exp2(std::floor(std::log2(std::max(greatest(first), 1e-9)))) / kGrid;
  MatrixXd points(first.size(), count);
  std::vector<bool> is_known(static_cast<std::size_t>(count), false);
  points.col(0) = unit * nearest_integers(first / unit);
  is_known[0] = true;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& [from, letter, to] : moves) {
      if (!is_known[static_cast<std::size_t>(from)] || is_known[static_cast<std::size_t>(to)]) continue;
      points.col(to) = letters[letter] * points.col(from);
      is_known[static_cast<std::size_t>(to)] = goes_on = true;
    }
  }
  if (!std::ranges::all_of(is_known, std::identity())) return std::nullopt;
  return points;
}

/// Lattices that the letters keep, where that of the points is none.
std::optional<IntegerCode> code_of_copies(const LearnedCode& learned, const LearnedCopies& copies) {
  const MatrixXd directions = orthonormal_basis(copies.basis);
  auto letters = letters_in(copies.basis, learned, directions);
  if (!letters) return std::nullopt;
  const auto rounded = orbit(copies.points.col(0), letters->rounded, learned.moves, copies.points.cols());
  if (!rounded) return std::nullopt;
  return checked(copies.basis, *rounded, *std::move(letters), learned, directions);
}

}  // namespace

std::optional<IntegerCode> integer_code(const LearnedCode& learned, Index most_rank,
                                        const std::function<bool(const IntegerCode&)>& fits) {
  if (learned.points.size() == 0 || !learned.points.allFinite()) return std::nullopt;
  const SingularValues svd = thin_singular_values(learned.points);
  const auto& values = svd.values;
  const auto count = std::min(most_rank, values.size());
  const auto is_noise = [&](Index i) { return i >= values.size() || values(i) <= kLeastShare * values(0); };
  for (Index rank = count; rank > 0; --rank)
    if (!is_noise(rank - 1))
      if (auto code = code_of_points(learned, svd.left.leftCols(rank)); code && fits(*code)) return code;
  for (const LearnedCopies& copies : learned_copies(learned.points, learned.moves, learned.letters.size()))
    if (copies.basis.cols() <= most_rank)
      if (auto code = code_of_copies(learned, copies); code && fits(*code)) return code;
  return std::nullopt;
}

}  // namespace krohn
