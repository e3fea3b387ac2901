// simulate/models/stock/stock_arithmetic.h — the arithmetic of the layers of other libraries: every product, sum,
// quotient and root rounded by itself, none fused, sums from the first term to the last. Functions are computed in
// double by stated operations (groups/stated_functions.h) and rounded once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/constructions/files/tensor_values.h"
#include "krohn/groups/stated_functions.h"
#include "krohn/simulate/models/cells/cell.h"

namespace krohn {

template <class Real>
Real stock_exp(Real x) {
  return rounded<Real>(stated::exp(static_cast<double>(x)));
}
/// log(1 + eˣ), x itself above 20, as torch has it.
template <class Real>
Real stock_softplus(Real x) {
  return x > Real{20} ? x : rounded<Real>(stated::log1p(stated::exp(static_cast<double>(x))));
}
/// log σ(x) = min(x, 0) − log(1 + e^−|x|).
template <class Real>
Real stock_log_sigmoid(Real x) {
  const auto wide = static_cast<double>(x);
  return rounded<Real>(std::min(wide, 0.0) - stated::log1p(stated::exp(-std::abs(wide))));
}
/// x σ(x): the sigmoid is rounded, and then the product.
template <class Real>
Real stock_silu(Real x) {
  return x * cell_sigmoid(x);
}

/// The tensors of one layer, read as Real. Throws InputError naming a tensor that is missing or of another shape.
template <class Real>
class StockTensors {
 public:
  StockTensors(const TensorFile& file, std::string prefix) : reader_(file), prefix_(std::move(prefix)) {}

  /// Row by row; nothing when the tensor is absent.
  std::vector<Real> numbers(const std::string& name) {
    if (!reader_.has(prefix_ + name)) return {};
    const std::vector<float> values = reader_.values<float>(prefix_ + name, reader_.shape(prefix_ + name));
    return {values.begin(), values.end()};
  }

 private:
  TensorReader reader_;
  std::string prefix_;
};

/// y = b + W x: from the bias on (0 where there is none), then from the first input to the last.
template <class Real>
class StockLinear {
 public:
  StockLinear() = default;
  /// PREFIX.weight, a row an output, and PREFIX.bias, which may be absent.
  StockLinear(StockTensors<Real>& tensors, const std::string& prefix, std::size_t inputs)
      : StockLinear(tensors.numbers(prefix + ".weight"), inputs, tensors.numbers(prefix + ".bias")) {}
  StockLinear(const std::vector<Real>& rows, std::size_t inputs, std::vector<Real> bias = {})
      : inputs_(inputs), outputs_(rows.size() / inputs), weights_(rows.size()), bias_(std::move(bias)) {
    for (std::size_t i = 0; i < outputs_; ++i)
      for (std::size_t j = 0; j < inputs_; ++j) weights_[j * outputs_ + i] = rows[i * inputs_ + j];
  }

  std::size_t outputs() const { return outputs_; }

  std::vector<Real> operator()(std::span<const Real> x) const {
    std::vector<Real> y(outputs_);
    (*this)(x, y);
    return y;
  }
  void operator()(std::span<const Real> x, std::span<Real> y) const {
    for (std::size_t j = 0; j < outputs_; ++j) y[j] = bias_.empty() ? Real{0} : bias_[j];
    for (std::size_t i = 0; i < inputs_; ++i) {
      const Real* const row = weights_.data() + i * outputs_;
      for (std::size_t j = 0; j < outputs_; ++j) y[j] += row[j] * x[i];
    }
  }

 private:
  std::size_t inputs_ = 0, outputs_ = 0;
  std::vector<Real> weights_, bias_;  ///< a row an input
};

/// (x · 1/√(mean x² + ε)) · gain, for every `gain.size()` numbers of x.
template <class Real>
void stock_rms_norm(std::span<Real> x, std::span<const Real> gain, std::size_t width, double epsilon) {
  for (std::size_t first = 0; first < x.size(); first += width) {
    Real sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum += x[first + i] * x[first + i];
    const Real scale = Real{1} / std::sqrt(sum / static_cast<Real>(width) + static_cast<Real>(epsilon));
    for (std::size_t i = 0; i < width; ++i) x[first + i] = x[first + i] * scale * gain[(first + i) % gain.size()];
  }
}

/// (x − mean) · 1/√(mean (x − mean)² + ε) · gain, for every `width` numbers of x.
template <class Real>
void stock_layer_norm(std::span<Real> x, std::span<const Real> gain, std::size_t width, double epsilon) {
  for (std::size_t first = 0; first < x.size(); first += width) {
    Real sum = 0, squares = 0;
    for (std::size_t i = 0; i < width; ++i) sum += x[first + i];
    const Real mean = sum / static_cast<Real>(width);
    for (std::size_t i = 0; i < width; ++i) x[first + i] = x[first + i] - mean;
    for (std::size_t i = 0; i < width; ++i) squares += x[first + i] * x[first + i];
    const Real scale = Real{1} / std::sqrt(squares / static_cast<Real>(width) + static_cast<Real>(epsilon));
    for (std::size_t i = 0; i < width; ++i) x[first + i] = x[first + i] * scale * gain[first + i];
  }
}

/// A causal convolution of every channel by itself: Σ over taps, the oldest token first, from the bias on. Taps in
/// front that are 0 for all channels are left out, and the tokens that only they look at are not remembered: zero times
/// them adds nothing.
template <class Real>
class StockConvolution {
 public:
  StockConvolution() = default;
  /// `taps`: [channels, 1, count]; none: every token alone, as it is.
  StockConvolution(const std::vector<Real>& taps, std::size_t channels, std::vector<Real> bias = {})
      : channels_(channels), bias_(std::move(bias)) {
    const std::size_t count = taps.size() / channels;
    std::size_t first = count == 0 ? 0 : count - 1;
    for (std::size_t i = 0; i < taps.size(); ++i)
      if (taps[i] != 0) first = std::min(first, i % count);
    for (std::size_t tap = first; tap < count; ++tap)
      for (std::size_t channel = 0; channel < channels; ++channel) taps_.push_back(taps[channel * count + tap]);
  }

  std::size_t memory() const { return taps_.empty() ? 0 : taps_.size() - channels_; }

  /// x becomes the convolution, and moves into `before`, the tokens before it, the oldest first.
  void operator()(std::span<Real> x, std::span<Real> before) const {
    if (taps_.empty()) return;
    const std::size_t count = taps_.size() / channels_;
    std::vector<Real> sum(channels_, 0);
    if (!bias_.empty()) std::ranges::copy(bias_, sum.begin());
    for (std::size_t tap = 0; tap < count; ++tap) {
      const Real* const token = tap + 1 == count ? x.data() : before.data() + tap * channels_;
      for (std::size_t i = 0; i < channels_; ++i) sum[i] += taps_[tap * channels_ + i] * token[i];
    }
    if (!before.empty()) {
      std::copy(before.begin() + static_cast<std::ptrdiff_t>(channels_), before.end(), before.begin());
      std::copy(x.begin(), x.end(), before.end() - static_cast<std::ptrdiff_t>(channels_));
    }
    std::ranges::copy(sum, x.begin());
  }

 private:
  std::size_t channels_ = 1;
  std::vector<Real> taps_, bias_;  ///< a row a tap
};

}  // namespace krohn
