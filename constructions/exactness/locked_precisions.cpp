#include "krohn/constructions/exactness/locked_precisions.h"

#include <algorithm>

#include "krohn/constructions/exactness/exactness.h"
#include "krohn/constructions/exactness/rounded_plane.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMostNumbers = 20'000'000;

/// Forms of which one row is one sum of products, in the order of the columns; zeros change nothing.
bool sums_rows(const Matrix& a) {
  return std::holds_alternative<DenseMatrix>(a) || std::holds_alternative<BlockDiagonalMatrix>(a) ||
         std::holds_alternative<DiagonalMatrix>(a) || std::holds_alternative<MapMatrix>(a) ||
         std::holds_alternative<ZeroMatrix>(a);
}

bool can_look_at(const Layer& layer) {
  const std::uint64_t codewords = layer.decoder.codewords.size(), n = layer.dimension;
  return layer.columns == 1 && layer.decoder.unit_copies == 0 && layer.decoder.book.empty() &&
         codewords * layer.transitions.size() * (n * n + codewords * n) <= kMostNumbers &&
         std::all_of(layer.transitions.begin(), layer.transitions.end(),
                     [](const Transition& transition) { return sums_rows(transition.a); });
}

template <class Number>
bool is_representable(const Eigen::MatrixXd& values) {
  return std::all_of(values.data(), values.data() + values.size(),
                     [](double value) { return widen_number(narrow_number<Number>(value)) == value; });
}

template <class Number>
Eigen::VectorXd rounded_step(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, const Eigen::MatrixXd& state) {
  Eigen::VectorXd result(a.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    Number sum(0);
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      const Number product = narrow_number<Number>(a(i, j)) * narrow_number<Number>(state(j, 0));
      sum = sum + product;
    }
    if (b.size() != 0) sum = sum + narrow_number<Number>(b(i, 0));
    result[i] = widen_number(sum);
  }
  return result;
}

const Eigen::MatrixXd& nearest_codeword(const Layer& layer, const Eigen::VectorXd& state) {
  const auto& words = layer.decoder.codewords;
  return *std::min_element(words.begin(), words.end(), [&](const Eigen::MatrixXd& p, const Eigen::MatrixXd& q) {
    return (p.col(0) - state).squaredNorm() < (q.col(0) - state).squaredNorm();
  });
}

template <class Number>
bool is_locked_layer(const Layer& layer) {
  if (!can_look_at(layer) || !is_representable<Number>(layer.initial)) return false;
  for (const Eigen::MatrixXd& word : layer.decoder.codewords)
    if (!is_representable<Number>(word)) return false;
  for (const Transition& transition : layer.transitions) {
    const Eigen::MatrixXd a = to_dense(transition.a).cast<double>();
    if (!is_representable<Number>(a) || !is_representable<Number>(transition.b)) return false;
    for (const Eigen::MatrixXd& word : layer.decoder.codewords) {
      Eigen::VectorXd exact = a * word.col(0);
      if (transition.b.size() != 0) exact += transition.b.col(0);
      if (rounded_step<Number>(a, transition.b, word) != nearest_codeword(layer, exact)) return false;
    }
  }
  return true;
}

bool is_locked(const Network& network, Precision precision) {
  return std::all_of(network.layers.begin(), network.layers.end(), [&](const Layer& layer) {
    return is_exact(layer, precision) ||
           with_number(precision, [&](auto number) { return is_locked_layer<decltype(number)>(layer); });
  });
}

}  // namespace

std::vector<Precision> locked_precisions(const Network& network) {
  const std::vector<Precision> exact = exact_precisions(network);
  std::vector<Precision> locked;
  for (const Precision precision : {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16})
    if (std::find(exact.begin(), exact.end(), precision) == exact.end() && is_locked(network, precision))
      locked.push_back(precision);
  return locked;
}

}  // namespace krohn
