#include "krohn/simulate/models/stock/mamba2_layer.h"

#include "krohn/simulate/models/stock/stock_arithmetic.h"

namespace krohn {
namespace {

template <class Real>
class Mamba2Layer : public StockLayer<Real> {
 public:
  Mamba2Layer(const StockShape& shape, StockTensors<Real> tensors)
      : heads_(shape.count("heads")),
        size_(shape.count("per-head")),
        states_(shape.count("states")),
        groups_(shape.count("groups")),
        epsilon_(shape.number("eps")),
        in_(tensors, "in_proj", shape.width),
        out_(tensors, "out_proj", inner()),
        convolution_(tensors.numbers("conv1d.weight"), inner() + 2 * groups_ * states_, tensors.numbers("conv1d.bias")),
        rates_(tensors.numbers("A_log")),
        step_bias_(tensors.numbers("dt_bias")),
        skip_(tensors.numbers("D")),
        gain_(tensors.numbers("norm.weight")) {
    for (Real& rate : rates_) rate = -stock_exp(rate);
  }

  std::size_t recurrent() const override { return inner() * states_; }
  std::size_t memory() const override { return recurrent() + convolution_.memory(); }

  void read(std::span<const Real> x, std::span<Real> memory, std::span<Real> y) const override {
    std::vector<Real> rows = in_(x);
    const std::span<Real> all(rows), z = all.first(inner()), steps = all.last(heads_),
                                     convolved = all.subspan(inner(), inner() + 2 * groups_ * states_);
    convolution_(convolved, memory.subspan(recurrent()));
    for (Real& each : convolved) each = stock_silu(each);
    const std::span<const Real> u = convolved.first(inner());
    for (std::size_t h = 0; h < heads_; ++h) {
      const std::size_t group = h / (heads_ / groups_);
      const Real* const b = convolved.data() + inner() + group * states_;
      const Real* const c = b + groups_ * states_;
      const Real step = stock_softplus(steps[h] + step_bias_[h]), factor = stock_exp(step * rates_[h]);
      for (std::size_t p = h * size_; p < (h + 1) * size_; ++p) {
        Real sum = 0;
        for (std::size_t n = 0; n < states_; ++n) {
          Real& s = memory[p * states_ + n];
          const Real kept = s * factor;
          s = kept + step * b[n] * u[p];
          sum += s * c[n];
        }
        z[p] = (sum + u[p] * skip_[h]) * stock_silu(z[p]);
      }
    }
    stock_rms_norm<Real>(z, gain_, inner() / groups_, epsilon_);
    out_(z, y);
  }

 private:
  std::size_t inner() const { return heads_ * size_; }

  std::size_t heads_, size_, states_, groups_;
  double epsilon_;
  StockLinear<Real> in_, out_;
  StockConvolution<Real> convolution_;
  std::vector<Real> rates_, step_bias_, skip_, gain_;
};

}  // namespace

std::vector<StockTensor> mamba2_tensors(const StockShape& shape) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), inner = heads * shape.count("per-head"),
                      convolved = inner + 2 * shape.count("groups") * shape.count("states"), bias = shape.count("bias");
  return {{"in_proj.weight", {inner + convolved + heads, width}},
          {"in_proj.bias", {(inner + convolved + heads) * bias}},
          {"conv1d.weight", {convolved, 1, shape.count("taps")}},
          {"conv1d.bias", {convolved * shape.count("conv-bias")}},
          {"A_log", {heads}},
          {"dt_bias", {heads}},
          {"D", {heads}},
          {"norm.weight", {inner}},
          {"out_proj.weight", {width, inner}},
          {"out_proj.bias", {width * bias}}};
}

template <class Real>
std::unique_ptr<StockLayer<Real>> mamba2_layer(const StockShape& shape, const TensorFile& tensors,
                                               const std::string& prefix) {
  return std::make_unique<Mamba2Layer<Real>>(shape, StockTensors<Real>(tensors, prefix));
}

template std::unique_ptr<StockLayer<float>> mamba2_layer(const StockShape&, const TensorFile&, const std::string&);
template std::unique_ptr<StockLayer<double>> mamba2_layer(const StockShape&, const TensorFile&, const std::string&);

}  // namespace krohn
