#include "krohn/simulate/closing/state_code.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "krohn/groups/linear/decompositions.h"
#include "krohn/groups/union_find.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kMostShare = 0.35;  ///< as integer_code's: at half of the distance another class is as near

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
  const auto parts = symmetric_eigen(sum);
  if (!parts) return MatrixXd::Identity(sum.rows(), sum.cols());
  return parts->values.cwiseMax(0).cwiseSqrt().asDiagonal() * parts->vectors.transpose();
}

/// Points merged to classes that the known moves keep.
class Congruence {
 public:
  Congruence(const std::vector<LearnedCode::Move>& moves, std::size_t points, std::size_t letters)
      : letters_(letters), together_(static_cast<std::uint32_t>(points)), image_(points * letters, kNone) {
    for (const auto& [from, letter, to] : moves)
      at(static_cast<std::uint32_t>(from), letter) = static_cast<std::uint32_t>(to);
  }

  /// How many classes fewer there are then.
  Index merge(std::uint32_t one, std::uint32_t other) {
    Index fewer = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> due{{one, other}};
    while (!due.empty()) {
      const std::uint32_t a = together_.find(due.back().first), b = together_.find(due.back().second);
      due.pop_back();
      if (!together_.unite(a, b)) continue;
      ++fewer;
      for (std::size_t letter = 0; letter < letters_; ++letter) {
        std::uint32_t& kept = at(std::min(a, b), letter);
        const std::uint32_t lost = at(std::max(a, b), letter);
        if (kept != kNone && lost != kNone) due.emplace_back(kept, lost);
        if (kept == kNone) kept = lost;
      }
    }
    return fewer;
  }

  /// Point ↦ class, and how many there are.
  std::pair<std::vector<std::uint32_t>, std::uint32_t> classes() { return together_.classes(); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t& at(std::uint32_t point, std::size_t letter) { return image_[point * letters_ + letter]; }

  std::size_t letters_;
  UnionFind<std::uint32_t> together_;
  std::vector<std::uint32_t> image_;  ///< of the classes' least points: some point of the class that a letter leads to
};

/// Classes, their means, and how far off the learned ones are.
struct Attempt {
  StateCode found;
  VectorXd worst;              ///< class ↦ its share
  std::vector<Index> nearest;  ///< class ↦ another
};

Attempt attempt(const LearnedCode& learned, const MatrixXd& sight, const std::vector<std::uint32_t>& class_of,
                Index classes) {
  const Index points = learned.points.cols();
  Attempt made{{{MatrixXd::Zero(learned.points.rows(), classes), MatrixXd::Zero(classes, points), {}, 0}, 0},
               VectorXd::Zero(classes),
               std::vector<Index>(static_cast<std::size_t>(classes))};
  IntegerCode& code = made.found.code;
  VectorXd counts = VectorXd::Zero(classes), apart(classes);
  for (Index q = 0; q < points; ++q) {
    const Index own = class_of[static_cast<std::size_t>(q)];
    code.basis.col(own) += learned.points.col(q);
    code.points(own, q) = 1;
    counts(own) += 1;
  }
  code.basis.array().rowwise() /= counts.transpose().array();
  const MatrixXd seen = sight * code.basis;
  for (Index c = 0; c < classes; ++c) {
    VectorXd distances = (seen.colwise() - seen.col(c)).colwise().norm();
    distances(c) = std::numeric_limits<double>::infinity();
    apart(c) = distances.minCoeff(&made.nearest[static_cast<std::size_t>(c)]);
  }
  const auto look = [&](const VectorXd& found, Index c) {
    const double off = (sight * found - seen.col(c)).norm();
    made.worst(c) = std::max(made.worst(c), apart(c) > 0 ? off / apart(c) : std::numeric_limits<double>::infinity());
  };
  for (Index q = 0; q < points; ++q) look(learned.points.col(q), class_of[static_cast<std::size_t>(q)]);
  code.letters.assign(learned.letters.size(), MatrixXd::Identity(classes, classes));
  for (const auto& [from, letter, to] : learned.moves) {
    const Index source = class_of[static_cast<std::size_t>(from)], goal = class_of[static_cast<std::size_t>(to)];
    code.letters[letter].col(source) = VectorXd::Unit(classes, goal);
    look(learned.letters[letter] * code.basis.col(source), goal);
  }
  made.found.share = made.worst.maxCoeff();
  return made;
}

/// Merges the nearest pairs until few enough classes are left.
void merge_nearest(Congruence& congruence, const MatrixXd& seen, Index most_classes) {
  std::vector<std::tuple<double, std::uint32_t, std::uint32_t>> pairs;
  for (Index a = 0; a < seen.cols(); ++a)
    for (Index b = a + 1; b < seen.cols(); ++b)
      pairs.emplace_back((seen.col(a) - seen.col(b)).squaredNorm(), static_cast<std::uint32_t>(a),
                         static_cast<std::uint32_t>(b));
  std::ranges::sort(pairs);
  Index left = seen.cols();
  for (auto next = pairs.begin(); left > most_classes; ++next)
    left -= congruence.merge(std::get<1>(*next), std::get<2>(*next));
}

}  // namespace

std::optional<StateCode> state_code(const LearnedCode& learned, const MatrixXd& reads, Index most_classes) {
  constexpr Index kMostPoints = 4096;  // all pairs are compared
  const Index points = learned.points.cols();
  const auto fits = [&](const MatrixXd& letter) {
    return letter.rows() == learned.points.rows() && letter.cols() == learned.points.rows();
  };
  if (learned.points.size() == 0 || points > kMostPoints || most_classes < 2 || reads.cols() != learned.points.rows() ||
      !std::ranges::all_of(learned.letters, fits))
    return std::nullopt;
  const MatrixXd sight = seen_by(reads, learned.letters), seen = sight * learned.points;
  if (!seen.allFinite() || !std::ranges::all_of(learned.letters, [](const MatrixXd& a) { return a.allFinite(); }))
    return std::nullopt;
  Congruence congruence(learned.moves, static_cast<std::size_t>(points), learned.letters.size());
  if (points > most_classes) merge_nearest(congruence, seen, most_classes);
  while (true) {
    const auto [class_of, classes] = congruence.classes();
    if (classes < 2) return std::nullopt;
    Attempt made = attempt(learned, sight, class_of, classes);
    if (made.found.share <= kMostShare) return std::move(made.found);
    Index worst = 0;
    made.worst.maxCoeff(&worst);
    const auto point_of = [&, &of = class_of](Index c) {
      return static_cast<std::uint32_t>(std::ranges::find(of, static_cast<std::uint32_t>(c)) - of.begin());
    };
    congruence.merge(point_of(worst), point_of(made.nearest[static_cast<std::size_t>(worst)]));
  }
}

}  // namespace krohn
