#include "krohn/simulate/closing/pull_letters.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "krohn/groups/float_environment.h"
#include "krohn/simulate/closing/group_copies.h"
#include "krohn/simulate/learned/linear_systems.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/tasks/task_automaton.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLeastShare = 1e-3;  ///< parts of less than that of the greatest are noise
constexpr double kLearned = 0.5;      ///< of its length, by which a part that was learned may be off

/// Of one letter and one block: A · from = to where the letter does what the automaton does. A column a point, 0 where
/// no move is known.
struct LetterMoves {
  MatrixXd from, to;
};

LetterMoves moves_by(std::size_t letter, const VectorXd& addition, const MatrixXd& means,
                     const std::vector<LearnedCode::Move>& moves) {
  LetterMoves found{MatrixXd::Zero(means.rows(), means.cols()), MatrixXd::Zero(means.rows(), means.cols())};
  for (const auto& move : moves)
    if (move.letter == letter) {
      found.from.col(move.from) = means.col(move.from);
      found.to.col(move.from) = means.col(move.to) - addition;
    }
  return found;
}

/// An orthonormal basis of a space of functions of the points in which the means split into parts: copies of a group's
/// representations, otherwise singular directions.
struct Parts {
  MatrixXd vectors;
  std::vector<GroupCopies::Copy> parts;
};

Parts parts_of(const MatrixXd& means, const std::vector<LearnedCode::Move>& moves, std::size_t letters) {
  if (const auto group = group_copies(means, moves, letters)) {
    Parts found{MatrixXd::Zero(means.cols(), group->vectors.cols()), group->copies};
    found.vectors(group->points, Eigen::all) = group->vectors;
    return found;
  }
  const SingularValues svd = thin_singular_values(means);
  Parts found{svd.right, {}};
  for (Index i = 0; i < svd.values.size(); ++i) found.parts.push_back({i, 1, svd.values(i)});
  return found;
}

/// A block of the recurrence: A and b by letter.
struct BlockLetters {
  std::vector<MatrixXd> matrices;
  std::vector<VectorXd> additions;
};

BlockLetters block_letters(const LinearModel& view, const std::vector<Letter>& inputs, Index first) {
  const Index size = view.block;
  BlockLetters found;
  for (const Letter letter : inputs) {
    MatrixXd matrix(size, size);
    VectorXd addition = VectorXd::Zero(size);
    for (Index row = 0; row < size; ++row) {
      const auto at = letter * view.hidden + static_cast<std::size_t>(first + row);
      for (Index column = 0; column < size; ++column)
        matrix(row, column) = double{view.matrices[at * view.block + static_cast<std::size_t>(column)]};
      if (!view.additions.empty()) addition(row) = double{view.additions[at]};
    }
    found.matrices.push_back(std::move(matrix));
    found.additions.push_back(std::move(addition));
  }
  return found;
}

/// The means in the parts that the letters move nearer to where they belong than to 0: those were learned, and what
/// training left over dies out.
MatrixXd without_noise(const MatrixXd& means, const BlockLetters& letters,
                       const std::vector<LearnedCode::Move>& moves) {
  const Parts all = parts_of(means, moves, letters.matrices.size());
  std::vector<MatrixXd> from, off;
  for (std::size_t i = 0; i < letters.matrices.size(); ++i) {
    const LetterMoves by = moves_by(i, letters.additions[i], means, moves);
    from.push_back(by.from);
    off.push_back(letters.matrices[i] * by.from - by.to);
  }
  MatrixXd kept(means.cols(), 0);
  for (const auto& [first, count, size] : all.parts) {
    if (size <= kLeastShare * all.parts.front().size) break;
    const MatrixXd part = all.vectors.middleCols(first, count);
    double wrong = 0, length = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      wrong += (off[i] * part).squaredNorm();
      length += (from[i] * part).squaredNorm();
    }
    if (wrong > kLearned * kLearned * length) continue;
    kept.conservativeResize(Eigen::NoChange, kept.cols() + count);
    kept.rightCols(count) = part;
  }
  return means * kept * kept.transpose();
}

/// Of the matrices that take `from` to `to` that of least norm, but in directions of `from` that the letter does not
/// move nearly there: it stays as it is in those, of which a division by their small length would make anything.
MatrixXd wanted_letter(const MatrixXd& letter, const LetterMoves& by) {
  constexpr double kRounding = 1e-9;  // singular values below that of the greatest are roundings
  const SingularValues svd = thin_singular_values(by.from);
  MatrixXd wanted = MatrixXd::Zero(letter.rows(), letter.cols());
  for (Index i = 0; i < svd.values.size(); ++i) {
    const double length = svd.values(i);
    if (length <= kRounding * svd.values(0)) break;
    const VectorXd direction = svd.left.col(i), made = letter * direction, right = by.to * svd.right.col(i) / length;
    wanted += ((made - right).norm() <= kLearned ? right : made) * direction.transpose();
  }
  return wanted;
}

}  // namespace

std::vector<float> pulled_letters(const SequenceModel<float>& model, const Task& task, const LearnedStates& seen,
                                  double share) {
  using Form = BilinearShape::Form;
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const FloatEnvironment environment;
  const auto* const bilinear = dynamic_cast<const BilinearModel<float>*>(&model);
  if (bilinear == nullptr) return {};
  const BilinearShape& shape = bilinear->shape();
  if (shape.form != Form::kFull && shape.form != Form::kBlocks) return {};
  const LinearModel view = *model.linear_view();
  const TaskAutomaton input = input_machine(task);
  if (!seen.means.allFinite()) return {};
  const Index size = view.block, numbers = static_cast<Index>(view.hidden) * size;
  MatrixXd change = MatrixXd::Zero(view.letters, numbers);  // a letter a row
  for (Index first = 0; first < static_cast<Index>(view.hidden); first += size) {
    const MatrixXd means = seen.means.middleRows(first, size);
    if (means.isZero()) continue;
    const BlockLetters letters = block_letters(view, input.inputs, first);
    const MatrixXd clean = without_noise(means, letters, seen.moves);
    if (clean.isZero()) continue;
    for (std::size_t i = 0; i < input.inputs.size(); ++i) {
      const LetterMoves by = moves_by(i, letters.additions[i], clean, seen.moves);
      if (by.from.isZero()) continue;
      const MatrixXd pull = share * (wanted_letter(letters.matrices[i], by) - letters.matrices[i]);
      change.row(input.inputs[i]).segment(first * size, size * size) = pull.reshaped<Eigen::RowMajor>().transpose();
    }
  }
  std::vector<float> parameters(model.parameters().begin(), model.parameters().end());
  const Eigen::Map<const Rows> embedding(parameters.data() + model.begin_of("embedding"), view.letters, shape.inputs);
  const MatrixXd by_weights = pseudo_inverse(embedding.cast<double>()) * change;
  if (!by_weights.allFinite()) return {};
  Eigen::Map<Rows>(parameters.data() + model.begin_of("weights"), shape.inputs, numbers) += by_weights.cast<float>();
  return parameters;
}

}  // namespace krohn
