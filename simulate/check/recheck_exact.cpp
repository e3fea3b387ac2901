#include "krohn/simulate/check/recheck_exact.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

namespace krohn {
namespace {

using Rational = boost::multiprecision::cpp_rational;
using Column = std::vector<Rational>;

/// One case per structured form: A x, or nothing.
struct Times {
  const Column& x;

  bool operator()(const MapMatrix& a, Column& y) const {
    for (Point j = 0; j < a.map.degree(); ++j) y[a.map[j]] += x[j];
    return true;
  }
  bool operator()(const SignedPermutationMatrix& a, Column& y) const {
    for (Point j = 0; j < a.map.degree(); ++j) y[a.map[j]] = a.sign[j] < 0 ? Rational(-x[j]) : x[j];
    return true;
  }
  bool operator()(const ReflectionProduct& a, Column& y) const {
    y = x;
    for (const Reflection& factor : a.factors) {
      if (factor.entries.empty()) return false;  // a key of cosines
      Rational along = 0;
      for (const auto& entry : factor.entries) along += y[entry.position] * entry.value;
      along *= Rational(factor.beta) * Rational(factor.scale_squared_numerator, factor.scale_squared_denominator);
      for (const auto& entry : factor.entries) y[entry.position] -= along * entry.value;
    }
    return true;
  }
  /// Quarters of a turn.
  bool operator()(const RotationBlocks& a, Column& y) const {
    constexpr int kCosine[4] = {1, 0, -1, 0};
    std::size_t at = 0;
    for (const auto& block : a.blocks) {
      const Turn turn = block.turn.normalised();
      const std::int64_t quarters = 4 * turn.numerator / turn.denominator;
      if (4 * turn.numerator != quarters * turn.denominator) return false;
      const auto quarter = static_cast<std::size_t>((quarters % 4 + 4) % 4);
      const int c = kCosine[quarter], s = kCosine[(quarter + 3) % 4];
      if (block.is_sign) {
        y[at] = c * x[at];
        ++at;
        continue;
      }
      y[at] = c * x[at] - s * x[at + 1];
      y[at + 1] = s * x[at] + c * x[at + 1];
      at += 2;
    }
    return true;
  }
  bool operator()(const DiagonalMatrix& a, Column& y) const {
    for (std::size_t i = 0; i < a.values.size(); ++i) y[i] = Rational(a.values[i]) * x[i];
    return true;
  }
  bool operator()(const ZeroMatrix&, Column&) const { return true; }
  bool operator()(const DenseMatrix& a, Column& y) const { return block(a.values, 0, y); }
  bool operator()(const BlockDiagonalMatrix& a, Column& y) const {
    Eigen::Index at = 0;
    for (const Eigen::MatrixXd& values : a.blocks) {
      block(values, at, y);
      at += values.rows();
    }
    return true;
  }
  bool operator()(const FactoredMatrix& a, Column& y) const {
    for (const std::uint32_t term : a.gate) {
      Rational sum = 0;
      for (const std::uint32_t j : a.inputs[term]) sum += x[j];
      for (const std::uint32_t i : a.outputs[term]) y[i] += sum;
    }
    return true;
  }

  bool block(const Eigen::MatrixXd& a, Eigen::Index at, Column& y) const {
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      for (Eigen::Index j = 0; j < a.cols(); ++j)
        if (a(i, j) != 0)
          y[static_cast<std::size_t>(at + i)] += Rational(a(i, j)) * x[static_cast<std::size_t>(at + j)];
    return true;
  }
};

}  // namespace

bool moves_exactly(const Layer& layer, Action action, const std::vector<double>& from, const std::vector<double>& to) {
  const Transition& transition = layer.transitions[action];
  for (std::size_t at = 0; at < from.size(); at += layer.dimension) {
    const Column x(from.begin() + static_cast<std::ptrdiff_t>(at),
                   from.begin() + static_cast<std::ptrdiff_t>(at + layer.dimension));
    Column y(layer.dimension, 0);
    if (!std::visit([&, times = Times{x}](const auto& a) { return times(a, y); }, transition.a)) return false;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (transition.b.size() > 0) y[i] += Rational(transition.b.data()[at + i]);
      if (y[i] != Rational(to[at + i])) return false;
    }
  }
  return true;
}

}  // namespace krohn
