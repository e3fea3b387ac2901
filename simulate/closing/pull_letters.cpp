#include "krohn/simulate/closing/pull_letters.h"

#include <Eigen/Core>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "krohn/groups/float_environment.h"
#include "krohn/simulate/closing/learned_copies.h"
#include "krohn/simulate/closing/learned_states.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/tasks/task_automaton.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLeastShare = 1e-3;  ///< singular values below that of the greatest are noise

/// Where the tensor begins among the parameters.
std::size_t begin_of(const SequenceModel<float>& model, std::string_view name) {
  std::size_t begin = 0;
  for (const ParameterPart& part : model.tensor_parts()) {
    if (part.name == name) break;
    std::size_t count = 1;
    for (const std::uint64_t extent : part.shape) count *= extent;
    begin += count;
  }
  return begin;
}

/// The means without what training left over: of a group's learned copies those above the widest gap of their sizes,
/// otherwise the directions before the widest gap of the singular values. Empty where no gap is wide.
MatrixXd without_noise(const MatrixXd& means, const std::vector<LearnedCode::Move>& moves, std::size_t letters) {
  constexpr double kWide = 2;
  double widest = kWide;
  MatrixXd clean;
  for (const LearnedCopies& copies : learned_copies(means, moves, letters))
    if (copies.gap > widest) widest = copies.gap, clean = copies.basis * copies.points;
  if (clean.size() > 0) return clean;
  const Eigen::BDCSVD<MatrixXd> svd(means, Eigen::ComputeThinU);
  const VectorXd& values = svd.singularValues();
  const double noise = kLeastShare * values(0);
  for (Index i = 0; i < values.size() && values(i) > noise; ++i) {
    const double gap = values(i) / (i + 1 < values.size() ? std::max(values(i + 1), noise) : noise);
    if (gap <= widest) continue;
    widest = gap;
    const MatrixXd directions = svd.matrixU().leftCols(i + 1);
    clean = directions * (directions.transpose() * means);
  }
  return clean;
}

/// Points that no letter leads to and that move as another point does: the state before a word, where the empty word is
/// not asked about. It stays where it is, and would only pull its like aside.
std::vector<bool> repeated_points(const std::vector<LearnedCode::Move>& moves, Index points) {
  std::vector<std::map<std::size_t, Index>> next(static_cast<std::size_t>(points));
  std::vector<bool> is_reached(next.size(), false), is_repeated(next.size(), false);
  for (const auto& [from, letter, to] : moves) {
    next[static_cast<std::size_t>(from)][letter] = to;
    is_reached[static_cast<std::size_t>(to)] = true;
  }
  for (std::size_t i = 0; i < next.size(); ++i)
    for (std::size_t other = 0; other < next.size() && !is_reached[i]; ++other)
      if (is_reached[other] && next[other] == next[i]) is_repeated[i] = true;
  return is_repeated;
}

MatrixXd pseudo_inverse(const MatrixXd& matrix) {
  const Eigen::BDCSVD<MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Index rank = (svd.singularValues().array() > kLeastShare * svd.singularValues()(0)).count();
  return svd.matrixV().leftCols(rank) * svd.singularValues().head(rank).cwiseInverse().asDiagonal() *
         svd.matrixU().leftCols(rank).transpose();
}

}  // namespace

std::vector<float> pulled_letters(const SequenceModel<float>& model, const Task& task, double share) {
  using Form = BilinearShape::Form;
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const FloatEnvironment environment;
  const auto* const bilinear = dynamic_cast<const BilinearModel<float>*>(&model);
  if (bilinear == nullptr) return {};
  const BilinearShape& shape = bilinear->shape();
  if (shape.form != Form::kFull && shape.form != Form::kBlocks) return {};
  const LinearModel view = *model.linear_view();
  const TaskAutomaton input = input_machine(task);
  const auto machine = trained_machine(model, task, Precision::kFp64);
  const LearnedStates seen = learned_states(*machine, task, tracked_automaton(task, input.automaton));
  if (!seen.means.allFinite()) return {};
  const std::vector<bool> is_repeated = repeated_points(seen.moves, seen.means.cols());
  const Index size = view.block, numbers = static_cast<Index>(view.hidden) * size;
  MatrixXd change = MatrixXd::Zero(view.letters, numbers);  // a letter a row
  for (Index first = 0; first < static_cast<Index>(view.hidden); first += size) {
    MatrixXd means = seen.means.middleRows(first, size);
    for (Index point = 0; point < means.cols(); ++point)
      if (is_repeated[static_cast<std::size_t>(point)]) means.col(point).setZero();
    if (means.isZero()) continue;
    const MatrixXd clean = without_noise(means, seen.moves, input.inputs.size());
    if (clean.size() == 0) continue;
    for (std::size_t i = 0; i < input.inputs.size(); ++i) {
      const Letter letter = input.inputs[i];
      MatrixXd from(size, static_cast<Index>(seen.moves.size())), to = from;
      Index count = 0;
      for (const auto& move : seen.moves)
        if (move.letter == i && !is_repeated[static_cast<std::size_t>(move.from)])
          from.col(count) = clean.col(move.from), to.col(count++) = clean.col(move.to);
      if (count == 0) continue;
      if (!view.additions.empty())
        for (Index row = 0; row < size; ++row)
          to.row(row).array() -= double{view.additions[letter * view.hidden + static_cast<std::size_t>(first + row)]};
      const MatrixXd wanted = to.leftCols(count) * pseudo_inverse(from.leftCols(count));
      for (Index row = 0; row < size; ++row)
        for (Index column = 0; column < size; ++column) {
          const Index at = (first + row) * size + column;
          const float now = view.matrices[letter * static_cast<std::size_t>(numbers) + static_cast<std::size_t>(at)];
          change(letter, at) = share * (wanted(row, column) - double{now});
        }
    }
  }
  std::vector<float> parameters(model.parameters().begin(), model.parameters().end());
  const Eigen::Map<const Rows> embedding(parameters.data() + begin_of(model, "embedding"), view.letters, shape.inputs);
  const MatrixXd by_weights = embedding.cast<double>().completeOrthogonalDecomposition().pseudoInverse() * change;
  if (!by_weights.allFinite()) return {};
  Eigen::Map<Rows>(parameters.data() + begin_of(model, "weights"), shape.inputs, numbers) += by_weights.cast<float>();
  return parameters;
}

}  // namespace krohn
