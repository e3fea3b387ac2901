#include "krohn/simulate/closing/state_code.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kMostMove = 0.35;  ///< as in integer_code: at half of the distance another class is as near

/// S such that |S δ|² is what δ makes of the logits' differences, squared, summed over 0 … kAhead letters ahead and
/// averaged over words of each length.
MatrixXd seen_by(const MatrixXd& reads, const std::vector<MatrixXd>& letters) {
  constexpr int kAhead = 12;  // letters of the words that points were learned from
  MatrixXd own = reads.rowwise() - reads.colwise().mean();
  MatrixXd term = own.transpose() * own, sum = term;
  for (int ahead = 0; ahead < kAhead; ++ahead) {
    MatrixXd next = MatrixXd::Zero(term.rows(), term.cols());
    for (const MatrixXd& letter : letters) next += letter.transpose() * term * letter;
    term = next / static_cast<double>(std::max<std::size_t>(letters.size(), 1));
    sum += term;
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> parts(sum);
  return parts.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() * parts.eigenvectors().transpose();
}

/// Points merged to classes that the known moves keep.
class Congruence {
 public:
  Congruence(const std::vector<LearnedCode::Move>& moves, std::size_t points, std::size_t letters)
      : letters_(letters), parent_(points), image_(points * letters, kNone), classes_(points) {
    std::iota(parent_.begin(), parent_.end(), 0U);
    for (const auto& [from, letter, to] : moves)
      at(static_cast<std::uint32_t>(from), letter) = static_cast<std::uint32_t>(to);
  }

  std::uint32_t root(std::uint32_t point) const {
    while (parent_[point] != point) point = parent_[point];
    return point;
  }
  Index classes() const { return classes_; }

  void merge(std::uint32_t one, std::uint32_t other) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> due{{one, other}};
    while (!due.empty()) {
      const std::uint32_t a = root(due.back().first), b = root(due.back().second);
      due.pop_back();
      if (a == b) continue;
      parent_[std::max(a, b)] = std::min(a, b);
      --classes_;
      for (std::size_t letter = 0; letter < letters_; ++letter) {
        std::uint32_t& kept = at(std::min(a, b), letter);
        const std::uint32_t lost = at(std::max(a, b), letter);
        if (kept != kNone && lost != kNone) due.emplace_back(kept, lost);
        if (kept == kNone) kept = lost;
      }
    }
  }

  /// Point ↦ class, by the classes' least points.
  std::vector<Index> numbered() const {
    std::vector<Index> number(parent_.size());
    Index next = 0;
    for (std::uint32_t point = 0; point < parent_.size(); ++point)
      number[point] = root(point) == point ? next++ : number[root(point)];
    return number;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t& at(std::uint32_t point, std::size_t letter) { return image_[point * letters_ + letter]; }

  std::size_t letters_;
  std::vector<std::uint32_t> parent_, image_;  ///< of roots: some point of the class that the letter leads to
  Index classes_;
};

/// Maps of classes, their means, and how far off the learned ones are; nothing where that is too far.
std::optional<IntegerCode> code_of(const LearnedCode& learned, const MatrixXd& sight,
                                   const std::vector<Index>& class_of, Index classes) {
  const Index points = learned.points.cols();
  IntegerCode code{MatrixXd::Zero(learned.points.rows(), classes), MatrixXd::Zero(classes, points), {}, 0};
  VectorXd counts = VectorXd::Zero(classes);
  for (Index q = 0; q < points; ++q) {
    const Index own = class_of[static_cast<std::size_t>(q)];
    code.basis.col(own) += learned.points.col(q);
    code.points(own, q) = 1;
    counts(own) += 1;
  }
  code.basis.array().rowwise() /= counts.transpose().array();
  const MatrixXd seen = sight * code.basis;
  VectorXd apart(classes);  // from the nearest other class
  for (Index c = 0; c < classes; ++c) {
    VectorXd distances = (seen.colwise() - seen.col(c)).colwise().norm();
    distances(c) = std::numeric_limits<double>::infinity();
    apart(c) = distances.minCoeff();
  }
  const auto off = [&](const VectorXd& found, Index c) {
    // Not a number, and two classes in one place, are too far, too.
    const double share = (sight * found - seen.col(c)).norm() / apart(c);
    if (!(share <= kMostMove)) return false;
    code.moved = std::max(code.moved, share);
    return true;
  };
  for (Index q = 0; q < points; ++q)
    if (!off(learned.points.col(q), class_of[static_cast<std::size_t>(q)])) return std::nullopt;
  for (const MatrixXd& letter : learned.letters) {
    code.letters.push_back(MatrixXd::Identity(classes, classes));
    if (letter.cols() != code.basis.rows()) return std::nullopt;
  }
  for (const auto& [from, letter, to] : learned.moves) {
    const Index source = class_of[static_cast<std::size_t>(from)], goal = class_of[static_cast<std::size_t>(to)];
    code.letters[letter].col(source) = VectorXd::Unit(classes, goal);
    if (!off(learned.letters[letter] * code.basis.col(source), goal)) return std::nullopt;
  }
  return code;
}

}  // namespace

std::optional<IntegerCode> state_code(const LearnedCode& learned, const MatrixXd& reads, Index most_classes) {
  const Index points = learned.points.cols();
  if (learned.points.size() == 0 || !learned.points.allFinite()) return std::nullopt;
  const MatrixXd sight = seen_by(reads, learned.letters), seen = sight * learned.points;
  std::vector<std::tuple<double, std::uint32_t, std::uint32_t>> pairs;  // nearest first
  for (Index a = 0; a < points; ++a)
    for (Index b = a + 1; b < points; ++b)
      pairs.emplace_back((seen.col(a) - seen.col(b)).squaredNorm(), static_cast<std::uint32_t>(a),
                         static_cast<std::uint32_t>(b));
  std::ranges::sort(pairs);
  Congruence congruence(learned.moves, static_cast<std::size_t>(points), learned.letters.size());
  auto next = pairs.begin();
  while (congruence.classes() > 1) {
    if (congruence.classes() <= most_classes)
      if (auto code = code_of(learned, sight, congruence.numbered(), congruence.classes())) return code;
    while (congruence.root(std::get<1>(*next)) == congruence.root(std::get<2>(*next))) ++next;
    congruence.merge(std::get<1>(*next), std::get<2>(*next));
  }
  return std::nullopt;
}

}  // namespace krohn
