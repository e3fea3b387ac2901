#include "krohn/simulate/models/stock/mamba_layer.h"

#include "krohn/simulate/models/stock/stock_arithmetic.h"

namespace krohn {
namespace {

template <class Real>
class MambaLayer : public StockLayer<Real> {
 public:
  MambaLayer(const StockShape& shape, StockTensors<Real> tensors)
      : inner_(shape.count("inner")),
        states_(shape.count("states")),
        rank_(shape.count("rank")),
        in_(tensors, "in_proj", shape.width),
        select_(tensors, "x_proj", inner_),
        step_(tensors, "dt_proj", rank_),
        out_(tensors, "out_proj", inner_),
        convolution_(tensors.numbers("conv1d.weight"), inner_, tensors.numbers("conv1d.bias")),
        rates_(tensors.numbers("A_log")),
        skip_(tensors.numbers("D")) {
    for (Real& rate : rates_) rate = -stock_exp(rate);
  }

  std::size_t recurrent() const override { return inner_ * states_; }
  std::size_t memory() const override { return recurrent() + convolution_.memory(); }

  void read(std::span<const Real> x, std::span<Real> memory, std::span<Real> y) const override {
    std::vector<Real> both = in_(x);
    const std::span<Real> u = std::span(both).first(inner_), z = std::span(both).last(inner_);
    convolution_(u, memory.subspan(recurrent()));
    for (Real& each : u) each = stock_silu(each);
    const std::vector<Real> selected = select_(u);
    const std::span<const Real> delta = std::span(selected).first(rank_),
                                b = std::span(selected).subspan(rank_, states_), c = std::span(selected).last(states_);
    const std::vector<Real> steps = step_(delta);
    for (std::size_t e = 0; e < inner_; ++e) {
      const Real step = stock_softplus(steps[e]);
      Real sum = 0;
      for (std::size_t n = 0; n < states_; ++n) {
        Real& h = memory[e * states_ + n];
        const Real kept = stock_exp(step * rates_[e * states_ + n]) * h;
        h = kept + step * b[n] * u[e];
        sum += h * c[n];
      }
      z[e] = (sum + skip_[e] * u[e]) * stock_silu(z[e]);
    }
    out_(z, y);
  }

 private:
  std::size_t inner_, states_, rank_;
  StockLinear<Real> in_, select_, step_, out_;
  StockConvolution<Real> convolution_;
  std::vector<Real> rates_, skip_;
};

}  // namespace

std::vector<StockTensor> mamba_tensors(const StockShape& shape) {
  const std::uint64_t width = shape.width, inner = shape.count("inner"), states = shape.count("states"),
                      rank = shape.count("rank"), taps = shape.count("taps"), bias = shape.count("bias");
  return {{"in_proj.weight", {2 * inner, width}},
          {"in_proj.bias", {2 * inner * bias}},
          {"conv1d.weight", {inner, 1, taps}},
          {"conv1d.bias", {inner * shape.count("conv-bias")}},
          {"x_proj.weight", {rank + 2 * states, inner}},
          {"dt_proj.weight", {inner, rank}},
          {"dt_proj.bias", {inner}},
          {"A_log", {inner, states}},
          {"D", {inner}},
          {"out_proj.weight", {width, inner}},
          {"out_proj.bias", {width * bias}}};
}

template <class Real>
std::unique_ptr<StockLayer<Real>> mamba_layer(const StockShape& shape, const TensorFile& tensors,
                                              const std::string& prefix) {
  return std::make_unique<MambaLayer<Real>>(shape, StockTensors<Real>(tensors, prefix));
}

template std::unique_ptr<StockLayer<float>> mamba_layer(const StockShape&, const TensorFile&, const std::string&);
template std::unique_ptr<StockLayer<double>> mamba_layer(const StockShape&, const TensorFile&, const std::string&);

}  // namespace krohn
