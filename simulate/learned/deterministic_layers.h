// simulate/learned/deterministic_layers.h — what plain models do with one token: loops whose sums run from the first
// term to the last, every operation rounded by itself (simulate/learned/deterministic_model.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "krohn/constructions/files/tensor_values.h"
#include "krohn/groups/stated_functions.h"

namespace krohn {

/// The numbers of a tensor, which may be absent when it is empty, as Real.
template <class Real>
std::vector<Real> plain_numbers(const TensorFile& file, const std::string& name) {
  TensorReader reader(file);
  if (!reader.has(name)) return {};
  const std::vector<float> values = reader.values<float>(name, reader.shape(name));
  return {values.begin(), values.end()};
}

/// Functions that round once, of what stated operations give in double.
template <class Real>
Real plain_exp(Real x) {
  return static_cast<Real>(stated::exp(static_cast<double>(x)));
}
template <class Real>
Real plain_sigmoid(Real x) {
  return Real{1} / (Real{1} + plain_exp(-x));
}
template <class Real>
Real plain_silu(Real x) {
  return x * plain_sigmoid(x);
}

/// y += x W, W with a row an input.
template <class Real>
void add_plain_product(std::span<const Real> x, const std::vector<Real>& weights, std::span<Real> y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real* const row = weights.data() + i * y.size();
    for (std::size_t j = 0; j < y.size(); ++j) y[j] += x[i] * row[j];
  }
}

template <class Real>
std::vector<Real> plain_product(std::span<const Real> x, const std::vector<Real>& weights) {
  std::vector<Real> y(weights.size() / x.size(), 0);
  add_plain_product<Real>(x, weights, y);
  return y;
}

/// gain ∘ x / √(mean x² + 10⁻⁵), for every `gain.size()` numbers.
template <class Real>
void plain_rms_norm(std::span<Real> x, const std::vector<Real>& gain) {
  const std::size_t width = gain.size();
  for (std::size_t first = 0; first < x.size(); first += width) {
    Real sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum += x[first + i] * x[first + i];
    Real norm = std::sqrt(sum / static_cast<Real>(width) + Real(1e-5));
    if (sum > std::numeric_limits<Real>::max()) {  // the squares overflow: divided by the greatest number first
      Real greatest = 0;
      sum = 0;
      for (std::size_t i = 0; i < width; ++i) greatest = std::max(greatest, std::abs(x[first + i]));
      for (std::size_t i = 0; i < width; ++i) sum += x[first + i] / greatest * (x[first + i] / greatest);
      norm = std::sqrt(sum / static_cast<Real>(width)) * greatest;
    }
    for (std::size_t i = 0; i < width; ++i) x[first + i] = x[first + i] * gain[i] / norm;
  }
}

/// x / √(Σ x² + 10⁻⁶), for every `width` numbers.
template <class Real>
void plain_unit_norm(std::span<Real> x, std::size_t width) {
  for (std::size_t first = 0; first < x.size(); first += width) {
    Real sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum += x[first + i] * x[first + i];
    const Real norm = std::sqrt(sum + Real(1e-6));
    for (std::size_t i = 0; i < width; ++i) x[first + i] = x[first + i] / norm;
  }
}

/// Σ_j taps(j) ∘ x_{t−j}; `before` are the rows before x, the oldest first, and takes x in.
template <class Real>
std::vector<Real> plain_convolution(std::span<const Real> x, const std::vector<Real>& taps, std::span<Real> before) {
  const std::size_t width = x.size(), count = taps.size() / width;
  std::vector<Real> y(width, 0);
  for (std::size_t j = 0; j < count; ++j) {
    const Real* const row = j == 0 ? x.data() : before.data() + (count - 1 - j) * width;
    for (std::size_t i = 0; i < width; ++i) y[i] += taps[j * width + i] * row[i];
  }
  if (count > 1) {
    for (std::size_t i = 0; i + width < before.size(); ++i) before[i] = before[i + width];
    for (std::size_t i = 0; i < width; ++i) before[before.size() - width + i] = x[i];
  }
  return y;
}

/// The convolution of a row that stands behind copies of itself.
template <class Real>
std::vector<Real> plain_steady(std::span<const Real> x, const std::vector<Real>& taps) {
  std::vector<Real> before;
  for (std::size_t i = x.size(); i < taps.size(); i += x.size()) before.insert(before.end(), x.begin(), x.end());
  return plain_convolution<Real>(x, taps, before);
}

}  // namespace krohn
