#include "krohn/constructions/network/exactness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include "krohn/groups/base/stated_functions.h"

namespace krohn {
namespace {

constexpr double kInexact = std::numeric_limits<double>::infinity();
constexpr std::size_t kMaxPairedCodewords = 2048;

bool is_integer(const Eigen::MatrixXd& m) { return (m.array() == m.array().round()).all(); }

/// Bounds of the numbers of a layer: integers, per column.
struct CodeRange {
  bool integers = true;
  bool halves_equal = true;  ///< the second half of the coordinates repeats the first, as doubled keys need
  double largest = 0;        ///< |entry|
  double spread = 0;         ///< difference of two entries of one column
  double column_sum = 0;     ///< Σ |entry| of one column
};

void widen(CodeRange& range, const Eigen::MatrixXd& code) {
  range.integers = range.integers && is_integer(code);
  const Eigen::Index half = code.rows() / 2;
  range.halves_equal = range.halves_equal && code.rows() % 2 == 0 && code.topRows(half) == code.bottomRows(half);
  range.largest = std::max(range.largest, code.cwiseAbs().maxCoeff());
  range.spread = std::max(range.spread, (code.colwise().maxCoeff() - code.colwise().minCoeff()).maxCoeff());
  range.column_sum = std::max(range.column_sum, code.cwiseAbs().colwise().sum().maxCoeff());
}

CodeRange code_range(const Layer& layer) {
  CodeRange range;
  if (layer.decoder.unit_copies > 0) {
    widen(range, codeword(layer, 0));  // the others are permutations of it, copy by copy
    return range;
  }
  for (const Eigen::MatrixXd& code : layer.decoder.codewords) widen(range, code);
  return range;
}

/// The greatest multiple of the finest unit that one step meets, for each form; kInexact when numbers are not dyadic.
class StepBound {
 public:
  explicit StepBound(const CodeRange& range) : range_(range) {}

  double operator()(const MapMatrix& a) const {
    std::vector<double> preimages(a.map.degree(), 0);
    for (const Point image : a.map.images()) ++preimages[image];
    return row_bound(preimages.empty() ? 0 : *std::max_element(preimages.begin(), preimages.end()), 1);
  }
  double operator()(const SignedPermutationMatrix&) const { return range_.largest; }
  double operator()(const ReflectionProduct& a) const {
    double bound = range_.largest;
    for (const Reflection& factor : a.factors) bound = std::max(bound, factor_bound(factor, a.dimension));
    return bound;
  }
  double operator()(const RotationBlocks& a) const {
    for (const auto& block : a.blocks)
      if (4 % block.turn.normalised().denominator != 0) return kInexact;
    return range_.largest;
  }
  double operator()(const DiagonalMatrix& a) const {
    double largest = 0;
    for (const double value : a.values)
      largest = std::max(largest, std::round(value) == value ? std::abs(value) : kInexact);
    return largest * range_.largest;
  }
  double operator()(const ZeroMatrix&) const { return 0; }
  double operator()(const DenseMatrix& a) const { return dense_bound(a.values); }
  double operator()(const BlockDiagonalMatrix& a) const {
    double bound = 0;
    for (const auto& block : a.blocks) bound = std::max(bound, dense_bound(block));
    return bound;
  }
  double operator()(const FactoredMatrix& a) const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> arcs;  // 0/1 entries when no two terms overlap
    for (const std::uint32_t term : a.gate)
      for (const std::uint32_t output : a.outputs[term])
        for (const std::uint32_t input : a.inputs[term])
          if (!arcs.emplace(output, input).second) return kInexact;
    return range_.column_sum;
  }

 private:
  /// |Σ_j a_ij h_j| and its partial sums, by either factor's sum.
  double row_bound(double row_sum, double largest_entry) const {
    return std::min(row_sum * range_.largest, largest_entry * range_.column_sum);
  }

  double dense_bound(const Eigen::MatrixXd& a) const {
    if (!is_integer(a)) return kInexact;
    if (a.size() == 0) return 0;
    return row_bound(a.cwiseAbs().rowwise().sum().maxCoeff(), a.cwiseAbs().maxCoeff());
  }

  /// A swap moves codeword to permuted codeword, so its bound does not grow along the product; nor does that of a sign.
  double factor_bound(const Reflection& r, std::uint32_t dimension) const {
    const auto& e = r.entries;
    const bool unit_scale = r.scale_squared_numerator == r.scale_squared_denominator;
    if (e.size() == 1 && std::abs(e[0].value) == 1 && unit_scale && (r.beta == 1 || r.beta == 2))
      return (1 + r.beta) * range_.largest;
    const bool swap = e.size() == 2 && e[0].value == 1 && e[1].value == -1;
    if (swap && unit_scale && r.beta == 1) return range_.spread;
    const bool negating = e.size() == 2 && e[0].value == 1 && e[1].value == 1;  // a swap that changes both signs
    if (negating && unit_scale && r.beta == 1) return 2 * range_.largest;
    const std::uint32_t n = dimension / 2;
    const bool doubled = e.size() == 4 && e[0].value == 1 && e[1].value == -1 && e[2].value == 1 && e[3].value == -1 &&
                         e[2].position == e[0].position + n && e[3].position == e[1].position + n;
    if (doubled && range_.halves_equal && 4 * r.scale_squared_numerator == r.scale_squared_denominator && r.beta == 2)
      return 2 * std::max(range_.spread, range_.largest);  // in units of one half
    return kInexact;
  }

  CodeRange range_;
};

double layer_bound(const Layer& layer) {
  const CodeRange range = code_range(layer);
  if (!range.integers || !is_integer(layer.initial)) return kInexact;
  const StepBound step_bound(range);
  double bound = range.largest;
  for (const Transition& transition : layer.transitions) {
    if (!is_integer(transition.b)) return kInexact;
    const double added = transition.b.size() == 0 ? 0 : transition.b.cwiseAbs().maxCoeff();
    bound = std::max(bound, std::visit(step_bound, transition.a) + added);
  }
  return bound;
}

struct Format {
  int digits, least_exponent;  ///< of the significand; of the least positive, subnormal number

  double unit_roundoff() const { return std::ldexp(1.0, -digits); }
  double least_number() const { return std::ldexp(1.0, least_exponent); }
  double last_integer() const { return std::ldexp(1.0, digits); }  ///< up to it all are numbers of the format
};

Format format_of(Precision precision) {
  switch (precision) {
    case Precision::kFp64:
      return {53, -1074};
    case Precision::kFp32:
      return {24, -149};
    case Precision::kFp16:
      return {11, -24};
    default:
      return {8, -133};
  }
}

bool is_orbit_of_isometries(const Layer& layer) {
  return std::all_of(layer.transitions.begin(), layer.transitions.end(), [](const Transition& transition) {
    return transition.b.size() == 0 && !std::holds_alternative<ZeroMatrix>(transition.a) &&
           reflection_count(transition.a) >= 0;
  });
}

double distance_from(const Layer& layer, std::size_t i, std::size_t first) {
  double least = kInexact;
  for (std::size_t j = first; j < layer.decoder.codewords.size(); ++j)
    if (codeword_label(layer, i) != codeword_label(layer, j) && codeword_book(layer, i) == codeword_book(layer, j))
      least = std::min(least, (layer.decoder.codewords[i] - layer.decoder.codewords[j]).norm());
  return least;
}

}  // namespace

bool is_exact(const Layer& layer, Precision precision) {
  return layer_bound(layer) <= format_of(precision).last_integer();
}

std::vector<Precision> exact_precisions(const Network& network) {
  double bound = 0;
  for (const Layer& layer : network.layers) bound = std::max(bound, layer_bound(layer));
  std::vector<Precision> exact;
  for (const Precision precision : {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16})
    if (bound <= format_of(precision).last_integer()) exact.push_back(precision);
  return exact;
}

double least_codeword_distance(const Layer& layer) {
  constexpr double none = std::numeric_limits<double>::infinity();
  if (layer.labels < 2) return none;
  if (layer.decoder.unit_copies > 0) return std::sqrt(2.0 * layer.decoder.unit_copies);
  const std::size_t count = layer.decoder.codewords.size();
  if (count > kMaxPairedCodewords && is_orbit_of_isometries(layer)) return distance_from(layer, 0, 0);
  double least = none;
  for (std::size_t i = 0; i < count; ++i) least = std::min(least, distance_from(layer, i, i + 1));
  return least;
}

namespace {

constexpr std::uint64_t kMaxNumbers = 20'000'000;

/// Forms of which one row is one sum of products, in the order of the columns; zeros change nothing.
bool sums_rows(const Matrix& a) {
  return std::holds_alternative<DenseMatrix>(a) || std::holds_alternative<BlockDiagonalMatrix>(a) ||
         std::holds_alternative<DiagonalMatrix>(a) || std::holds_alternative<MapMatrix>(a) ||
         std::holds_alternative<ZeroMatrix>(a);
}

bool can_look_at(const Layer& layer) {
  const std::uint64_t codewords = layer.decoder.codewords.size(), n = layer.dimension;
  return layer.columns == 1 && layer.decoder.unit_copies == 0 && layer.decoder.book.empty() &&
         codewords * layer.transitions.size() * (n * n + codewords * n) <= kMaxNumbers &&
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

bool has_locked_layers(const Network& network, Precision precision) {
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
    if (std::find(exact.begin(), exact.end(), precision) == exact.end() && has_locked_layers(network, precision))
      locked.push_back(precision);
  return locked;
}

std::uint64_t letters_before_drift(std::uint32_t planes, double radius, Precision precision) {
  const double u = format_of(precision).unit_roundoff(), least = format_of(precision).least_number();
  const double growth = std::sqrt(2.0) * (u * (3 + u * (3 + u)) + 4 * least);
  const double room = radius / std::sqrt(static_cast<double>(planes)) - u;
  if (room <= u) return 0;
  // A hair less than the quotient, for the roundings of this line.
  const double letters = (stated::log1p(room) - stated::log1p(u)) / stated::log1p(growth) * (1 - 1e-12);
  return static_cast<std::uint64_t>(std::floor(letters));
}

}  // namespace krohn
