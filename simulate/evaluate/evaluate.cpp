#include "krohn/simulate/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/rounded_matrix.h"
#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/exact_network.h"
#include "krohn/simulate/evaluate/layer_run.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {
namespace {

/// Two copies of the state, one read and one written, that change places at every letter.
template <class Arithmetic>
class RoundedEvaluator final : public Evaluator {
 public:
  using Number = typename Arithmetic::Number;

  explicit RoundedEvaluator(std::shared_ptr<const RoundedNetwork<Arithmetic>> network)
      : network_(std::move(network)),
        scratch_(network_->make_scratch()),
        now_(network_->size()),
        then_(network_->size()),
        labels_(network_->layers().size()),
        then_labels_(network_->layers().size()) {
    start();
  }

  void reset() override { start(); }
  void run(std::span<const Letter> letters, std::span<State> states) override {
    const FloatEnvironment environment;
    for (std::size_t t = 0; t < letters.size(); ++t) states[t] = advance(letters[t]);
  }

  std::optional<State> current() const override {
    const State state = network_->read(labels_.data());
    return state == kNoState ? std::nullopt : std::optional(state);
  }

  std::vector<double> numbers() const override {
    const FloatEnvironment environment;
    std::vector<double> exact;
    for (const Number number : now_) exact.push_back(to_double(number));
    return exact;
  }

  std::unique_ptr<Evaluator> fresh() const override { return std::make_unique<RoundedEvaluator>(network_); }

 private:
  void start() {
    network_->start(now_.data(), labels_.data());
    since_snap_ = 0;
  }

  State advance(Letter letter) {
    const State state =
        network_->step(now_.data(), labels_.data(), letter, then_.data(), then_labels_.data(), scratch_);
    now_.swap(then_);
    labels_.swap(then_labels_);
    if (network_->snap_every() != 0 && ++since_snap_ == network_->snap_every()) {
      network_->snap(now_.data(), labels_.data(), scratch_);
      since_snap_ = 0;
    }
    return state;
  }

  std::shared_ptr<const RoundedNetwork<Arithmetic>> network_;
  typename RoundedNetwork<Arithmetic>::Scratch scratch_;
  std::vector<Number> now_, then_;
  std::vector<Label> labels_, then_labels_;
  std::uint64_t since_snap_ = 0;  ///< letters
};

}  // namespace

std::unique_ptr<Evaluator> make_evaluator(const Network& network, ArithmeticName arithmetic, Form form, Order order) {
  const FloatEnvironment environment;
  if (arithmetic.is_exact()) {
    require_linear(network, "exact arithmetic");
    return exact_evaluator(network);
  }
  const auto letter_by_letter = [&]<class Arithmetic>(const Arithmetic& in) -> std::unique_ptr<Evaluator> {
    return std::make_unique<RoundedEvaluator<Arithmetic>>(
        std::make_shared<const RoundedNetwork<Arithmetic>>(network, form, in));
  };
  if (arithmetic.is_integer() && order.is_sequential()) return letter_by_letter(RoundedOperations(arithmetic));
  return with_arithmetic(arithmetic, [&](auto type) -> std::unique_ptr<Evaluator> {
    if (!order.is_sequential()) return ordered_evaluator<decltype(type)>(network, form, order);
    return letter_by_letter(type);
  });
}

namespace {

/// One case per structured form.
class Quantised {
 public:
  explicit Quantised(Precision format) : format_(format) {}

  double number(long double weight) const {
    const auto nearest =
        with_format(format_, [&](auto format) { return static_cast<double>(nearest_value<decltype(format)>(weight)); });
    if (!std::isfinite(nearest))
      throw InputError(
          fmt::format("a weight of {} is too large for {}", static_cast<double>(weight), to_string(format_)));
    has_rounded_ = has_rounded_ || static_cast<long double>(nearest) != weight;
    return nearest;
  }
  bool has_rounded() const { return has_rounded_; }
  Eigen::MatrixXd numbers(const Eigen::MatrixXd& weights) const {
    return weights.unaryExpr([this](double weight) { return number(weight); });
  }

  Matrix operator()(const ReflectionProduct& product) const {
    ReflectionProduct rounded{product.dimension, {}};
    for (const Reflection& factor : product.factors) rounded.factors.push_back(reflection(factor));
    return rounded;
  }
  Matrix operator()(const RotationBlocks& rotation) const {
    BlockDiagonalMatrix rounded;
    for (const auto& block : rotation.blocks) {
      const double cosine = number(block.turn.cosine()), sine = number(block.turn.sine());
      Eigen::MatrixXd& values = rounded.blocks.emplace_back(Eigen::MatrixXd::Constant(1, 1, cosine));
      if (block.is_sign) continue;
      values.resize(2, 2);
      values << cosine, -sine, sine, cosine;
    }
    return rounded;
  }
  Matrix operator()(const DiagonalMatrix& diagonal) const {
    DiagonalMatrix rounded;
    for (const double value : diagonal.values) rounded.values.push_back(number(value));
    return rounded;
  }
  Matrix operator()(const DenseMatrix& dense) const { return DenseMatrix{numbers(dense.values)}; }
  Matrix operator()(const BlockDiagonalMatrix& matrix) const {
    BlockDiagonalMatrix rounded;
    for (const auto& block : matrix.blocks) rounded.blocks.push_back(numbers(block));
    return rounded;
  }
  /// Maps, signed permutations, zeros and factored 0/1 matrices hold no number that could round.
  Matrix operator()(const auto& exact) const { return exact; }

 private:
  Reflection reflection(const Reflection& factor) const {
    const auto numbers = round_factor<double>(factor, [this](long double weight) { return number(weight); });
    Reflection rounded = in_integers(numbers.entries);
    rounded.beta = numbers.beta;
    return rounded;
  }

  /// The key as integers times the greatest power of two, at most 1, that makes them so.
  Reflection in_integers(const std::vector<RoundedReflections<double>::Entry>& key) const {
    constexpr int kMaxBits = 31;  // of an integer, and of a power of two whose square is a 64-bit denominator
    int bits = 0;
    const auto is_fraction = [&](const auto& entry) {
      return std::nearbyint(std::ldexp(entry.key, bits)) != std::ldexp(entry.key, bits);
    };
    while (bits <= kMaxBits && std::any_of(key.begin(), key.end(), is_fraction)) ++bits;
    Reflection reflection;
    reflection.scale_squared_denominator = std::int64_t{1} << std::min(2 * bits, 62);
    for (const auto& [position, value] : key) {
      const double integer = std::ldexp(value, bits);
      if (bits > kMaxBits || std::fabs(integer) > std::numeric_limits<std::int32_t>::max())
        throw InputError(
            fmt::format("a key entry of {} in {} needs more than {} bits after the point, which network "
                        "files do not hold; take a shorter format, or --keys unnormalised or doubled",
                        value, to_string(format_), kMaxBits));
      reflection.entries.push_back({position, static_cast<std::int32_t>(integer)});
    }
    return reflection;
  }

  Precision format_;
  mutable bool has_rounded_ = false;
};

/// A, B and H_0 of all layers.
void round_weights(Network& network, const Quantised& quantised) {
  for (Layer& layer : network.layers) {
    layer.initial = quantised.numbers(layer.initial);
    for (Transition& transition : layer.transitions) {
      transition.a = std::visit(quantised, std::as_const(transition.a));
      transition.b = quantised.numbers(transition.b);
    }
  }
}

}  // namespace

Network quantise(const Network& network, Precision format) {
  const FloatEnvironment environment;
  if (format == Precision::kFp64) return network;
  Network rounded = network;
  round_weights(rounded, Quantised(format));
  std::string& note = rounded.provenance.note;
  note += fmt::format("{}weights rounded to {}", note.empty() ? "" : "; ", to_string(format));
  return rounded;
}

bool has_weights_of(const Network& network, Precision format) {
  const FloatEnvironment environment;
  const Quantised quantised(format);
  Network rounded = network;
  try {
    round_weights(rounded, quantised);
  } catch (const InputError&) {
    return false;  // too large, or with more digits than files hold
  }
  return !quantised.has_rounded();
}

}  // namespace krohn
