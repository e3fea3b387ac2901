#include "simulate/token_layers.h"

#include <Eigen/Core>
#include <cmath>

#include "simulate/training_kernels.h"

namespace krohn {
namespace {

template <class Real>
using Array = Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>>;
template <class Real>
using ConstArray = Eigen::Map<const Eigen::Array<Real, Eigen::Dynamic, 1>>;

template <class Real>
Array<Real> array(std::span<Real> numbers, std::size_t first, std::size_t count) {
  return {numbers.data() + first, static_cast<Eigen::Index>(count)};
}
template <class Real>
ConstArray<Real> array(std::span<const Real> numbers, std::size_t first, std::size_t count) {
  return {numbers.data() + first, static_cast<Eigen::Index>(count)};
}

template <class Real>
std::vector<Real> transposed(std::span<const Real> matrix, std::size_t rows) {
  const std::size_t columns = matrix.size() / rows;
  std::vector<Real> result(matrix.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) result[j * rows + i] = matrix[i * columns + j];
  return result;
}

template <class Real>
auto sigmoid(const ConstArray<Real>& x) {
  return (Real{1} + (-x).exp()).inverse();
}

}  // namespace

template <class Real>
void TokenLayers<Real>::linear(std::span<const Real> x, std::span<const Real> weights, std::size_t inputs,
                               std::span<Real> y) {
  const std::size_t outputs = weights.size() / inputs, rows = x.size() / inputs;
  training_kernels<Real>().add_product(
      {rows, outputs, inputs, x.data(), inputs, 1, weights.data(), outputs, y.data(), outputs});
}

template <class Real>
void TokenLayers<Real>::linear_adjoint(std::span<const Real> x, std::span<const Real> weights, std::size_t inputs,
                                       std::span<const Real> by_y, std::span<Real> by_x, std::span<Real> by_weights) {
  const std::size_t outputs = weights.size() / inputs, rows = x.size() / inputs;
  const auto& kernels = training_kernels<Real>();
  kernels.add_product({inputs, outputs, rows, x.data(), 1, inputs, by_y.data(), outputs, by_weights.data(), outputs});
  const std::vector<Real> back = transposed(weights, inputs);
  kernels.add_product({rows, inputs, outputs, by_y.data(), outputs, 1, back.data(), inputs, by_x.data(), inputs});
}

template <class Real>
void TokenLayers<Real>::rms_norm(std::span<const Real> x, std::span<const Real> gain, std::span<Real> y) {
  const std::size_t width = gain.size();
  const auto g = array(gain, 0, width);
  for (std::size_t first = 0; first < x.size(); first += width) {
    const auto row = array(x, first, width);
    array(y, first, width) = row * g / std::sqrt(row.square().mean() + Real(1e-5));
  }
}

template <class Real>
void TokenLayers<Real>::rms_norm_adjoint(std::span<const Real> x, std::span<const Real> gain,
                                         std::span<const Real> by_y, std::span<Real> by_x, std::span<Real> by_gain) {
  const std::size_t width = gain.size();
  const auto g = array(gain, 0, width);
  for (std::size_t first = 0; first < x.size(); first += width) {
    const auto row = array(x, first, width), by = array(by_y, first, width);
    const Real scale = 1 / std::sqrt(row.square().mean() + Real(1e-5));
    const Real along = (by * g * row).mean() * scale * scale * scale;
    array(by_x, first, width) += by * g * scale - row * along;
    array(by_gain, 0, width) += by * row * scale;
  }
}

template <class Real>
void TokenLayers<Real>::unit_norm(std::span<const Real> x, std::size_t width, std::span<Real> y) {
  for (std::size_t first = 0; first < x.size(); first += width) {
    const auto row = array(x, first, width);
    array(y, first, width) = row / std::sqrt(row.square().sum() + Real(1e-6));
  }
}

template <class Real>
void TokenLayers<Real>::unit_norm_adjoint(std::span<const Real> x, std::size_t width, std::span<const Real> by_y,
                                          std::span<Real> by_x) {
  for (std::size_t first = 0; first < x.size(); first += width) {
    const auto row = array(x, first, width), by = array(by_y, first, width);
    const Real scale = 1 / std::sqrt(row.square().sum() + Real(1e-6));
    array(by_x, first, width) += by * scale - row * ((by * row).sum() * scale * scale * scale);
  }
}

template <class Real>
void TokenLayers<Real>::silu(std::span<const Real> x, std::span<Real> y) {
  const auto in = array(x, 0, x.size());
  array(y, 0, y.size()) = in * sigmoid(in);
}

template <class Real>
void TokenLayers<Real>::silu_adjoint(std::span<const Real> x, std::span<const Real> by_y, std::span<Real> by_x) {
  constexpr std::size_t kPiece = 256;  // the logistic values stay in the cache
  for (std::size_t first = 0; first < x.size(); first += kPiece) {
    const std::size_t count = std::min(kPiece, x.size() - first);
    const auto in = array(x, first, count);
    const Eigen::Array<Real, Eigen::Dynamic, 1, 0, kPiece, 1> s = sigmoid(in);
    array(by_x, first, count) += array(by_y, first, count) * s * (Real{1} + in * (Real{1} - s));
  }
}

template <class Real>
void TokenLayers<Real>::gate(std::span<const Real> x, std::size_t width, std::span<Real> y) {
  for (std::size_t first = 0; first < y.size(); first += width) {
    const auto left = array(x, 2 * first, width);
    array(y, first, width) = left * sigmoid(left) * array(x, 2 * first + width, width);
  }
}

template <class Real>
void TokenLayers<Real>::gate_adjoint(std::span<const Real> x, std::size_t width, std::span<const Real> by_y,
                                     std::span<Real> by_x) {
  Eigen::Array<Real, Eigen::Dynamic, 1> s(static_cast<Eigen::Index>(width));
  for (std::size_t first = 0; first < by_y.size(); first += width) {
    const auto left = array(x, 2 * first, width), right = array(x, 2 * first + width, width);
    const auto by = array(by_y, first, width);
    s = sigmoid(left);
    array(by_x, 2 * first, width) += by * right * s * (Real{1} + left * (Real{1} - s));
    array(by_x, 2 * first + width, width) += by * left * s;
  }
}

template <class Real>
void TokenLayers<Real>::convolve(const TokenRows& rows, std::span<const Real> x, std::span<const Real> taps,
                                 std::size_t width, std::span<Real> before, std::span<Real> y) {
  const std::size_t count = taps.size() / width, kept = (count - 1) * width;
  for (std::size_t word = 0; word < rows.words(); ++word) {
    // The word with what stands before it.
    std::vector<Real> all(before.begin() + static_cast<std::ptrdiff_t>(word * kept),
                          before.begin() + static_cast<std::ptrdiff_t>((word + 1) * kept));
    const auto own = x.subspan(rows.first[word] * width, rows.length(word) * width);
    all.insert(all.end(), own.begin(), own.end());
    std::copy(all.end() - static_cast<std::ptrdiff_t>(kept), all.end(),
              before.begin() + static_cast<std::ptrdiff_t>(word * kept));
    for (std::size_t t = 0; t < rows.length(word); ++t) {
      auto out = array(y, (rows.first[word] + t) * width, width);
      out.setZero();
      for (std::size_t j = 0; j < count; ++j)
        out += array(taps, j * width, width) * array(std::span<const Real>(all), (t + count - 1 - j) * width, width);
    }
  }
}

template <class Real>
void TokenLayers<Real>::convolve_adjoint(const TokenRows& rows, std::span<const Real> x, std::span<const Real> taps,
                                         std::size_t width, std::span<const Real> by_y, std::span<Real> by_x,
                                         std::span<Real> by_taps) {
  const std::size_t count = taps.size() / width;
  for (std::size_t word = 0; word < rows.words(); ++word)
    for (std::size_t t = 0; t < rows.length(word); ++t) {
      const std::size_t row = rows.first[word] + t;
      const auto by = array(by_y, row * width, width);
      for (std::size_t j = 0; j < count && j <= t; ++j) {
        array(by_x, (row - j) * width, width) += array(taps, j * width, width) * by;
        array(by_taps, j * width, width) += array(x, (row - j) * width, width) * by;
      }
    }
}

template struct TokenLayers<float>;
template struct TokenLayers<double>;

}  // namespace krohn
