#include "krohn/constructions/network/matrix.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "krohn/groups/base/decompositions.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

using boost::multiprecision::cpp_int;

/// π · 2^bits, less at most 1: Machin's 16 arctan 1/5 − 4 arctan 1/239.
cpp_int scaled_pi(unsigned bits) {
  constexpr unsigned kSpare = 16;  // some 2^8 terms are cut off
  const auto arctangent_of_inverse = [&](unsigned n) {
    cpp_int sum = 0, power = (cpp_int(1) << (bits + kSpare)) / n;
    for (unsigned k = 1; power != 0; k += 2, power /= n * n) sum += (k % 4 == 1 ? 1 : -1) * cpp_int(power / k);
    return sum;
  };
  const cpp_int spare = 16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239);
  return (spare - (1U << (kSpare - 1))) >> kSpare;
}

/// The cosine or the sine of 2π·e/(8q) in units of 2^-bits, e ≤ q, with an error below kError units: Taylor's series, a
/// unit lost at most where a product is cut off and another where it is divided, in fewer than 2^8 terms, and little
/// more than one where the angle is. The terms fall at least by a half each, so what is not summed is below a unit.
constexpr unsigned kError = 1 << 10;

cpp_int on_octant(bool is_sine, std::int64_t e, std::int64_t q, unsigned bits) {
  constexpr unsigned kUsual = 192;
  static const cpp_int usual_pi = scaled_pi(kUsual);
  const cpp_int angle = (bits == kUsual ? usual_pi : scaled_pi(bits)) * e / (4 * cpp_int(q));
  const cpp_int square = (angle * angle) >> bits;
  cpp_int term = is_sine ? angle : cpp_int(1) << bits, sum = term;
  for (unsigned n = is_sine ? 1 : 0, sign = 1; term != 0; n += 2, sign = 1 - sign) {
    term = ((term * square) >> bits) / ((n + 1) * (n + 2));
    if (sign == 1)
      sum -= term;
    else
      sum += term;
  }
  return sum;
}

/// The positive irrational number, rounded to odd: with more bits until the error does not reach the 64th.
long double to_odd(bool is_sine, std::int64_t e, std::int64_t q) {
  for (unsigned bits = 192;; bits *= 2) {
    const cpp_int value = on_octant(is_sine, e, q, bits);
    if (value <= kError) continue;
    const unsigned cut = msb(value) + 1 > 64 ? msb(value) + 1 - 64 : 0;
    const cpp_int significand = value >> cut;
    if (cut == 0 || (value - kError) >> cut != significand || (value + kError) >> cut != significand) continue;
    const auto odd = static_cast<std::uint64_t>(significand) | 1U;
    return std::ldexp(static_cast<long double>(odd), static_cast<int>(cut) - static_cast<int>(bits));
  }
}

}  // namespace

long double cosine_of_turn(std::int64_t p, std::int64_t q) {
  assert(p >= 0 && p < q && q <= std::int64_t{1} << 58);
  const std::int64_t divisor = std::gcd(p, q);
  p /= divisor, q /= divisor;
  if (2 * p > q) p = q - p;
  if (p == 0) return 1;
  if (q == 2 * p) return -1;
  if (q == 4 * p) return 0;
  if (q == 6 * p) return 0.5L;
  if (q == 3 * p) return -0.5L;
  const bool negative = 4 * p > q;
  // From here the angle is 2π · eighths / (8q), less than a quarter turn, and no cosine is rational (Niven).
  const std::int64_t eighths = negative ? 4 * q - 8 * p : 8 * p;
  const long double value = eighths > q ? to_odd(true, 2 * q - eighths, q) : to_odd(false, eighths, q);
  return negative ? -value : value;
}

namespace {

constexpr std::int64_t kMaxDenominator = std::int64_t{1} << 56;
constexpr double kOrthogonalTolerance = 1e-9;
/// How far beyond ±1 the rounding of a key and of β to 8 bits may carry the eigenvalue 1 − β‖k‖².
constexpr long double kRoundedKeyTolerance = 0x1p-5L;  // > 2·((1 + 2⁻⁸)³ − 1), the key counting twice

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::uint32_t block_size(const RotationBlocks::Block& block) { return block.is_sign ? 1 : 2; }

std::uint32_t narrow(Eigen::Index size) { return static_cast<std::uint32_t>(size); }

/// A ← (I − β k kᵀ) A by the rows that the key touches. With k kᵀ = scale² · entries entriesᵀ no root is taken, so that
/// exact keys give exact matrices.
void reflect_rows(LongMatrix& a, const Reflection& reflection) {
  const long double beta = reflection.beta;
  using LongRow = Eigen::Matrix<long double, 1, Eigen::Dynamic>;
  if (reflection.entries.empty()) {
    const Eigen::Index x = reflection.plane, y = x + 1;
    const long double c = reflection.angle.cosine(), s = reflection.angle.sine();
    const LongRow along = beta * (c * a.row(x) + s * a.row(y));
    a.row(x) -= c * along;
    a.row(y) -= s * along;
    return;
  }
  const long double scale = beta * static_cast<long double>(reflection.scale_squared_numerator) /
                            static_cast<long double>(reflection.scale_squared_denominator);
  LongRow along = LongRow::Zero(a.cols());
  for (const auto& entry : reflection.entries) along += static_cast<long double>(entry.value) * a.row(entry.position);
  along *= scale;
  for (const auto& entry : reflection.entries) a.row(entry.position) -= static_cast<long double>(entry.value) * along;
}

LongMatrix dense_map(const Transformation& map) {
  LongMatrix a = LongMatrix::Zero(map.degree(), map.degree());
  for (Point j = 0; j < map.degree(); ++j) a(map[j], j) = 1;
  return a;
}

LongMatrix dense_signed(const SignedPermutationMatrix& matrix) {
  const Point n = matrix.map.degree();
  LongMatrix a = LongMatrix::Zero(n, n);
  for (Point j = 0; j < n; ++j) a(matrix.map[j], j) = matrix.sign[j];
  return a;
}

LongMatrix dense_rotations(const RotationBlocks& matrix, std::uint32_t n) {
  LongMatrix a = LongMatrix::Zero(n, n);
  std::uint32_t at = 0;
  for (const auto& block : matrix.blocks) {
    const long double c = block.turn.cosine(), s = block.turn.sine();
    a(at, at) = c;
    if (!block.is_sign) {
      a(at, at + 1) = -s;
      a(at + 1, at) = s;
      a(at + 1, at + 1) = c;
    }
    at += block_size(block);
  }
  return a;
}

LongMatrix dense_blocks(const BlockDiagonalMatrix& matrix, std::uint32_t n) {
  LongMatrix a = LongMatrix::Zero(n, n);
  Eigen::Index at = 0;
  for (const auto& block : matrix.blocks) {
    a.block(at, at, block.rows(), block.cols()) = block.cast<long double>();
    at += block.rows();
  }
  return a;
}

LongMatrix dense_factored(const FactoredMatrix& matrix) {
  LongMatrix a = LongMatrix::Zero(matrix.dimension, matrix.dimension);
  for (const std::uint32_t term : matrix.gate)
    for (const std::uint32_t row : matrix.outputs[term])
      for (const std::uint32_t column : matrix.inputs[term]) a(row, column) += 1;
  return a;
}

constexpr Point kNoImage = UINT32_MAX;

/// The map whose matrix this is, when every column is one-hot.
std::optional<Transformation> as_map(const Eigen::MatrixXd& a) {
  std::vector<Point> images(static_cast<std::size_t>(a.cols()), kNoImage);
  for (Eigen::Index column = 0; column < a.cols(); ++column)
    for (Eigen::Index row = 0; row < a.rows(); ++row) {
      if (a(row, column) == 0) continue;
      Point& image = images[static_cast<std::size_t>(column)];
      if (a(row, column) != 1 || image != kNoImage) return std::nullopt;
      image = static_cast<Point>(row);
    }
  if (std::find(images.begin(), images.end(), kNoImage) != images.end()) return std::nullopt;
  return Transformation::from_images(std::move(images));
}

std::optional<Transformation> as_map(const FactoredMatrix& a) {
  std::vector<Point> images(a.dimension, kNoImage);
  for (const std::uint32_t term : a.gate)
    for (const std::uint32_t column : a.inputs[term]) {
      if (a.outputs[term].size() != 1 || images[column] != kNoImage) return std::nullopt;
      images[column] = a.outputs[term][0];
    }
  if (std::find(images.begin(), images.end(), kNoImage) != images.end()) return std::nullopt;
  return Transformation::from_images(std::move(images));
}

std::int64_t reflections_of_map(const Transformation& map) {
  return map.is_permutation() ? std::int64_t{map.to_permutation().reflection_length()} : -1;
}

/// rank(A − I) of an orthogonal A, otherwise −1 (Cartan–Dieudonné). Maps need no elimination.
std::int64_t reflections_of_dense(const Eigen::MatrixXd& a) {
  if (a.rows() == 0) return 0;
  if (const auto map = as_map(a)) return reflections_of_map(*map);
  const auto identity = Eigen::MatrixXd::Identity(a.rows(), a.cols());
  if ((a.transpose() * a - identity).cwiseAbs().maxCoeff() > kOrthogonalTolerance) return -1;
  if ((a - identity).cwiseAbs().maxCoeff() < kOrthogonalTolerance) return 0;
  return numerical_rank(a - identity, kOrthogonalTolerance);
}

std::int64_t reflections_of_factored(const FactoredMatrix& a) {
  if (const auto map = as_map(a)) return reflections_of_map(*map);
  return reflections_of_dense(dense_factored(a).cast<double>());
}

std::int64_t reflections_of_signed(const SignedPermutationMatrix& matrix) {
  const Point n = matrix.map.degree();
  std::int64_t fixed = 0;  // a cycle fixes a line exactly when its signs multiply to +1
  std::vector<bool> seen(n, false);
  for (Point start = 0; start < n; ++start) {
    if (seen[start]) continue;
    int sign = 1;
    for (Point j = start; !seen[j]; j = matrix.map[j]) {
      seen[j] = true;
      sign *= matrix.sign[j];
    }
    if (sign == 1) ++fixed;
  }
  return std::int64_t{n} - fixed;
}

std::int64_t reflections_of_rotations(const RotationBlocks& matrix) {
  std::int64_t count = 0;
  for (const auto& block : matrix.blocks)
    if (block.turn.normalised().numerator != 0) count += block_size(block);
  return count;
}

std::int64_t reflections_of_diagonal(const DiagonalMatrix& matrix) {
  std::int64_t count = 0;
  for (const double value : matrix.values) {
    if (std::abs(value) > 1) return -1;
    if (value != 1) ++count;
  }
  return count;
}

std::int64_t reflections_of_blocks(const BlockDiagonalMatrix& matrix) {
  std::int64_t count = 0;
  for (const auto& block : matrix.blocks) {
    const std::int64_t part = reflections_of_dense(block);
    if (part < 0) return -1;
    count += part;
  }
  return count;
}

std::uint64_t total_size(const std::vector<std::vector<std::uint32_t>>& supports) {
  std::uint64_t total = 0;
  for (const auto& support : supports) total += support.size();
  return total;
}

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw InputError(where, message); }

void check_turn(const Turn& turn, const std::string& where) {
  if (turn.denominator < 1 || turn.denominator > kMaxDenominator)
    fail(where, fmt::format("a turn of {}/{}; the denominator must be in 1 … 2^56", turn.numerator, turn.denominator));
}

void check_reflection(const Reflection& reflection, std::uint32_t n, const std::string& where) {
  if (!std::isfinite(reflection.beta)) fail(where, "β of a reflection is not finite");
  if (reflection.scale_squared_numerator < 1 || reflection.scale_squared_denominator < 1)
    fail(where, "the squared scale of a key must be a positive fraction");
  long double norm = 1;
  if (reflection.entries.empty()) {
    check_turn(reflection.angle, where);
    if (std::uint64_t{reflection.plane} + 1 >= n)
      fail(where, fmt::format("a key in plane {} needs dimension {}, not {}", reflection.plane,
                              std::uint64_t{reflection.plane} + 2, n));
  } else {
    norm = 0;
    for (std::size_t i = 0; i < reflection.entries.size(); ++i) {
      const auto& entry = reflection.entries[i];
      if (entry.position >= n) fail(where, fmt::format("a key entry at {} in dimension {}", entry.position, n));
      if (i > 0 && reflection.entries[i - 1].position >= entry.position) fail(where, "key entries are not increasing");
      norm += static_cast<long double>(entry.value) * entry.value;
    }
    norm *= static_cast<long double>(reflection.scale_squared_numerator) /
            static_cast<long double>(reflection.scale_squared_denominator);
  }
  const long double eigenvalue = 1 - static_cast<long double>(reflection.beta) * norm;
  if (eigenvalue < -1 - kRoundedKeyTolerance || eigenvalue > 1 + kRoundedKeyTolerance)
    fail(where, fmt::format("a reflection has eigenvalue {:.6g}, outside [−1, 1]", static_cast<double>(eigenvalue)));
}

void check_supports(const std::vector<std::vector<std::uint32_t>>& supports, std::uint32_t n,
                    const std::string& where) {
  for (const auto& support : supports)
    for (std::size_t i = 0; i < support.size(); ++i) {
      if (support[i] >= n) fail(where, fmt::format("a factor entry at {} in dimension {}", support[i], n));
      if (i > 0 && support[i - 1] >= support[i]) fail(where, "a factor's support is not increasing");
    }
}

void check_factored(const FactoredMatrix& matrix, const std::string& where) {
  if (matrix.outputs.size() != matrix.inputs.size())
    fail(where, fmt::format("{} output factors but {} input factors", matrix.outputs.size(), matrix.inputs.size()));
  check_supports(matrix.outputs, matrix.dimension, where);
  check_supports(matrix.inputs, matrix.dimension, where);
  for (std::size_t i = 0; i < matrix.gate.size(); ++i) {
    if (matrix.gate[i] >= matrix.outputs.size())
      fail(where, fmt::format("gate on term {} of {}", matrix.gate[i], matrix.outputs.size()));
    if (i > 0 && matrix.gate[i - 1] >= matrix.gate[i]) fail(where, "gates are not increasing");
  }
}

void check_square(const Eigen::MatrixXd& values, const std::string& where) {
  if (values.rows() != values.cols()) fail(where, fmt::format("a {}×{} block", values.rows(), values.cols()));
  if (!values.allFinite()) fail(where, "a number is not finite");
}

void check_parts(const Matrix& matrix, const std::string& where) {
  std::visit(Overloaded{
                 [](const MapMatrix&) {},
                 [&](const SignedPermutationMatrix& m) {
                   if (m.sign.size() != m.map.degree())
                     fail(where, fmt::format("{} signs for degree {}", m.sign.size(), m.map.degree()));
                   for (const int sign : m.sign)
                     if (sign != 1 && sign != -1) fail(where, fmt::format("a sign is {}, not ±1", sign));
                 },
                 [&](const ReflectionProduct& m) {
                   for (const auto& factor : m.factors) check_reflection(factor, m.dimension, where);
                 },
                 [&](const RotationBlocks& m) {
                   for (const auto& block : m.blocks) {
                     check_turn(block.turn, where);
                     if (block.is_sign && block.turn.normalised().denominator > 2)
                       fail(where, "a 1×1 block must turn by 0 or ½");
                   }
                 },
                 [&](const DiagonalMatrix& m) {
                   for (const double value : m.values)
                     if (!std::isfinite(value)) fail(where, "a diagonal entry is not finite");
                 },
                 [](const ZeroMatrix&) {},
                 [&](const DenseMatrix& m) { check_square(m.values, where); },
                 [&](const BlockDiagonalMatrix& m) {
                   for (const auto& block : m.blocks) check_square(block, where);
                 },
                 [&](const FactoredMatrix& m) { check_factored(m, where); },
             },
             matrix);
}

}  // namespace

Turn Turn::normalised() const {
  if (denominator < 1 || denominator > kMaxDenominator)
    throw InputError(fmt::format("a turn of {}/{}; the denominator must be in 1 … 2^56", numerator, denominator));
  std::int64_t p = numerator % denominator;
  if (p < 0) p += denominator;
  const std::int64_t divisor = std::gcd(p, denominator);
  return {p / divisor, denominator / divisor};
}

long double Turn::cosine() const {
  const Turn turn = normalised();
  return cosine_of_turn(turn.numerator, turn.denominator);
}

long double Turn::sine() const {
  // sin x = cos(x − ¼ turn)
  const Turn turn = normalised();
  const std::int64_t p = 4 * turn.numerator - turn.denominator, q = 4 * turn.denominator;
  return cosine_of_turn(p < 0 ? p + q : p, q);
}

std::uint32_t dimension(const Matrix& matrix) {
  return std::visit(Overloaded{
                        [](const MapMatrix& m) { return m.map.degree(); },
                        [](const SignedPermutationMatrix& m) { return m.map.degree(); },
                        [](const ReflectionProduct& m) { return m.dimension; },
                        [](const RotationBlocks& m) {
                          std::uint32_t n = 0;
                          for (const auto& block : m.blocks) n += block_size(block);
                          return n;
                        },
                        [](const DiagonalMatrix& m) { return static_cast<std::uint32_t>(m.values.size()); },
                        [](const ZeroMatrix& m) { return m.dimension; },
                        [](const DenseMatrix& m) { return narrow(m.values.rows()); },
                        [](const BlockDiagonalMatrix& m) {
                          std::uint32_t n = 0;
                          for (const auto& block : m.blocks) n += narrow(block.rows());
                          return n;
                        },
                        [](const FactoredMatrix& m) { return m.dimension; },
                    },
                    matrix);
}

LongMatrix to_dense(const Matrix& matrix) {
  const std::uint32_t n = dimension(matrix);
  return std::visit(Overloaded{
                        [](const MapMatrix& m) { return dense_map(m.map); },
                        [](const SignedPermutationMatrix& m) { return dense_signed(m); },
                        [&](const ReflectionProduct& m) {
                          LongMatrix a = LongMatrix::Identity(n, n);
                          for (const auto& factor : m.factors) reflect_rows(a, factor);
                          return a;
                        },
                        [&](const RotationBlocks& m) { return dense_rotations(m, n); },
                        [&](const DiagonalMatrix& m) {
                          LongMatrix a = LongMatrix::Zero(n, n);
                          for (std::uint32_t i = 0; i < n; ++i) a(i, i) = m.values[i];
                          return a;
                        },
                        [&](const ZeroMatrix&) { return LongMatrix(LongMatrix::Zero(n, n)); },
                        [](const DenseMatrix& m) { return LongMatrix(m.values.cast<long double>()); },
                        [&](const BlockDiagonalMatrix& m) { return dense_blocks(m, n); },
                        [](const FactoredMatrix& m) { return dense_factored(m); },
                    },
                    matrix);
}

std::int64_t reflection_count(const Matrix& matrix) {
  return std::visit(Overloaded{
                        [](const MapMatrix& m) { return reflections_of_map(m.map); },
                        [](const SignedPermutationMatrix& m) { return reflections_of_signed(m); },
                        [](const ReflectionProduct& m) { return static_cast<std::int64_t>(m.factors.size()); },
                        [](const RotationBlocks& m) { return reflections_of_rotations(m); },
                        [](const DiagonalMatrix& m) { return reflections_of_diagonal(m); },
                        [](const ZeroMatrix& m) { return std::int64_t{m.dimension}; },
                        [](const DenseMatrix& m) { return reflections_of_dense(m.values); },
                        [](const BlockDiagonalMatrix& m) { return reflections_of_blocks(m); },
                        [](const FactoredMatrix& m) { return reflections_of_factored(m); },
                    },
                    matrix);
}

std::uint64_t weight_count(const Matrix& matrix) {
  return std::visit(
      Overloaded{
          [](const MapMatrix& m) { return std::uint64_t{m.map.degree()}; },
          [](const SignedPermutationMatrix& m) { return 2 * std::uint64_t{m.map.degree()}; },
          [](const ReflectionProduct& m) {
            std::uint64_t count = 0;  // an angle is stored as its two coordinates
            for (const auto& f : m.factors) count += 1 + (f.entries.empty() ? 2 : f.entries.size());
            return count;
          },
          [](const RotationBlocks& m) {
            std::uint64_t count = 0;  // cosine and sine, or a sign
            for (const auto& block : m.blocks) count += block_size(block);
            return count;
          },
          [](const DiagonalMatrix& m) { return std::uint64_t{m.values.size()}; },
          [](const ZeroMatrix&) { return std::uint64_t{0}; },
          [](const DenseMatrix& m) { return static_cast<std::uint64_t>(m.values.size()); },
          [](const BlockDiagonalMatrix& m) {
            std::uint64_t count = 0;
            for (const auto& block : m.blocks) count += static_cast<std::uint64_t>(block.size());
            return count;
          },
          [](const FactoredMatrix& m) { return total_size(m.outputs) + total_size(m.inputs) + m.gate.size(); },
      },
      matrix);
}

std::string form_name(const Matrix& matrix) {
  constexpr const char* names[] = {"map",   "signed-permutation", "reflections", "rotation", "diagonal", "zero",
                                   "dense", "block-diagonal",     "factored"};
  static_assert(std::size(names) == std::variant_size_v<Matrix>);
  return names[matrix.index()];
}

void validate(const Matrix& matrix, std::uint32_t n, const std::string& where) {
  check_parts(matrix, where);
  if (dimension(matrix) != n)
    fail(where, fmt::format("A is a {} of dimension {}; the layer has {}", form_name(matrix), dimension(matrix), n));
}

KeyStyle parse_key_style(std::string_view name) {
  if (name == "unit") return KeyStyle::kUnit;
  if (name == "unnormalised") return KeyStyle::kUnnormalised;
  if (name == "doubled") return KeyStyle::kDoubled;
  throw InputError("keys", fmt::format("\"{}\" is not one of unit, unnormalised, doubled", name));
}

namespace {

/// The reflection that swaps points i < j of n.
Reflection swap_reflection(Point i, Point j, Point n, KeyStyle keys) {
  Reflection reflection;
  reflection.entries = {{i, 1}, {j, -1}};
  switch (keys) {
    case KeyStyle::kUnit:
      reflection.scale_squared_denominator = 2;
      break;
    case KeyStyle::kUnnormalised:
      reflection.beta = 1;
      break;
    case KeyStyle::kDoubled:
      reflection.entries.push_back({n + i, 1});
      reflection.entries.push_back({n + j, -1});
      reflection.scale_squared_denominator = 4;
      break;
  }
  return reflection;
}

}  // namespace

std::uint32_t coordinate_copies(std::optional<KeyStyle> keys) { return keys == KeyStyle::kDoubled ? 2 : 1; }

ReflectionProduct reflection_product(const Permutation& permutation, KeyStyle keys) {
  const Point n = permutation.degree();
  ReflectionProduct product{n * coordinate_copies(keys), {}};
  for (const Transposition& swap : transpositions_of(permutation))
    product.factors.push_back(swap_reflection(swap.first, swap.second, n, keys));
  return product;
}

Matrix permutation_matrix(const Permutation& permutation, std::optional<KeyStyle> keys) {
  if (keys) return reflection_product(permutation, *keys);
  const auto images = permutation.images();
  return MapMatrix{Transformation::from_images({images.begin(), images.end()})};
}

}  // namespace krohn
