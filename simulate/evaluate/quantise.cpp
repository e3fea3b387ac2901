#include "krohn/simulate/evaluate/quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/rounded_matrix.h"

namespace krohn {
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
    const auto in_format = round_factor<double>(factor, [this](long double weight) { return number(weight); });
    Reflection rounded = in_integers(in_format.entries);
    rounded.beta = in_format.beta;
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
