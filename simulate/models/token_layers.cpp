#include "krohn/simulate/models/token_layers.h"

#include <Eigen/Core>
#include <algorithm>

#include "krohn/simulate/arithmetic/numbers.h"
#include "krohn/simulate/arithmetic/transposed.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"

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

/// Rows for which a matrix is not transposed: that takes as long as to multiply so many with it.
constexpr std::size_t kFewRows = 16;
/// Outputs that leave most of a vector empty, so that the gradient by weights is made the other way round.
constexpr std::size_t kFewOutputs = 8;

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
                                       std::span<const Real> by_y, std::span<Real> by_x, std::span<Real> by_weights,
                                       bool sets) {
  const std::size_t outputs = weights.size() / inputs, rows = x.size() / inputs;
  const auto& kernels = training_kernels<Real>();
  if (outputs <= kFewOutputs) {
    Numbers<Real> across = zeros<Real>(weights.size());
    kernels.add_product({outputs, inputs, rows, by_y.data(), 1, outputs, x.data(), inputs, across.data(), inputs});
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t j = 0; j < outputs; ++j) by_weights[i * outputs + j] += across[j * inputs + i];
  } else {
    kernels.add_product({inputs, outputs, rows, x.data(), 1, inputs, by_y.data(), outputs, by_weights.data(), outputs});
  }
  if (rows <= kFewRows) {
    if (sets) std::ranges::fill(by_x, Real{0});
    kernels.add_dots({rows, inputs, outputs, by_y.data(), outputs, weights.data(), outputs, by_x.data(), inputs, 1});
    return;
  }
  const Numbers<Real> back = transposed(weights, outputs);
  kernels.add_product({rows, inputs, outputs, by_y.data(), outputs, 1, back.data(), inputs, by_x.data(), inputs, sets});
}

template <class Real>
void TokenLayers<Real>::rms_norm(std::span<const Real> x, std::span<const Real> gain, std::span<Real> y) {
  training_kernels<Real>().rms_norm({x.size() / gain.size(), gain.size(), x.data()}, gain.data(), y.data());
}

template <class Real>
void TokenLayers<Real>::rms_norm_adjoint(std::span<const Real> x, std::span<const Real> gain,
                                         std::span<const Real> by_y, std::span<Real> by_x, std::span<Real> by_gain) {
  training_kernels<Real>().rms_norm_adjoint({x.size() / gain.size(), gain.size(), x.data()}, gain.data(), by_y.data(),
                                            by_x.data(), by_gain.data());
}

template <class Real>
void TokenLayers<Real>::unit_norm(std::span<const Real> x, std::size_t width, std::span<Real> y) {
  training_kernels<Real>().unit_norm({x.size() / width, width, x.data()}, y.data());
}

template <class Real>
void TokenLayers<Real>::unit_norm_adjoint(std::span<const Real> x, std::size_t width, std::span<const Real> by_y,
                                          std::span<Real> by_x) {
  training_kernels<Real>().unit_norm_adjoint({x.size() / width, width, x.data()}, by_y.data(), by_x.data());
}

template <class Real>
void TokenLayers<Real>::silu(std::span<const Real> x, std::span<Real> y) {
  training_kernels<Real>().silu(x.data(), x.size(), y.data());
}

template <class Real>
void TokenLayers<Real>::silu_adjoint(std::span<const Real> x, std::span<const Real> by_y, std::span<Real> by_x) {
  training_kernels<Real>().silu_adjoint(x.data(), x.size(), by_y.data(), by_x.data());
}

template <class Real>
void TokenLayers<Real>::softplus(std::span<const Real> x, std::span<Real> y) {
  training_kernels<Real>().softplus(x.data(), x.size(), y.data());
}

template <class Real>
void TokenLayers<Real>::softplus_adjoint(std::span<const Real> x, std::span<const Real> by_y, std::span<Real> by_x) {
  training_kernels<Real>().softplus_adjoint(x.data(), x.size(), by_y.data(), by_x.data());
}

template <class Real>
void TokenLayers<Real>::gate(std::span<const Real> x, std::size_t width, std::span<Real> y) {
  training_kernels<Real>().gate({x.size() / (2 * width), 2 * width, x.data()}, y.data());
}

template <class Real>
void TokenLayers<Real>::gate_adjoint(std::span<const Real> x, std::size_t width, std::span<const Real> by_y,
                                     std::span<Real> by_x) {
  training_kernels<Real>().gate_adjoint({x.size() / (2 * width), 2 * width, x.data()}, by_y.data(), by_x.data());
}

template <class Real>
void TokenLayers<Real>::convolve(const TokenRows& rows, std::span<const Real> x, std::span<const Real> taps,
                                 std::size_t width, std::span<Real> before, std::span<Real> y) {
  const std::size_t count = taps.size() / width, kept = (count - 1) * width;
  for (std::size_t word = 0; word < rows.words(); ++word) {
    // The word with what stands before it.
    Numbers<Real> all(before.begin() + static_cast<std::ptrdiff_t>(word * kept),
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
