#include "krohn/simulate/prove/bounds/bounds_step.h"

#include <utility>

#include "krohn/simulate/arithmetic/apply.h"
#include "krohn/simulate/arithmetic/rounded_matrix.h"
#include "krohn/simulate/prove/bounds/bounds_enclosure.h"

namespace krohn {
namespace {

constexpr double kMostEntries = 4e6;

/// A weight that overflowed when it was rounded makes every bound infinite.
Interval lift(double number, const Interval*) {
  return std::isfinite(number) ? Interval(number) : Interval::between(-directed::kInfinity, directed::kInfinity);
}
Enclosure lift(double number, const Enclosure*) {
  return std::isfinite(number) ? Enclosure(number) : Enclosure(number, number, directed::kInfinity);
}

/// The matrix with its numbers as points of another number type.
template <class Target>
struct Lift {
  template <class Number>
  Target operator()(Number number) const {
    return lift(to_double(number), static_cast<const Target*>(nullptr));
  }
  template <class Number>
  std::vector<Target> operator()(const std::vector<Number>& numbers) const {
    std::vector<Target> lifted;
    for (const Number& number : numbers) lifted.push_back((*this)(number));
    return lifted;
  }

  RoundedMatrix<Target> form(const Gather& a) const { return a; }
  RoundedMatrix<Target> form(const SignedGather& a) const { return a; }
  RoundedMatrix<Target> form(const RoundedZero& a) const { return a; }
  RoundedMatrix<Target> form(const SparseTerms& a) const { return a; }
  template <class Number>
  RoundedMatrix<Target> form(const RoundedReflections<Number>& a) const {
    RoundedReflections<Target> lifted{a.dimension, {}};
    for (const auto& factor : a.factors) {
      auto& to = lifted.factors.emplace_back();
      to.beta = (*this)(factor.beta);
      for (const auto& entry : factor.entries) to.entries.push_back({entry.position, (*this)(entry.key)});
    }
    return lifted;
  }
  template <class Number>
  RoundedMatrix<Target> form(const RoundedBlocks<Number>& a) const {
    RoundedBlocks<Target> lifted;
    for (const auto& block : a.blocks)
      lifted.blocks.push_back({block.position, block.is_sign, block.negative, (*this)(block.cosine),
                               (*this)(block.sine), (*this)(block.minus_sine)});
    return lifted;
  }
  template <class Number>
  RoundedMatrix<Target> form(const RoundedDiagonal<Number>& a) const {
    return RoundedDiagonal<Target>{(*this)(a.values)};
  }
  template <class Number>
  RoundedDense<Target> dense(const RoundedDense<Number>& a) const {
    return {a.dimension, (*this)(a.rows)};
  }
  template <class Number>
  RoundedMatrix<Target> form(const RoundedDense<Number>& a) const {
    return dense(a);
  }
  template <class Number>
  RoundedMatrix<Target> form(const RoundedBlockDiagonal<Number>& a) const {
    RoundedBlockDiagonal<Target> lifted;
    for (const auto& block : a.blocks) lifted.blocks.push_back(dense(block));
    return lifted;
  }
  template <class Number>
  RoundedMatrix<Target> matrix(const RoundedMatrix<Number>& a) const {
    return std::visit([&](const auto& form_of_a) { return form(form_of_a); }, a);
  }
};

/// ‖A‖₂ by its form; infinite where the form says nothing.
struct NormByForm {
  double operator()(const Gather& a) const {
    std::uint32_t most = 0;
    for (std::size_t i = 0; i + 1 < a.first.size(); ++i) most = std::max(most, a.first[i + 1] - a.first[i]);
    return root_up(most);
  }
  double operator()(const SignedGather&) const { return 1; }
  double operator()(const RoundedZero&) const { return 0; }
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
    for (const auto& block : a.blocks)
      norm = std::max(norm, block.is_sign ? 1.0 : sqrt(square(block.cosine) + square(block.sine)).upper());
    return norm;
  }
  double operator()(const RoundedDiagonal<Interval>& a) const {
    double norm = 0;
    for (const Interval& value : a.values) norm = std::max(norm, value.magnitude());
    return norm;
  }
  double operator()(const RoundedDense<Interval>& a) const {
    IntervalMatrix matrix(a.dimension, a.dimension);
    for (std::size_t i = 0; i < a.dimension; ++i)
      for (std::size_t j = 0; j < a.dimension; ++j) matrix(i, j) = a.rows[i * a.dimension + j];
    return spectral_norm_bound(matrix);
  }
  double operator()(const RoundedBlockDiagonal<Interval>& a) const {
    double norm = 0;
    for (const auto& block : a.blocks) norm = std::max(norm, (*this)(block));
    return norm;
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
  const bool is_full = std::holds_alternative<RoundedDense<Interval>>(matrix) ||
                       std::holds_alternative<RoundedBlockDiagonal<Interval>>(matrix) ||
                       std::holds_alternative<SparseTerms>(matrix);
  return is_full ? n * n : 2 * n;
}

/// No entry overflows when it is rounded.
template <class A>
bool is_storable(const Eigen::MatrixXd& entries) {
  return std::all_of(entries.data(), entries.data() + entries.size(),
                     [](double entry) { return std::isfinite(to_double(round_weight<A>(entry))); });
}

template <class A>
class RoundedStepModel final : public StepModel {
 public:
  RoundedStepModel(const Layer& layer, Form form) {
    dimension_ = layer.dimension;
    columns_ = layer.columns;
    initial_ = rounded(layer.initial);
    for (const Transition& transition : layer.transitions) add(transition, form);
  }

  Eigen::MatrixXd rounded(const Eigen::MatrixXd& entries) const override {
    return entries.unaryExpr([](double entry) { return to_double(round_weight<A>(entry)); });
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
    std::vector<typename A::Sum> from, to(size());
    for (Eigen::Index i = 0; i < state.size(); ++i) from.push_back(A::load(round_weight<A>(state(i))));
    apply<A>(numbers_[action], height(), width(), from.data(), to.data());
    Eigen::MatrixXd next(state.rows(), state.cols());
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (!stored_additions_[action].empty()) to[i] = A::add(to[i], A::load(stored_additions_[action][i]));
      next(static_cast<Eigen::Index>(i)) = to_double(A::store(to[i]));
    }
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
      apply<Enclosed<A>>(stages[j].matrix, height(), width(), from.data(), to.data());
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
    numbers_.push_back(round_matrix<typename A::Format>(transition.a, form));
    exact_.push_back(Lift<Interval>{}.matrix(numbers_.back()));
    add_matrix();
    IntervalMatrix& addition = additions_.emplace_back();
    auto& stored = stored_additions_.emplace_back();
    for (Eigen::Index i = 0; i < transition.b.size(); ++i) stored.push_back(round_weight<A>(transition.b(i)));
    if (!stored.empty()) addition = IntervalMatrix(rounded(transition.b));
    const auto exact_stages = stages_of(exact_.back());
    const auto stages = stages_of(Lift<Enclosure>{}.matrix(numbers_.back()));
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
    const auto& addition = stored_additions_[action];
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (!addition.empty()) to[i] = Enclosed<A>::add(to[i], Enclosure(to_double(addition[i])));
      errors.push_back(Enclosed<A>::store(to[i]).error);
    }
  }

  std::vector<RoundedMatrix<typename A::Number>> numbers_;
  std::vector<std::vector<typename A::Number>> stored_additions_;
  std::vector<RoundedMatrix<Interval>> exact_;
  std::vector<std::vector<Stage>> stages_;
};

}  // namespace

std::unique_ptr<StepModel> make_step_model(const Layer& layer, ArithmeticName arithmetic, Form form) {
  if (static_cast<double>(layer.transitions.size()) * layer.dimension * layer.dimension > kMostEntries) return nullptr;
  return with_arithmetic(arithmetic, [&](auto a) -> std::unique_ptr<StepModel> {
    using Model = RoundedStepModel<decltype(a)>;
    if (!is_storable<decltype(a)>(layer.initial)) return nullptr;
    for (const Transition& transition : layer.transitions)
      if (!is_storable<decltype(a)>(transition.b)) return nullptr;
    return std::make_unique<Model>(layer, form);
  });
}

}  // namespace krohn
