// The evaluator written out long-hand, to be compared with the fast one. Numbers are doubles that hold values of the
// format; products and sums of them are formed exactly (simulate/arithmetic/dyadic.h) and then rounded as
// simulate/arithmetic/arithmetic.h promises, by code that shares nothing with it.
#include <cmath>
#include <limits>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/dyadic.h"
#include "krohn/simulate/evaluate/evaluate.h"

namespace krohn {
namespace {

using Numbers = Eigen::MatrixXd;

/// Rounded operations of one arithmetic.
class Rounding {
 public:
  explicit Rounding(ArithmeticName name) : kind_(name.kind()), storage_(binary_format(name.storage())), sum_(storage_) {
    if (name.is_exact()) throw InputError("exact arithmetic does not round");
    if (kind_ == ArithmeticName::Kind::kAccumulatedInFp32) sum_ = binary_format(Precision::kFp32);
  }

  double weight(long double value) const { return nearest(value, storage_); }
  double store(double sum) const { return nearest(sum, storage_); }

  double sum(double a, double b) const {
    if (!std::isfinite(a) || !std::isfinite(b)) return a + b;
    return (Dyadic(a) + Dyadic(b)).rounded(sum_);
  }
  double product(double a, double b) const {
    const double x = operand(a), y = operand(b);
    if (!std::isfinite(x) || !std::isfinite(y)) return x * y;
    return (Dyadic(x) * Dyadic(y)).rounded(sum_);
  }
  double add_product(double accumulator, double a, double b) const {
    if (kind_ != ArithmeticName::Kind::kFused) return sum(accumulator, product(a, b));
    if (!std::isfinite(a) || !std::isfinite(b)) return a * b + accumulator;
    if (!std::isfinite(accumulator)) return accumulator;
    return (Dyadic(a) * Dyadic(b) + Dyadic(accumulator)).rounded(sum_);
  }

  template <class Dense>
  Numbers dense_times(const Dense& a, const Numbers& x) const {
    Numbers y(x.rows(), x.cols());
    for (Eigen::Index column = 0; column < x.cols(); ++column)
      for (Eigen::Index i = 0; i < x.rows(); ++i) {
        y(i, column) = product(weight(a(i, 0)), x(0, column));
        for (Eigen::Index j = 1; j < x.rows(); ++j)
          y(i, column) = add_product(y(i, column), weight(a(i, j)), x(j, column));
      }
    return y;
  }

  Numbers weights(const Numbers& values) const {
    return values.unaryExpr([this](double value) { return weight(value); });
  }
  Numbers stored(const Numbers& sums) const {
    return sums.unaryExpr([this](double value) { return store(value); });
  }

 private:
  double operand(double value) const {
    constexpr BinaryFormat kTf32{11, -126, 127};
    return kind_ == ArithmeticName::Kind::kTf32 ? nearest(value, kTf32) : value;
  }
  static double nearest(long double value, const BinaryFormat& format) {
    return std::isfinite(value) ? Dyadic(value).rounded(format) : static_cast<double>(value);
  }

  ArithmeticName::Kind kind_;
  BinaryFormat storage_, sum_;
};

/// A x by the structured form, one case per form, as simulate/arithmetic/apply.h defines the order.
struct Times {
  const Rounding& in;
  const Numbers& x;

  Numbers zero() const { return Numbers::Zero(x.rows(), x.cols()); }

  Numbers operator()(const MapMatrix& a) const {
    Numbers y = zero();
    for (Eigen::Index column = 0; column < x.cols(); ++column)
      for (Point j = 0; j < a.map.degree(); ++j) y(a.map[j], column) = in.sum(y(a.map[j], column), x(j, column));
    return y;
  }

  Numbers operator()(const SignedPermutationMatrix& a) const {
    Numbers y = zero();
    for (Point j = 0; j < a.map.degree(); ++j) y.row(a.map[j]) = a.sign[j] * x.row(j);
    return y;
  }

  Numbers operator()(const ReflectionProduct& a) const {
    Numbers y = x;
    for (const Reflection& factor : a.factors)
      for (Eigen::Index column = 0; column < x.cols(); ++column) reflect(factor, y, column);
    return y;
  }

  void reflect(const Reflection& factor, Numbers& y, Eigen::Index column) const {
    std::vector<std::pair<Eigen::Index, double>> key;
    if (factor.entries.empty()) {
      key.emplace_back(factor.plane, in.weight(factor.angle.cosine()));
      key.emplace_back(factor.plane + 1, in.weight(factor.angle.sine()));
    }
    const long double scale = std::sqrt(static_cast<long double>(factor.scale_squared_numerator) /
                                        static_cast<long double>(factor.scale_squared_denominator));
    for (const auto& entry : factor.entries) key.emplace_back(entry.position, in.weight(scale * entry.value));
    double s = 0;
    for (std::size_t e = 0; e < key.size(); ++e) {
      const auto& [position, value] = key[e];
      s = e == 0 ? in.product(value, y(position, column)) : in.add_product(s, value, y(position, column));
    }
    const double t = in.product(in.weight(factor.beta), s);
    for (const auto& [position, value] : key) y(position, column) = in.add_product(y(position, column), -value, t);
  }

  Numbers operator()(const RotationBlocks& a) const {
    Numbers y = zero();
    Eigen::Index at = 0;
    for (const auto& block : a.blocks) {
      const double c = in.weight(block.turn.cosine()), s = in.weight(block.turn.sine());
      if (block.is_sign) {
        y.row(at) = c * x.row(at);
        at += 1;
        continue;
      }
      for (Eigen::Index column = 0; column < x.cols(); ++column) {
        y(at, column) = in.add_product(in.product(c, x(at, column)), -s, x(at + 1, column));
        y(at + 1, column) = in.add_product(in.product(s, x(at, column)), c, x(at + 1, column));
      }
      at += 2;
    }
    return y;
  }

  Numbers operator()(const DiagonalMatrix& a) const {
    Numbers y = zero();
    for (Eigen::Index column = 0; column < x.cols(); ++column)
      for (Eigen::Index i = 0; i < x.rows(); ++i)
        y(i, column) = in.product(in.weight(a.values[static_cast<std::size_t>(i)]), x(i, column));
    return y;
  }

  Numbers operator()(const ZeroMatrix&) const { return zero(); }
  Numbers operator()(const DenseMatrix& a) const { return in.dense_times(a.values, x); }

  Numbers operator()(const BlockDiagonalMatrix& a) const {
    Numbers y = zero();
    Eigen::Index at = 0;
    for (const auto& block : a.blocks) {
      y.middleRows(at, block.rows()) = in.dense_times(block, x.middleRows(at, block.rows()));
      at += block.rows();
    }
    return y;
  }

  Numbers operator()(const FactoredMatrix& a) const {
    Numbers y = zero();
    for (Eigen::Index column = 0; column < x.cols(); ++column)
      for (const std::uint32_t term : a.gate) {
        double s = 0;
        for (const std::uint32_t j : a.inputs[term]) s = in.sum(s, x(j, column));
        for (const std::uint32_t i : a.outputs[term]) y(i, column) = in.sum(y(i, column), s);
      }
    return y;
  }
};

std::optional<std::size_t> nearest_codeword(const Layer& layer, const Numbers& h, std::uint32_t book) {
  if (!h.allFinite()) return std::nullopt;
  double least = std::numeric_limits<double>::infinity();
  std::optional<std::size_t> nearest;
  for (std::size_t i = 0; i < codeword_count(layer); ++i) {
    if (codeword_book(layer, i) != book) continue;
    const Numbers c = codeword(layer, i);
    double distance = 0;
    for (Eigen::Index column = 0; column < h.cols(); ++column)
      for (Eigen::Index row = 0; row < h.rows(); ++row) {
        const double difference = h(row, column) - c(row, column);
        distance += difference * difference;
      }
    if (distance == least) nearest.reset();
    if (distance < least) {
      least = distance;
      nearest = i;
    }
  }
  return nearest;
}

std::optional<Label> nearest_label(const Layer& layer, const Numbers& h, std::uint32_t book) {
  const std::optional<std::size_t> nearest = nearest_codeword(layer, h, book);
  return nearest ? std::optional(codeword_label(layer, *nearest)) : std::nullopt;
}

class ReferenceEvaluator final : public Evaluator {
 public:
  ReferenceEvaluator(const Network& network, ArithmeticName arithmetic, Form form)
      : network_(network), arithmetic_(arithmetic), form_(form), in_(arithmetic) {
    reset();
  }

  void reset() override {
    const FloatEnvironment environment;
    position_ = 0;
    states_.clear();
    labels_.clear();
    for (const Layer& layer : network_.layers) {
      states_.push_back(in_.weights(layer.initial));
      labels_.emplace_back(layer.initial_label);
    }
  }

  std::optional<State> step(Letter letter) override {
    const FloatEnvironment environment;
    std::optional<Context> context = letter;
    for (std::size_t k = 0; k < network_.layers.size(); ++k) {
      const Layer& layer = network_.layers[k];
      const std::optional<Label> pre = labels_[k];
      labels_[k].reset();
      if (!context) continue;
      move(layer.transitions[layer.wiring.action_of[*context]], states_[k]);
      const std::uint32_t book = layer.book_of_context.empty() ? 0 : layer.book_of_context[*context];
      labels_[k] = nearest_label(layer, states_[k], book);
      if (k + 1 == network_.layers.size()) break;
      const Context next = pre ? layer.wiring.next[std::size_t{*context} * layer.labels + *pre] : kNoContext;
      context = next == kNoContext ? std::nullopt : std::optional(next);
    }
    ++position_;
    if (network_.snap_every > 0 && position_ % network_.snap_every == 0) snap();
    return current();
  }

  void run(std::span<const Letter> letters, std::span<State> states) override {
    for (std::size_t t = 0; t < letters.size(); ++t) states[t] = step(letters[t]).value_or(kNoState);
  }

  std::optional<State> current() const override {
    Context node = 0;
    for (std::size_t k = 0; k < network_.layers.size(); ++k) {
      if (!labels_[k]) return std::nullopt;
      node = network_.readout.next[k][std::size_t{node} * network_.layers[k].labels + *labels_[k]];
      if (node == kNoContext) return std::nullopt;
    }
    return node;
  }

  std::vector<double> numbers() const override {
    const FloatEnvironment environment;
    std::vector<double> all;
    for (const Numbers& h : states_) all.insert(all.end(), h.data(), h.data() + h.size());
    return all;
  }

  std::unique_ptr<Evaluator> fresh() const override {
    return std::make_unique<ReferenceEvaluator>(network_, arithmetic_, form_);
  }

 private:
  void move(const Transition& transition, Numbers& h) const {
    h = form_ == Form::kDense ? in_.dense_times(to_dense(transition.a), h) : std::visit(Times{in_, h}, transition.a);
    for (Eigen::Index i = 0; i < transition.b.size(); ++i) h(i) = in_.sum(h(i), in_.weight(transition.b(i)));
    h = in_.stored(h);
  }

  void snap() {
    for (std::size_t k = 0; k < network_.layers.size(); ++k)
      if (labels_[k])
        states_[k] = in_.weights(codeword(network_.layers[k], *nearest_codeword(network_.layers[k], states_[k], 0)));
  }

  const Network& network_;
  ArithmeticName arithmetic_;
  Form form_;
  Rounding in_;
  std::vector<Numbers> states_;
  std::vector<std::optional<Label>> labels_;
  std::uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<Evaluator> reference_evaluator(const Network& network, ArithmeticName arithmetic, Form form) {
  return std::make_unique<ReferenceEvaluator>(network, arithmetic, form);
}

}  // namespace krohn
