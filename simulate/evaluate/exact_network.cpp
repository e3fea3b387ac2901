#include "krohn/simulate/evaluate/exact_network.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"

namespace krohn {
namespace {

constexpr std::size_t kNone = SIZE_MAX;
constexpr double kMaxCodewordNumbers = 5e7;

/// The numbers of B or H_0: a one-column matrix's worth of the checks that dense entries get.
ExactState exact_entries(const Eigen::MatrixXd& values, const CyclotomicField& field, const std::string& where) {
  ExactState numbers;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const ExactMatrix one = exact_matrix(DiagonalMatrix{{values(i)}}, field, where);
    numbers.push_back(one[0].empty() ? ExactNumber{} : one[0].begin()->second);
  }
  return numbers;
}

/// The doubles that the numbers are, when all of them are doubles.
std::optional<std::vector<double>> as_doubles(const ExactState& state) {
  std::vector<double> numbers;
  for (const ExactNumber& number : state) {
    if (number.size() > 1) return std::nullopt;
    const double value = number.empty() ? 0 : static_cast<double>(number[0]);
    if (!std::isfinite(value) || (!number.empty() && Rational(value) != number[0])) return std::nullopt;
    numbers.push_back(value);
  }
  return numbers;
}

}  // namespace

ExactLayer::ExactLayer(const Layer& layer, const CyclotomicField& field, const std::string& where)
    : layer_(layer), field_(field), initial_(exact_entries(layer.initial, field, where + ", H_0")) {
  for (std::size_t i = 0; i < layer.transitions.size(); ++i) {
    const std::string action = fmt::format("{}, action {}", where, i);
    matrices_.push_back(exact_matrix(layer.transitions[i].a, field, action));
    additions_.push_back(exact_entries(layer.transitions[i].b, field, action));
  }
  const std::size_t count = codeword_count(layer);
  if (static_cast<double>(count) * static_cast<double>(initial_.size()) > kMaxCodewordNumbers)
    throw LimitError(
        fmt::format("{}: {} codewords of {} numbers are too many for exact arithmetic", where, count, initial_.size()));
  books_.resize(books_of(layer));
  for (std::size_t i = 0; i < count; ++i) {
    TimeLimit::check();
    const Eigen::MatrixXd numbers = codeword(layer, i);
    codewords_.insert(codewords_.end(), numbers.data(), numbers.data() + numbers.size());
    Book& book = books_[codeword_book(layer, i)];
    book.codewords.push_back(i);
    std::vector<double> key(numbers.data(), numbers.data() + numbers.size());
    for (double& number : key) number += 0.0;  // −0 is 0
    book.by_numbers.emplace(std::move(key), i);
  }
}

ExactState ExactLayer::move(Action action, const ExactState& from) const {
  const ExactMatrix& a = matrices_[action];
  ExactState to(from.size());
  for (std::size_t column = 0; column < from.size(); column += a.size())
    for (std::size_t i = 0; i < a.size(); ++i)
      for (const auto& [j, value] : a[i])
        to[column + i] = field_.add(to[column + i], field_.multiply(value, from[column + j]));
  const ExactState& b = additions_[action];
  for (std::size_t i = 0; i < b.size(); ++i) to[i] = field_.add(to[i], b[i]);
  return to;
}

Label ExactLayer::decode(const ExactState& state, std::uint32_t book) const {
  const Book& codewords = books_[book];
  if (codewords.codewords.empty()) return kNoLabel;
  if (const auto numbers = as_doubles(state)) {
    const auto found = codewords.by_numbers.find(*numbers);
    if (found != codewords.by_numbers.end())
      return codewords.by_numbers.count(*numbers) == 1 ? codeword_label(layer_, found->second) : kNoLabel;
  }
  const std::size_t nearest = nearest_by_enclosure(state, codewords);
  return nearest == kNone ? kNoLabel : codeword_label(layer_, nearest);
}

/// |x − c|² is |x|² + (|c|² − 2 x·c); intervals of the bracket leave the codewords that may be nearest, usually one.
std::size_t ExactLayer::nearest_by_enclosure(const ExactState& state, const Book& book) const {
  std::vector<Interval> x, scores;
  for (const ExactNumber& number : state) x.push_back(field_.enclosure(number));
  std::size_t best = 0;
  for (const std::size_t i : book.codewords) {
    Interval score;
    for (std::size_t k = 0; k < x.size(); ++k)
      if (const double c = entry(i, k); c != 0) score = score + Interval(c) * (Interval(c) - Interval(2) * x[k]);
    scores.push_back(score);
    if (score.upper() < scores[best].upper()) best = scores.size() - 1;
  }
  std::size_t nearest = book.codewords[best];
  bool is_tie = false;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (i == best || scores[i].lower() > scores[best].upper()) continue;
    // Exact, and so transitive: what is nearer than the nearest so far is nearer than all that were compared with it.
    const int order = compare_distances(state, book.codewords[i], nearest);
    if (order > 0) continue;
    is_tie = order == 0;
    if (order < 0) nearest = book.codewords[i];
  }
  return is_tie ? kNone : nearest;
}

/// The sign of |x − a|² − |x − b|².
int ExactLayer::compare_distances(const ExactState& state, std::size_t a, std::size_t b) const {
  TimeLimit::check();
  ExactNumber difference;
  for (std::size_t k = 0; k < state.size(); ++k) {
    const Rational from_a(entry(a, k)), from_b(entry(b, k));
    if (from_a == from_b) continue;
    difference = field_.add(difference, {from_a * from_a - from_b * from_b});
    difference = field_.subtract(difference, field_.multiply({2 * (from_a - from_b)}, state[k]));
  }
  return field_.sign(difference);
}

namespace {

class ExactEvaluator final : public Evaluator {
 public:
  explicit ExactEvaluator(const Network& network) : network_(network), field_(field_of(network)) {
    for (std::size_t k = 0; k < network.layers.size(); ++k)
      layers_.emplace_back(network.layers[k], field_, fmt::format("layer {}", k));
    reset();
  }
  ExactEvaluator(const ExactEvaluator&) = delete;
  ExactEvaluator& operator=(const ExactEvaluator&) = delete;

  void reset() override {
    const FloatEnvironment environment;
    states_.clear();
    labels_.clear();
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      states_.push_back(layers_[k].initial());
      labels_.push_back(network_.layers[k].initial_label);
    }
  }

  void run(std::span<const Letter> letters, std::span<State> states) override {
    const FloatEnvironment environment;
    for (std::size_t t = 0; t < letters.size(); ++t) {
      advance(letters[t]);
      states[t] = current().value_or(kNoState);
    }
  }

  std::optional<State> current() const override {
    Context node = 0;
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      if (labels_[k] == kNoLabel) return std::nullopt;
      node = network_.readout.next[k][std::size_t{node} * network_.layers[k].labels + labels_[k]];
      if (node == kNoContext) return std::nullopt;
    }
    return node;
  }

  std::vector<double> numbers() const override {
    const FloatEnvironment environment;
    std::vector<double> all;
    for (const ExactState& state : states_)
      for (const ExactNumber& number : state) {
        const Interval bounds = field_.enclosure(number);
        all.push_back(bounds.lower() / 2 + bounds.upper() / 2);
      }
    return all;
  }

  std::unique_ptr<Evaluator> fresh() const override { return std::make_unique<ExactEvaluator>(network_); }

 private:
  void advance(Letter letter) {
    Context context = letter;
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      const Layer& layer = network_.layers[k];
      const Label pre = std::exchange(labels_[k], kNoLabel);
      if (context == kNoContext) continue;
      states_[k] = layers_[k].move(layer.wiring.action_of[context], states_[k]);
      labels_[k] = layers_[k].decode(states_[k], layer.book_of_context.empty() ? 0 : layer.book_of_context[context]);
      if (k + 1 < layers_.size())
        context = pre == kNoLabel ? kNoContext : layer.wiring.next[std::size_t{context} * layer.labels + pre];
    }
  }

  const Network& network_;
  const CyclotomicField field_;
  std::vector<ExactLayer> layers_;
  std::vector<ExactState> states_;
  std::vector<Label> labels_;
};

}  // namespace

std::unique_ptr<Evaluator> exact_evaluator(const Network& network) { return std::make_unique<ExactEvaluator>(network); }

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
  ExactMatrix operator()(const ZeroMatrix& matrix) const { return zero(matrix.dimension); }
  ExactMatrix operator()(const BlockDiagonalMatrix& matrix) const {
    ExactMatrix a;
    for (const auto& block : matrix.blocks) {
      const std::size_t at = a.size();
      a.resize(at + static_cast<std::size_t>(block.rows()));
      set_block(a, at, block);
    }
    return a;
  }
  ExactMatrix operator()(const auto& matrix) const {
    return (*this)(BlockDiagonalMatrix{{to_dense(matrix).template cast<double>()}});
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
