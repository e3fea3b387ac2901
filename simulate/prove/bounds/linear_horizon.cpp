#include "krohn/simulate/prove/bounds/bounds.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/prove/claims/closed_layer.h"

namespace krohn {
namespace {

/// The most products in one entry of A x; nothing for forms that are not sums of products.
std::optional<std::size_t> products_of(const Matrix& matrix, Form form) {
  if (form == Form::kDense) return dimension(matrix);
  if (std::holds_alternative<RotationBlocks>(matrix)) return 2;
  if (std::holds_alternative<DiagonalMatrix>(matrix)) return 1;
  if (std::holds_alternative<DenseMatrix>(matrix)) return dimension(matrix);
  const auto* blocks = std::get_if<BlockDiagonalMatrix>(&matrix);
  if (blocks == nullptr) return std::nullopt;
  Eigen::Index most = 0;
  for (const Eigen::MatrixXd& block : blocks->blocks) most = std::max(most, block.rows());
  return static_cast<std::size_t>(most);
}

const ReflectionProduct* reflections_of(const Matrix& matrix, Form form) {
  return form == Form::kDense ? nullptr : std::get_if<ReflectionProduct>(&matrix);
}

/// The factor of every bound: the roundings of the bounds themselves, which are in double.
constexpr double kOutward = 1 + 1e-12;

/// Distances of codewords whose squares are far from underflow and overflow in double.
constexpr double kLeastDistance = 0x1p-300, kMaxDistance = 0x1p300;

/// The format that is rounded to: half a unit of its last place at 1, its least number, and one below which nothing
/// overflows.
struct Unit {
  double relative = 0, absolute = 0, greatest = 0;
  /// The greatest relative change by `roundings` roundings one after another.
  double gamma(double roundings) const {
    const double lost = roundings * relative;
    return lost < 0.5 ? lost / (1 - lost) * kOutward : INFINITY;
  }
};

/// The loss of one step's sums: `relative` times the sum of absolute values, and `absolute` by underflow.
struct RoundedSums {
  double relative = 0, absolute = 0;
};

/// Reflections in a row: a column of norm x becomes one of at most (1 + `growth`) x + `absolute`, which differs from
/// the exact one by at most `lost` · x + `absolute`. No number on the way is above `greatest` · (x + 1).
struct Reflected {
  double growth = 0, lost = 0, absolute = 0, greatest = 1;
};

double norm_squared(const Reflection& factor) {
  if (factor.entries.empty()) return 1;
  double square = 0;
  for (const auto& entry : factor.entries) square += static_cast<double>(entry.value) * entry.value;
  return square * static_cast<double>(factor.scale_squared_numerator) /
         static_cast<double>(factor.scale_squared_denominator);
}

Reflected reflect(const ReflectionProduct& product, Unit unit) {
  // The stored key and β are within a unit of those of the factor, and these numbers within a few of double's.
  const double slack = 4 * unit.relative + 0x1p-49;
  Reflected all;
  double exact = 1;
  for (const Reflection& factor : product.factors) {
    const double square = norm_squared(factor), beta = std::abs(factor.beta) * (1 + slack);
    const double norm = std::sqrt(square) * (1 + slack), scaled = beta * square * (1 + slack);
    const auto size = static_cast<double>(factor.entries.empty() ? 2 : factor.entries.size());
    const double widest = 4 * (1 + norm) * (1 + norm) * (1 + beta);  // of the dot product, of β times it, of the step
    all.greatest = std::max(all.greatest, (1 + all.growth + all.absolute) * widest * kOutward);
    const double over = std::max(0.0, std::abs(1 - factor.beta * square) - 1 + slack * scaled) * kOutward;
    const double lost = (unit.gamma(1) + unit.gamma(size + 3) * scaled) * kOutward, more = (over + lost) * kOutward;
    all.lost = (all.lost * (1 + more) + lost * exact) * kOutward;
    exact *= (1 + over) * kOutward;
    all.growth = (all.growth + more + all.growth * more) * kOutward;
    all.absolute = (all.absolute * (1 + more) + 4 * (size + 1) * (1 + norm) * (1 + beta) * unit.absolute) * kOutward;
  }
  return all;
}

class Search {
 public:
  Search(const Network& network, const StepModel& model, Form form, Unit unit, RoundedSums rounding)
      : network_(network), layer_(network.layers[0]), model_(model), form_(form), unit_(unit), rounding_(rounding) {}

  std::optional<LinearHorizon> find() {
    if (!make_table() || !tracks_automaton()) return std::nullopt;
    const double distance = least_distance();
    // The decoder's squares neither underflow nor overflow, nor have those above.
    if (!(distance > kLeastDistance && distance < kMaxDistance)) return std::nullopt;
    const double radius = distance / 2 * (1 - 0x1p-20) * (1 - 1e-12);
    const double start = frobenius_norm_bound(IntervalMatrix(model_.initial()) - IntervalMatrix(centre(0)));
    double error = 0, growth = 0;
    for (std::size_t m = 0; m < table_.moves.size(); ++m) {
      const Action action = table_.moves[m].action;
      const auto* reflections = reflections_of(layer_.transitions[action].a, form_);
      const Reflected reflected = reflections != nullptr ? reflect(*reflections, unit_) : Reflected{};
      growth = std::max(growth, reflections != nullptr ? reflected.growth : growth_of(action));
      for (std::size_t i = 0; i < table_.codewords.size(); ++i)
        error = std::max(error, reflections != nullptr ? reflection_error(reflected, action, i, m, radius)
                                                       : step_error(action, i, m, radius));
    }
    if (!(radius > start) || !std::isfinite(error) || !std::isfinite(growth)) return std::nullopt;
    const double length = (radius - start) / (error + radius * growth) * (1 - 1e-9);
    // Nothing rounds or grows: then the codewords are closed, which is another certificate's claim.
    if (!(length >= 1) || !(length < 0x1p60)) return std::nullopt;
    return LinearHorizon{table_, static_cast<std::uint64_t>(length)};
  }

 private:
  Eigen::MatrixXd centre(std::size_t i) const { return codeword(layer_, table_.codewords[i]); }

  static IntervalMatrix identity(std::size_t n) {
    return IntervalMatrix(Eigen::MatrixXd::Identity(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n)));
  }

  bool make_table() {
    for (std::size_t i = 0; i < codeword_count(layer_) && table_.codewords.empty(); ++i)
      if (nearest_in_book(layer_, codeword_book(layer_, i), layer_.initial).codeword == i &&
          codeword_label(layer_, i) == layer_.initial_label)
        table_.codewords.push_back(static_cast<std::uint32_t>(i));
    if (table_.codewords.empty()) return false;
    std::vector<LayerMove> moves;
    labels_ = wired_layer(layer_, moves);
    for (const auto& [action, book] : moves) table_.moves.push_back({action, book});
    table_.next.resize(table_.moves.size());
    std::map<std::uint32_t, std::uint32_t> index{{table_.codewords[0], 0}};
    for (std::size_t i = 0; i < table_.codewords.size(); ++i)
      for (std::size_t m = 0; m < table_.moves.size(); ++m) {
        const NearestInBook near =
            nearest_in_book(layer_, table_.moves[m].book, model_.step(table_.moves[m].action, centre(i)));
        if (near.codeword == SIZE_MAX) return false;
        const auto to = static_cast<std::uint32_t>(near.codeword);
        const auto [known, fresh] = index.try_emplace(to, static_cast<std::uint32_t>(table_.codewords.size()));
        if (fresh) table_.codewords.push_back(to);
        table_.next[m].push_back(known->second);
      }
    return true;
  }

  bool tracks_automaton() {
    labels_.states = static_cast<Label>(table_.codewords.size());
    labels_.moves = table_.next;
    for (const std::uint32_t i : table_.codewords) labels_.shown.push_back(codeword_label(layer_, i));
    return explore_emulation({{labels_}, network_.readout.next}, network_.automaton).holds;
  }

  double least_distance() const {
    double least = INFINITY;
    for (std::size_t i = 0; i < codeword_count(layer_); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (codeword_book(layer_, i) == codeword_book(layer_, j))
          least = std::min(least, (codeword(layer_, i) - codeword(layer_, j)).norm());
    return std::isfinite(least) ? least : 0;
  }

  double growth_of(Action action) const {
    const IntervalMatrix& a = model_.matrix(action);
    const double off = frobenius_norm_bound(transpose(a) * a - identity(a.rows()));
    return (off / 2 + rounding_.relative * frobenius_norm_bound(a)) * kOutward;
  }

  /// ‖A c_i + B − c_j‖.
  double offset(Action action, std::size_t i, std::size_t move) const {
    return frobenius_norm_bound(model_.exact_step(action, centre(i)) - IntervalMatrix(centre(table_.next[move][i])));
  }

  double reflection_error(const Reflected& reflected, Action action, std::size_t i, std::size_t move,
                          double radius) const {
    if (!(reflected.greatest * (centre(i).norm() + radius + 1) * kOutward < unit_.greatest)) return INFINITY;
    return (offset(action, i, move) + reflected.lost * centre(i).norm() + layer_.columns * reflected.absolute) *
           kOutward;
  }

  /// Infinite when a number may overflow on the way from a state within the radius.
  double step_error(Action action, std::size_t i, std::size_t move, double radius) const {
    const IntervalMatrix c(centre(i));
    const IntervalMatrix& a = model_.matrix(action);
    double squares = 0;
    for (std::size_t row = 0; row < a.rows(); ++row)
      for (std::size_t column = 0; column < c.columns(); ++column) {
        double sum = model_.addition(action).rows() == 0 ? 0 : model_.addition(action)(row, column).magnitude();
        double weights = 0;
        for (std::size_t k = 0; k < a.columns(); ++k) {
          sum += a(row, k).magnitude() * c(k, column).magnitude();
          weights += a(row, k).magnitude();
        }
        if (!((sum + weights * radius) * (1 + rounding_.relative) * kOutward < unit_.greatest)) return INFINITY;
        squares += sum * sum;
      }
    return (offset(action, i, move) + rounding_.relative * std::sqrt(squares) + rounding_.absolute) * kOutward;
  }

  const Network& network_;
  const Layer& layer_;
  const StepModel& model_;
  Form form_;
  Unit unit_;
  RoundedSums rounding_;
  ClosedTable table_;
  LabelLayer labels_;
};

}  // namespace

std::optional<LinearHorizon> linear_horizon(const Network& network, ArithmeticName arithmetic, Form form) {
  const bool rounds_to_one_format =
      arithmetic.kind() == ArithmeticName::Kind::kSeparate || arithmetic.kind() == ArithmeticName::Kind::kFused;
  if (network.layers.size() != 1 || network.snap_every > 0 || !rounds_to_one_format) return std::nullopt;
  const Layer& layer = network.layers[0];
  std::size_t products = 0;
  for (const Transition& transition : layer.transitions) {
    if (reflections_of(transition.a, form) != nullptr && transition.b.size() == 0) continue;
    const auto own = products_of(transition.a, form);
    if (!own) return std::nullopt;
    products = std::max(products, *own + (transition.b.size() > 0 ? 1 : 0));
  }
  const auto model = make_step_model(layer, arithmetic, form);
  if (!model) return std::nullopt;
  const Unit unit = with_format(arithmetic.storage(), [](auto format) {
    using F = decltype(format);
    return Unit{F::unit_roundoff, std::ldexp(1.0, F::least_exponent - F::digits + 1),
                std::ldexp(1.0, F::greatest_exponent)};
  });
  const RoundedSums rounding{unit.gamma(static_cast<double>(products)),
                             static_cast<double>(products) * layer.dimension * layer.columns * unit.absolute};
  if (!(rounding.relative < 1)) return std::nullopt;
  return Search(network, *model, form, unit, rounding).find();
}

}  // namespace krohn
