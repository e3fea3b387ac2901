#include "krohn/simulate/prove/bounds/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <unordered_map>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/arithmetic/apply.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/interval.h"
#include "krohn/simulate/arithmetic/rounded_matrix.h"
#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/rounded_network.h"
#include "krohn/simulate/prove/claims/closed_layer.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {

// Arithmetics on enclosures instead of numbers: what
// simulate/arithmetic/apply.h computes with when the question is how far one rounded step can be from the exact one,
// over a whole ball of states (MATH.md §5).
//
// `Exact` keeps no rounding: apply<Exact> encloses A x over real numbers. `Enclosed` follows an arithmetic: an
// Enclosure holds every value that it can compute for some state of the ball, and a bound of its distance from what
// real arithmetic gives for the same state. One rounding adds at most half of the distance of two neighbouring numbers
// of the format, which is at most u·|v| and as small as u·|v|/2 (Rump's unit in the first place).

struct Exact {
  using Number = Interval;
  using Sum = Interval;
  static Sum load(const Number& number) { return number; }
  static Sum product(const Number& a, const Sum& b) { return a * b; }
  static Sum add(const Sum& a, const Sum& b) { return a + b; }
  static Sum add_product(const Sum& accumulator, const Number& a, const Sum& b) { return accumulator + a * b; }
  static Number store(const Sum& sum) { return sum; }
};

/// A format in which results are rounded to nearest.
struct RoundedFormat {
  int digits, least_exponent, greatest_exponent;

  template <class Format>
  static constexpr RoundedFormat of() {
    return {Format::digits, Format::least_exponent, Format::greatest_exponent};
  }

  /// The most that rounding moves a real number of at most that magnitude; infinite where it may overflow.
  double error_up_to(double magnitude) const;
  /// The same where the exact value has few enough digits, so that only underflow rounds.
  double underflow_error() const;
};

/// [lower, upper] holds all that can be computed; `error` ≥ |computed − exact|, infinite after an overflow. The ends
/// are rounded outward by a relative 2^−52, which is quicker than the nearest doubles and as good here.
struct Enclosure {
  double lower = 0, upper = 0, error = 0;

  Enclosure() = default;
  constexpr explicit Enclosure(double point) : lower(point), upper(point) {}
  constexpr Enclosure(double low, double high, double bound) : lower(low), upper(high), error(bound) {}
  Enclosure operator-() const { return {-upper, -lower, error}; }
};

Enclosure round_to(const RoundedFormat& format, const Enclosure& exact);
Enclosure round_product(const RoundedFormat& format, const Enclosure& a, const Enclosure& b);
Enclosure round_sum(const RoundedFormat& format, const Enclosure& a, const Enclosure& b);
/// accumulator + a·b, rounded once.
Enclosure round_fused(const RoundedFormat& format, const Enclosure& accumulator, const Enclosure& a,
                      const Enclosure& b);

class Enclosed {
 public:
  using Number = Enclosure;
  using Sum = Enclosure;

  explicit Enclosed(ArithmeticName arithmetic)
      : kind_(arithmetic.kind()),
        storage_(with_format(arithmetic.storage(), [](auto format) { return RoundedFormat::of<decltype(format)>(); })),
        sums_(kind_ == ArithmeticName::Kind::kAccumulatedInFp32 ? RoundedFormat::of<Fp32>() : storage_) {}

  Sum load(const Number& number) const { return number; }
  Sum product(const Number& a, const Sum& b) const { return round_product(sums_, operand(a), operand(b)); }
  Sum add(const Sum& a, const Sum& b) const { return round_sum(sums_, a, b); }
  Sum add_product(const Sum& accumulator, const Number& a, const Sum& b) const {
    if (kind_ == ArithmeticName::Kind::kFused) return round_fused(sums_, accumulator, a, b);
    return add(accumulator, product(a, b));
  }
  Number store(const Sum& sum) const { return sums_.digits == storage_.digits ? sum : round_to(storage_, sum); }

 private:
  /// Operands of tf32's products: the exponents of fp32 with 11 digits.
  static constexpr RoundedFormat kOperands = {11, Fp32::least_exponent, Fp32::greatest_exponent};

  Enclosure operand(const Enclosure& value) const {
    return kind_ == ArithmeticName::Kind::kTf32 ? round_to(kOperands, value) : value;
  }

  ArithmeticName::Kind kind_;
  RoundedFormat storage_, sums_;
};

namespace {

constexpr double kMaxEntries = 4e6;

/// The rounded weights as points; one that overflowed makes every bound infinite.
RoundedMatrix<Interval> interval_weights(const Transition& transition, Form form, const RoundedOperations& rounding) {
  return round_matrix_by<Interval>(transition.a, form, [&](auto weight) {
    const double number = rounding.round(weight);
    return std::isfinite(number) ? Interval(number) : Interval::between(-directed::kInfinity, directed::kInfinity);
  });
}
RoundedMatrix<Enclosure> enclosed_weights(const Transition& transition, Form form, const RoundedOperations& rounding) {
  return round_matrix_by<Enclosure>(transition.a, form, [&](auto weight) {
    const double number = rounding.round(weight);
    return Enclosure(number, number, std::isfinite(number) ? 0 : directed::kInfinity);
  });
}

/// ‖A‖₂ by its form; infinite where the form says nothing. Weights are points, or no bound is finite: equal ones are the
/// same number.
class NormByForm {
 public:
  double operator()(const Gather& a) const {
    std::uint32_t most = 0;
    for (std::size_t i = 0; i + 1 < a.first.size(); ++i) most = std::max(most, a.first[i + 1] - a.first[i]);
    return root_up(most);
  }
  double operator()(const SparseTerms&) const { return directed::kInfinity; }
  double operator()(const RoundedReflections<Interval>& a) const {
    double norm = 1;
    for (const auto& factor : a.factors) {
      Interval square_of_key(0);
      for (const auto& entry : factor.entries) square_of_key = square_of_key + square(entry.key);
      norm = multiply_up(norm, std::max(1.0, (Interval(1) - factor.beta * square_of_key).magnitude()));
    }
    return norm;
  }
  double operator()(const RoundedBlocks<Interval>& a) const {
    double norm = 0;
    const Interval* entries = a.entries.data();
    for (const auto& block : a.blocks) {
      if (block.sign != 0) {
        norm = std::max(norm, 1.0);
        continue;
      }
      norm = std::max(norm, of_block(entries, block.size));
      entries += std::size_t{block.size} * block.size;
    }
    return norm;
  }

 private:
  static double of_block(const Interval* entries, std::size_t size) {
    if (size == 1) return entries[0].magnitude();
    const auto is_equal = [](const Interval& a, const Interval& b) {
      return a.lower() == b.lower() && a.upper() == b.upper();
    };
    if (size == 2 && is_equal(entries[0], entries[3]) && is_equal(entries[1], -entries[2]))
      return sqrt(square(entries[0]) + square(entries[2])).upper();
    IntervalMatrix matrix(size, size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) matrix(i, j) = *entries++;
    return spectral_norm_bound(matrix);
  }
};

/// Reflections one by one: each is a stage of its own, because errors grow by its norm, which is at most about 1, and
/// not by that of its entries' absolute values.
template <class Target>
std::vector<RoundedMatrix<Target>> stages_of(const RoundedMatrix<Target>& matrix) {
  const auto* reflections = std::get_if<RoundedReflections<Target>>(&matrix);
  if (!reflections || reflections->factors.size() < 2) return {matrix};
  std::vector<RoundedMatrix<Target>> stages;
  for (const auto& factor : reflections->factors)
    stages.push_back(RoundedReflections<Target>{reflections->dimension, {factor}});
  return stages;
}

std::uint64_t work_of(const RoundedMatrix<Interval>& matrix, std::size_t n) {
  if (const auto* reflections = std::get_if<RoundedReflections<Interval>>(&matrix)) {
    std::uint64_t work = n;
    for (const auto& factor : reflections->factors) work += n + 2 * factor.entries.size();
    return work;
  }
  if (const auto* blocks = std::get_if<RoundedBlocks<Interval>>(&matrix))
    return std::max<std::uint64_t>(2 * n, blocks->entries.size());
  return std::holds_alternative<SparseTerms>(matrix) ? n * n : 2 * n;
}

/// No entry overflows when it is rounded.
bool is_storable(const Eigen::MatrixXd& entries, const RoundedOperations& rounding) {
  return std::all_of(entries.data(), entries.data() + entries.size(),
                     [&](double entry) { return std::isfinite(rounding.round(entry)); });
}

class RoundedStepModel final : public StepModel {
 public:
  RoundedStepModel(const Layer& layer, ArithmeticName arithmetic, Form form)
      : rounding_(arithmetic), enclosed_(arithmetic), numbers_(layer, form, rounding_) {
    dimension_ = layer.dimension;
    columns_ = layer.columns;
    initial_ = rounded(layer.initial);
    for (const Transition& transition : layer.transitions) add(transition, form);
  }

  Eigen::MatrixXd rounded(const Eigen::MatrixXd& entries) const override {
    return entries.unaryExpr([&](double entry) { return rounding_.round(entry); });
  }

  IntervalMatrix exact_step(Action action, const Eigen::MatrixXd& c) const override {
    const IntervalMatrix from(c);
    IntervalMatrix to(dimension_, columns_);
    apply<Exact>(exact_[action], height(), width(), from.data(), to.data());
    if (additions_[action].rows() == 0) return to;
    for (std::size_t i = 0; i < size(); ++i) to.data()[i] = to.data()[i] + additions_[action].data()[i];
    return to;
  }

  Eigen::MatrixXd step(Action action, const Eigen::MatrixXd& state) const override {
    const Eigen::MatrixXd from = rounded(state);
    Eigen::MatrixXd next(state.rows(), state.cols());
    numbers_.move(action, from.data(), next.data());
    return next;
  }

  RoundingBound rounding(Action action, const Eigen::MatrixXd& c, std::span<const double> radii,
                         double radius) const override {
    std::vector<Enclosure> from(size()), to(size());
    for (std::size_t i = 0; i < size(); ++i) {
      const double centre = c(static_cast<Eigen::Index>(i));
      from[i] = {add_down(centre, -radii[i]), add_up(centre, radii[i]), 0};
    }
    RoundingBound bound;
    const std::vector<Stage>& stages = stages_[action];
    IntervalMatrix centre;
    if (stages.size() > 1) centre = IntervalMatrix(c);
    for (std::size_t j = 0; j < stages.size(); ++j) {
      apply(stages[j].matrix, height(), width(), from.data(), to.data(), enclosed_);
      if (j + 1 == stages.size()) break;
      bound.earlier = multiply_up(bound.earlier, stages[j].norm);
      radius = add_up(multiply_up(radius, stages[j].norm), norm_of_errors(to));
      bound.earlier = add_up(bound.earlier, norm_of_errors(to));
      centre = exact_stage(stages[j], centre);
      narrow(to, centre, radius);
      std::swap(from, to);
    }
    if (stages.size() > 1) bound.earlier = multiply_up(bound.earlier, stages.back().norm);
    add_and_store(action, to, bound.entries);
    return bound;
  }

  std::uint64_t work(Action action) const override { return columns_ * work_of(exact_[action], dimension_); }

 private:
  struct Stage {
    RoundedMatrix<Enclosure> matrix;
    RoundedMatrix<Interval> exact;
    double norm;
  };

  std::size_t size() const { return dimension_ * columns_; }
  std::uint32_t height() const { return static_cast<std::uint32_t>(dimension_); }
  std::uint32_t width() const { return static_cast<std::uint32_t>(columns_); }

  void add(const Transition& transition, Form form) {
    exact_.push_back(interval_weights(transition, form, rounding_));
    add_matrix();
    additions_.push_back(transition.b.size() > 0 ? IntervalMatrix(rounded(transition.b)) : IntervalMatrix());
    const auto exact_stages = stages_of(exact_.back());
    const auto stages = stages_of(enclosed_weights(transition, form, rounding_));
    std::vector<Stage>& all = stages_.emplace_back();
    for (std::size_t j = 0; j < stages.size(); ++j)
      all.push_back(
          {stages[j], exact_stages[j], stages.size() == 1 ? norms_.back() : std::visit(NormByForm{}, exact_stages[j])});
  }

  void add_matrix() {
    IntervalMatrix identity(dimension_, dimension_), matrix(dimension_, dimension_);
    for (std::size_t i = 0; i < dimension_; ++i) identity(i, i) = Interval(1);
    apply<Exact>(exact_.back(), height(), height(), identity.data(), matrix.data());
    const double by_form = std::visit(NormByForm{}, exact_.back());
    norms_.push_back(std::isfinite(by_form) ? by_form : spectral_norm_bound(matrix));
    matrices_.push_back(std::move(matrix));
  }

  static double norm_of_errors(const std::vector<Enclosure>& to) {
    double sum = 0;
    for (const Enclosure& entry : to) sum = add_up(sum, multiply_up(entry.error, entry.error));
    return root_up(sum);
  }

  IntervalMatrix exact_stage(const Stage& stage, const IntervalMatrix& from) const {
    IntervalMatrix to(dimension_, columns_);
    apply<Exact>(stage.exact, height(), width(), from.data(), to.data());
    return to;
  }

  /// The next stage starts from what this one computed: no error yet, in the ball and in the box.
  static void narrow(std::vector<Enclosure>& to, const IntervalMatrix& centre, double radius) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Interval ball = centre.data()[i] + Interval::between(-radius, radius);
      to[i] = {std::max(ball.lower(), to[i].lower), std::min(ball.upper(), to[i].upper), 0};
    }
  }

  void add_and_store(Action action, std::vector<Enclosure>& to, std::vector<double>& errors) const {
    const std::span<const double> addition = numbers_.addition(action);
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (!addition.empty()) to[i] = enclosed_.add(to[i], Enclosure(addition[i]));
      errors.push_back(enclosed_.store(to[i]).error);
    }
  }

  RoundedOperations rounding_;
  Enclosed enclosed_;
  RoundedLayer<RoundedOperations> numbers_;
  std::vector<RoundedMatrix<Interval>> exact_;
  std::vector<std::vector<Stage>> stages_;
};

}  // namespace

std::unique_ptr<StepModel> make_step_model(const Layer& layer, ArithmeticName arithmetic, Form form) {
  if (static_cast<double>(layer.transitions.size()) * layer.dimension * layer.dimension > kMaxEntries) return nullptr;
  const RoundedOperations rounding(arithmetic);
  if (!is_storable(layer.initial, rounding)) return nullptr;
  for (const Transition& transition : layer.transitions)
    if (!is_storable(transition.b, rounding)) return nullptr;
  return std::make_unique<RoundedStepModel>(layer, arithmetic, form);
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Enclosure kOverflowed{-kInfinity, kInfinity, kInfinity};

/// The result of one operation of double arithmetic, moved past the exact one: it is off by at most 2^−53 of itself, or
/// by half of the least double.
double up(double nearest) { return nearest + std::fabs(nearest) * 0x1p-52 + std::numeric_limits<double>::denorm_min(); }
double down(double nearest) { return -up(-nearest); }

double magnitude(const Enclosure& x) { return std::max(std::fabs(x.lower), std::fabs(x.upper)); }
bool is_one_number(const Enclosure& x) { return x.lower == x.upper; }
bool is_zero(const Enclosure& x) { return x.lower == 0 && x.upper == 0; }
bool overflowed(const Enclosure& x) { return !(x.error < kInfinity); }

/// 2^exponent, or the least double above it.
double power_of_two(int exponent) {
  if (exponent >= -1022) return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  return std::max(std::ldexp(1.0, exponent), std::numeric_limits<double>::denorm_min());
}

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::fabs(std::frexp(value, &exponent)) == 0.5;
}

/// The real values in [lower, upper], widened by one rounding, which adds to the error that they already have.
Enclosure rounded(double lower, double upper, double error, double rounding) {
  if (!(rounding < kInfinity) || !(error < kInfinity)) return kOverflowed;
  return {down(lower - rounding), up(upper + rounding), up(error + rounding)};
}

struct Range {
  double lower, upper;
  double magnitude() const { return std::max(std::fabs(lower), std::fabs(upper)); }
};

Range product_of(const Enclosure& a, const Enclosure& b) {
  const double ends[] = {a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper};
  const auto [least, greatest] = std::minmax_element(std::begin(ends), std::end(ends));
  return {down(*least), up(*greatest)};
}

/// |âb̂ − ab| ≤ |â|·|b̂ − b| + |b|·|â − a|, and |b| ≤ |b̂| + |b̂ − b|.
double product_error(const Enclosure& a, const Enclosure& b) {
  if (a.error == 0 && b.error == 0) return 0;
  return up(up(magnitude(a) * b.error) + up(up(magnitude(b) + b.error) * a.error));
}

/// The rounding of a product; by a power of two, only of the places that fall off below.
double rounding_of_product(const RoundedFormat& format, const Enclosure& a, const Enclosure& b, const Range& product) {
  const double rounding = format.error_up_to(product.magnitude());
  if (!(rounding < kInfinity)) return rounding;
  for (const Enclosure* factor : {&a, &b})
    if (is_one_number(*factor) && is_power_of_two(factor->lower))
      return std::fabs(factor->lower) >= 1 ? 0 : std::min(rounding, format.underflow_error());
  return rounding;
}

}  // namespace

double RoundedFormat::underflow_error() const { return power_of_two(least_exponent - digits); }

double RoundedFormat::error_up_to(double magnitude) const {
  if (magnitude == 0) return 0;
  if (!(magnitude < power_of_two(greatest_exponent))) return kInfinity;
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  // |value| < 2^exponent. Up to a power of two, that number's own neighbours above do not matter.
  int exponent = static_cast<int>(bits >> 52) - 1022;
  if ((bits << 12) == 0) --exponent;
  return power_of_two(std::max(exponent, least_exponent + 1) - digits - 1);
}

Enclosure round_to(const RoundedFormat& format, const Enclosure& exact) {
  if (overflowed(exact) || is_zero(exact)) return exact;
  return rounded(exact.lower, exact.upper, exact.error, format.error_up_to(magnitude(exact)));
}

Enclosure round_product(const RoundedFormat& format, const Enclosure& a, const Enclosure& b) {
  if (overflowed(a) || overflowed(b)) return kOverflowed;
  if (is_zero(a) || is_zero(b)) return {0, 0, product_error(a, b)};
  const Range product = product_of(a, b);
  return rounded(product.lower, product.upper, product_error(a, b), rounding_of_product(format, a, b, product));
}

Enclosure round_sum(const RoundedFormat& format, const Enclosure& a, const Enclosure& b) {
  if (overflowed(a) || overflowed(b)) return kOverflowed;
  const double error = up(a.error + b.error);
  if (is_zero(a)) return {b.lower, b.upper, error};
  if (is_zero(b)) return {a.lower, a.upper, error};
  const Range sum{down(a.lower + b.lower), up(a.upper + b.upper)};
  return rounded(sum.lower, sum.upper, error, format.error_up_to(sum.magnitude()));
}

Enclosure round_fused(const RoundedFormat& format, const Enclosure& accumulator, const Enclosure& a,
                      const Enclosure& b) {
  if (overflowed(accumulator) || overflowed(a) || overflowed(b)) return kOverflowed;
  const double error = up(accumulator.error + product_error(a, b));
  if (is_zero(a) || is_zero(b)) return {accumulator.lower, accumulator.upper, error};
  const Range product = product_of(a, b);
  const Range sum{down(accumulator.lower + product.lower), up(accumulator.upper + product.upper)};
  return rounded(sum.lower, sum.upper, error, format.error_up_to(sum.magnitude()));
}

namespace {

/// Words that are followed to find the averages: this many letters for every state of the machine.
constexpr std::uint64_t kLettersPerState = 64;
constexpr double kMaxFollowed = 1e6;

CentreLayer empty_layer(const Layer& layer) {
  CentreLayer centre;
  centre.labels = wired_layer(layer, centre.moves);
  return centre;
}

/// Grows the codeword machine of one layer; the trap is numbered last.
class CodewordLayer {
 public:
  CodewordLayer(const Layer& layer, const StepModel& model, const MachineLimits& limits)
      : layer_(layer), model_(model), limits_(limits), centre_(empty_layer(layer)) {}

  std::optional<CentreLayer> build() {
    add_start();
    for (Label state = 0; state < centre_.centres.size(); ++state) {
      if (centre_.centres.size() * centre_.moves.size() > limits_.max_tuples ||
          centre_.centres.size() > limits_.max_states || distances() > limits_.max_distances)
        return std::nullopt;
      if (limits_.tick) limits_.tick();
      const Eigen::MatrixXd from = model_.rounded(centre_.centres[state]);
      for (std::size_t move = 0; move < centre_.moves.size(); ++move)
        centre_.labels.moves[move].push_back(follow(from, centre_.moves[move]));
    }
    add_trap();
    return std::move(centre_);
  }

 private:
  static constexpr Label kTrap = UINT32_MAX - 1;

  double distances() const {
    return static_cast<double>(centre_.centres.size() * centre_.moves.size()) *
           static_cast<double>(codeword_count(layer_) * model_.dimension() * model_.columns());
  }

  void add_start() {
    for (std::uint32_t book = 0; book < books_of(layer_); ++book) {
      const NearestInBook near = nearest_in_book(layer_, book, layer_.initial);
      if (near.codeword == SIZE_MAX || codeword_label(layer_, near.codeword) != layer_.initial_label) continue;
      if (near.distance >= near.runner_up / 4) continue;  // at half of the margin at most
      number_of(near.codeword);
      return;
    }
    centre_.centres.push_back(model_.initial());
    centre_.labels.shown.push_back(layer_.initial_label);
  }

  Label follow(const Eigen::MatrixXd& from, const std::pair<Action, std::uint32_t>& move) {
    const Eigen::MatrixXd reached = model_.step(move.first, from);
    if (!reached.allFinite()) return kTrap;
    const NearestInBook near = nearest_in_book(layer_, move.second, reached);
    if (near.codeword == SIZE_MAX || near.distance >= near.runner_up / 4) return kTrap;
    return number_of(near.codeword);
  }

  Label number_of(std::size_t codeword_number) {
    const auto [found, fresh] = numbers_.try_emplace(codeword_number, static_cast<Label>(centre_.centres.size()));
    if (fresh) {
      centre_.centres.push_back(codeword(layer_, codeword_number));
      centre_.labels.shown.push_back(codeword_label(layer_, codeword_number));
    }
    return found->second;
  }

  void add_trap() {
    const auto trap = static_cast<Label>(centre_.centres.size());
    centre_.labels.states = trap + 1;
    centre_.labels.shown.push_back(kNoLabel);
    for (std::vector<Label>& targets : centre_.labels.moves) {
      std::replace(targets.begin(), targets.end(), kTrap, trap);
      targets.push_back(trap);
    }
  }

  const Layer& layer_;
  const StepModel& model_;
  const MachineLimits& limits_;
  CentreLayer centre_;
  std::unordered_map<std::size_t, Label> numbers_;
};

/// The edges that are in use, given as a flag per move · states + state; all but those to the trap when empty.
void take_edges(CentreLayer& layer, const std::vector<bool>& used) {
  layer.edges.clear();
  const auto trap = static_cast<Label>(layer.centres.size());
  for (std::size_t move = 0; move < layer.moves.size(); ++move)
    for (Label from = 0; from < layer.centres.size(); ++from) {
      const Label to = layer.labels.moves[move][from];
      if (to != trap && (used.empty() || used[move * layer.labels.states + from]))
        layer.edges.push_back({from, to, layer.moves[move].first, layer.moves[move].second});
    }
  std::sort(layer.edges.begin(), layer.edges.end());
  layer.edges.erase(std::unique(layer.edges.begin(), layer.edges.end()), layer.edges.end());
}

/// The label machine, which notes the moves that words make of the states: a flag per move · states + state.
class NotedLabels final : public LabelReader {
 public:
  NotedLabels(const LabelMachine& machine, Letter letters) : LabelReader(machine, letters), machine_(machine) {
    for (const LabelLayer& layer : machine.layers) used_.emplace_back(layer.moves.size() * layer.states, false);
  }

  const std::vector<std::vector<bool>>& used() const { return used_; }

  Answer step(Letter letter, Memory& memory, bool asked) const override {
    Context context = letter;
    for (std::size_t k = 0; k < machine_.layers.size() && context != kNoContext; ++k) {
      const LabelLayer& layer = machine_.layers[k];
      used_[k][std::size_t{layer.move_of[context]} * layer.states + memory[k]] = true;
      if (k + 1 == machine_.layers.size()) break;
      const Label pre = layer.shown[memory[k]];
      context = pre == kNoLabel ? kNoContext : layer.next[std::size_t{context} * layer.labels + pre];
    }
    return LabelReader::step(letter, memory, asked);
  }

 private:
  const LabelMachine& machine_;
  mutable std::vector<std::vector<bool>> used_;
};

/// By search, or, where the tuples are too many, by induction over the wiring with every edge in use.
bool prove_labels(const Network& network, CentreMachine& machine, const MachineLimits& limits) {
  LabelMachine labels;
  for (const CentreLayer& layer : machine.layers) labels.layers.push_back(layer.labels);
  labels.readout = network.readout.next;
  PairLimits most;
  most.max_pairs = limits.max_tuples;
  most.ends_levels = false;
  const NotedLabels noted(labels, network.automaton.letters());
  const PairSearchEnd end = reach_pairs(noted, every_state(network.automaton), most);
  const bool has_ended = end.kind != PairSearchEnd::Kind::kLimit;  // the induction need not walk the tuples
  for (std::size_t k = 0; k < machine.layers.size(); ++k)
    take_edges(machine.layers[k], has_ended ? noted.used()[k] : std::vector<bool>());
  if (has_ended) {
    machine.emulation = fmt::format("on all {} reachable tuples of centres", end.pairs);
    return end.kind == PairSearchEnd::Kind::kClosed;
  }
  try {
    const EmulationResult induction = prove_emulation(labels, network.automaton);
    machine.emulation =
        fmt::format("by induction over {} of context and readout nodes", counted(induction.checked, "triple"));
    return induction.holds;
  } catch (const LimitError&) {
    return false;
  }
}

/// The machine of (state, book, last letters) of a network of one layer.
class AutomatonLayer {
 public:
  AutomatonLayer(const Network& network, const StepModel& model, std::uint32_t memory, const MachineLimits& limits)
      : dfa_(network.automaton),
        layer_(network.layers[0]),
        readout_(network.readout.next[0]),
        model_(model),
        memory_(memory),
        limits_(limits),
        centre_(empty_layer(layer_)) {}

  std::optional<CentreLayer> build() {
    add({dfa_.initial(), 0, {}});
    for (Label state = 0; state < states_.size(); ++state) {
      if (states_.size() > limits_.max_states || states_.size() * dfa_.letters() > limits_.max_tuples)
        return std::nullopt;
      for (std::size_t move = 0; move < centre_.moves.size(); ++move) centre_.labels.moves[move].push_back(0);
      for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
        const std::uint32_t move = centre_.labels.move_of[letter];
        // Letters of one move have one target: the network cannot tell them apart, and the labels are proved later.
        centre_.labels.moves[move][state] = add(after(states_[state], letter, move));
      }
    }
    average();
    return show_labels() ? std::optional(std::move(centre_)) : std::nullopt;
  }

 private:
  struct Place {
    State state;
    std::uint32_t book;
    std::vector<std::uint32_t> last;  ///< moves
    auto operator<=>(const Place&) const = default;
  };

  Place after(const Place& place, Letter letter, std::uint32_t move) const {
    Place next{dfa_.next(place.state, letter), centre_.moves[move].second, place.last};
    next.last.push_back(move);
    if (next.last.size() > memory_) next.last.erase(next.last.begin());
    return next;
  }

  Label add(const Place& place) {
    const auto [found, fresh] = numbers_.try_emplace(place, static_cast<Label>(states_.size()));
    if (fresh) states_.push_back(place);
    return found->second;
  }

  /// Words of twice as many letters as there are states, again and again, from H_0.
  void average() {
    const auto count = static_cast<Label>(states_.size());
    const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(layer_.dimension, layer_.columns);
    centre_.centres.assign(count, zero);
    std::vector<std::uint64_t> visits(count, 0);
    std::mt19937_64 random(1);
    const std::uint64_t length = 2 * std::uint64_t{count} + 8;
    for (std::uint64_t read = 0; read < kLettersPerState * count + 256; read += length) {
      if (limits_.tick) limits_.tick();
      follow_word(random, length, visits);
    }
    for (Label state = 0; state < count; ++state)
      if (visits[state] > 0)
        centre_.centres[state] /= static_cast<double>(visits[state]);
      else
        centre_.centres[state] = guess(state);
  }

  void follow_word(std::mt19937_64& random, std::uint64_t length, std::vector<std::uint64_t>& visits) {
    Eigen::MatrixXd numbers = model_.initial();
    Label state = 0;
    for (std::uint64_t t = 0;; ++t) {
      centre_.centres[state] += numbers;
      ++visits[state];
      if (t == length) return;
      const std::uint32_t move = centre_.labels.move_of[random() % dfa_.letters()];
      numbers = model_.step(centre_.moves[move].first, numbers);
      if (!numbers.allFinite() || numbers.norm() > kMaxFollowed) return;
      state = centre_.labels.moves[move][state];
    }
  }

  /// For a state that no word came to: one step from a state before it.
  Eigen::MatrixXd guess(Label state) const {
    for (std::size_t move = 0; move < centre_.moves.size(); ++move)
      for (Label from = 0; from < state; ++from)
        if (centre_.labels.moves[move][from] == state && centre_.centres[from].allFinite())
          return middle(model_.exact_step(centre_.moves[move].first, centre_.centres[from]));
    return model_.initial();
  }

  /// The label of the nearest codeword, which has to give the state.
  bool show_labels() {
    centre_.labels.states = static_cast<Label>(states_.size());
    for (Label state = 0; state < states_.size(); ++state) {
      const bool start = state == 0;
      const NearestInBook near = nearest_in_book(layer_, states_[state].book, centre_.centres[state]);
      if (near.codeword == SIZE_MAX || !centre_.centres[state].allFinite()) return false;
      const Label label = codeword_label(layer_, near.codeword);
      if (readout_[label] != states_[state].state) return false;
      if (start && readout_[layer_.initial_label] != states_[state].state) return false;
      centre_.labels.shown.push_back(label);
    }
    return true;
  }

  const Dfa& dfa_;
  const Layer& layer_;
  const std::vector<Context>& readout_;
  const StepModel& model_;
  std::uint32_t memory_;
  const MachineLimits& limits_;
  CentreLayer centre_;
  std::vector<Place> states_;
  std::map<Place, Label> numbers_;
};

}  // namespace

NearestInBook nearest_in_book(const Layer& layer, std::uint32_t book, const Eigen::MatrixXd& point) {
  NearestInBook near;
  near.distance = near.runner_up = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < codeword_count(layer); ++i) {
    if (codeword_book(layer, i) != book) continue;
    const double distance = layer.decoder.unit_copies > 0 ? (point - codeword(layer, i)).squaredNorm()
                                                          : (point - layer.decoder.codewords[i]).squaredNorm();
    if (distance < near.distance) {
      near.runner_up = near.distance;
      near.distance = distance;
      near.codeword = i;
    } else {
      near.runner_up = std::min(near.runner_up, distance);
    }
  }
  return near;
}

std::optional<CentreMachine> codeword_machine(const Network& network, StepModels models, const MachineLimits& limits) {
  CentreMachine machine;
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    std::optional<CentreLayer> layer = CodewordLayer(network.layers[k], *models[k], limits).build();
    if (!layer) return std::nullopt;
    machine.layers.push_back(*std::move(layer));
  }
  if (!prove_labels(network, machine, limits)) return std::nullopt;
  return machine;
}

std::optional<CentreMachine> automaton_machine(const Network& network, StepModels models, std::uint32_t memory,
                                               const MachineLimits& limits) {
  if (network.layers.size() != 1) return std::nullopt;
  std::optional<CentreLayer> layer = AutomatonLayer(network, *models[0], memory, limits).build();
  if (!layer) return std::nullopt;
  CentreMachine machine;
  machine.layers.push_back(*std::move(layer));
  if (!prove_labels(network, machine, limits)) return std::nullopt;
  return machine;
}

}  // namespace krohn
