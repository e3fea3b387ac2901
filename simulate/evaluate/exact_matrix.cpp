#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <set>

#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/exact_network.h"

namespace krohn {
namespace {

/// Adds the denominators of turns that are no quarters.
struct CollectDenominators {
  std::set<std::uint64_t>& denominators;

  void add(const Turn& turn) const {
    const auto denominator = static_cast<std::uint64_t>(turn.normalised().denominator);
    if (4 % denominator != 0) denominators.insert(denominator);
  }
  void operator()(const RotationBlocks& rotation) const {
    for (const auto& block : rotation.blocks)
      if (!block.is_sign) add(block.turn);
  }
  void operator()(const ReflectionProduct& product) const {
    for (const Reflection& factor : product.factors)
      if (factor.entries.empty()) add(factor.angle);
  }
  void operator()(const auto&) const {}
};

/// One case per structured form.
struct ExactForm {
  const CyclotomicField& field;
  const std::string& where;

  ExactNumber number(double value) const {
    constexpr double kUnits = 0x1p24;
    if (std::nearbyint(value * kUnits) != value * kUnits)
      throw InputError(where,
                       fmt::format("the weight {} has no exact form: it looks rounded. `--precision exact` takes "
                                   "integers, short fractions, reflections and turns",
                                   value));
    return exact_number(value);
  }

  static ExactMatrix zero(std::size_t n) { return ExactMatrix(n); }
  ExactMatrix identity(std::uint32_t n) const {
    ExactMatrix a = zero(n);
    for (std::uint32_t i = 0; i < n; ++i) a[i][i] = exact_number(1);
    return a;
  }
  void set(ExactMatrix& a, std::size_t row, std::size_t column, ExactNumber value) const {
    if (!value.empty()) a[row][static_cast<std::uint32_t>(column)] = std::move(value);
  }
  void set_block(ExactMatrix& a, std::size_t at, const Eigen::MatrixXd& block) const {
    for (Eigen::Index i = 0; i < block.rows(); ++i)
      for (Eigen::Index j = 0; j < block.cols(); ++j)
        set(a, at + static_cast<std::size_t>(i), at + static_cast<std::size_t>(j), number(block(i, j)));
  }

  ExactMatrix operator()(const MapMatrix& matrix) const {
    ExactMatrix a = zero(matrix.map.degree());
    for (Point j = 0; j < matrix.map.degree(); ++j) set(a, matrix.map[j], j, exact_number(1));
    return a;
  }
  ExactMatrix operator()(const SignedPermutationMatrix& matrix) const {
    ExactMatrix a = zero(matrix.map.degree());
    for (Point j = 0; j < matrix.map.degree(); ++j) set(a, matrix.map[j], j, exact_number(matrix.sign[j]));
    return a;
  }
  ExactMatrix operator()(const ReflectionProduct& product) const {
    ExactMatrix a = identity(product.dimension);
    for (const Reflection& factor : product.factors) reflect_rows(a, factor);
    return a;
  }
  ExactMatrix operator()(const RotationBlocks& rotation) const {
    ExactMatrix a;
    for (const auto& block : rotation.blocks) {
      const std::size_t at = a.size();
      a.resize(at + (block.is_sign ? 1 : 2));
      const ExactNumber cosine = field.cosine(block.turn);
      set(a, at, at, cosine);
      if (block.is_sign) continue;
      const ExactNumber sine = field.sine(block.turn);
      set(a, at, at + 1, field.subtract({}, sine));
      set(a, at + 1, at, sine);
      set(a, at + 1, at + 1, cosine);
    }
    return a;
  }
  ExactMatrix operator()(const DiagonalMatrix& diagonal) const {
    ExactMatrix a = zero(diagonal.values.size());
    for (std::size_t i = 0; i < diagonal.values.size(); ++i) set(a, i, i, number(diagonal.values[i]));
    return a;
  }
  ExactMatrix operator()(const ZeroMatrix& matrix) const { return zero(matrix.dimension); }
  ExactMatrix operator()(const DenseMatrix& dense) const {
    ExactMatrix a = zero(static_cast<std::size_t>(dense.values.rows()));
    set_block(a, 0, dense.values);
    return a;
  }
  ExactMatrix operator()(const BlockDiagonalMatrix& matrix) const {
    ExactMatrix a;
    for (const auto& block : matrix.blocks) {
      const std::size_t at = a.size();
      a.resize(at + static_cast<std::size_t>(block.rows()));
      set_block(a, at, block);
    }
    return a;
  }
  ExactMatrix operator()(const FactoredMatrix& factored) const {
    ExactMatrix a = zero(factored.dimension);
    for (const std::uint32_t term : factored.gate)
      for (const std::uint32_t i : factored.outputs[term])
        for (const std::uint32_t j : factored.inputs[term]) a[i][j] = field.add(a[i][j], exact_number(1));
    return a;
  }

 private:
  using Row = std::map<std::uint32_t, ExactNumber>;

  /// row ← row + factor · other.
  void add_multiple(Row& row, const ExactNumber& factor, const Row& other) const {
    for (const auto& [column, value] : other) {
      ExactNumber& sum = row[column];
      sum = field.add(sum, field.multiply(factor, value));
      if (sum.empty()) row.erase(column);
    }
  }

  /// A ← (I − β k kᵀ) A. With k = √(p/q) v, β k kᵀ = (β p/q) v vᵀ needs no root.
  void reflect_rows(ExactMatrix& a, const Reflection& factor) const {
    std::vector<std::pair<std::uint32_t, ExactNumber>> key;
    ExactNumber beta = number(factor.beta);
    if (factor.entries.empty()) {
      key = {{factor.plane, field.cosine(factor.angle)}, {factor.plane + 1, field.sine(factor.angle)}};
    } else {
      for (const auto& [position, value] : factor.entries) key.emplace_back(position, number(value));
      beta = field.multiply(beta, {Rational(factor.scale_squared_numerator, factor.scale_squared_denominator)});
    }
    Row along;
    for (const auto& [position, value] : key) add_multiple(along, field.multiply(beta, value), a[position]);
    for (const auto& [position, value] : key) add_multiple(a[position], field.subtract({}, value), along);
  }
};

}  // namespace

CyclotomicField field_of(const Network& network) {
  std::set<std::uint64_t> denominators;
  for (const Layer& layer : network.layers)
    for (const Transition& transition : layer.transitions) std::visit(CollectDenominators{denominators}, transition.a);
  if (denominators.empty()) return CyclotomicField();
  std::uint64_t order = 4;
  for (const std::uint64_t denominator : denominators) {
    if (denominator > (std::uint64_t{1} << 20) || order > (std::uint64_t{1} << 20))
      throw LimitError("the turns have no common denominator small enough for exact arithmetic");
    order = std::lcm(order, denominator);
  }
  return CyclotomicField(order);
}

ExactMatrix exact_matrix(const Matrix& matrix, const CyclotomicField& field, const std::string& where) {
  return std::visit(ExactForm{field, where}, matrix);
}

}  // namespace krohn
