#include "krohn/simulate/models/stock/slstm_layer.h"

#include "krohn/simulate/models/stock/stock_arithmetic.h"

namespace krohn {
namespace {

constexpr std::size_t kGates = 4;

template <class Real>
class SlstmLayer : public StockLayer<Real> {
 public:
  SlstmLayer(const StockShape& shape, StockTensors<Real> tensors)
      : width_(shape.width),
        heads_(shape.count("heads")),
        head_epsilon_(shape.number("head-eps")),
        convolution_(tensors.numbers("conv1d.conv.weight"), width_, tensors.numbers("conv1d.conv.bias")),
        is_convolved_(shape.count("taps") != 0),
        gain_(tensors.numbers("group_norm.weight")) {
    const std::size_t size = width_ / heads_;
    const std::vector<Real> kernel = tensors.numbers("slstm_cell._recurrent_kernel_"),
                            bias = tensors.numbers("slstm_cell._bias_");
    const bool is_cuda = shape.count("cuda") != 0;
    for (const char* name : {"fgate.weight", "igate.weight", "zgate.weight", "ogate.weight"}) {
      const std::vector<Real> blocks = tensors.numbers(name);
      for (std::size_t head = 0; head < heads_; ++head)
        input_.emplace_back(part(blocks, head * size * size, size * size), size);
    }
    for (std::size_t gate = 0; gate < kGates; ++gate)
      for (std::size_t unit = 0; unit < width_; ++unit) {
        const std::size_t head = unit / size, own = unit % size;
        bias_.push_back(bias[is_cuda ? (head * kGates + gate) * size + own : gate * width_ + unit]);
      }
    for (std::size_t gate = 0; gate < kGates; ++gate)
      for (std::size_t head = 0; head < heads_; ++head) {
        std::vector<Real> rows;
        for (std::size_t to = 0; to < size; ++to)
          for (std::size_t from = 0; from < size; ++from)
            rows.push_back(kernel[is_cuda ? ((head * size + from) * kGates + gate) * size + to
                                          : ((head * kGates + gate) * size + to) * size + from]);
        state_.emplace_back(rows, size);
      }
    for (Real& gain : gain_) gain = Real{1} + gain;
  }

  /// y, c, n and m.
  std::size_t recurrent() const override { return 4 * width_; }
  std::size_t memory() const override { return recurrent() + convolution_.memory(); }

  void read(std::span<const Real> x, std::span<Real> memory, std::span<Real> y) const override {
    std::vector<Real> u(x.begin(), x.end());
    if (is_convolved_) {
      convolution_(u, memory.subspan(recurrent()));
      for (Real& each : u) each = stock_silu(each);
    }
    std::vector<Real> gates(kGates * width_), own(kGates * width_);
    for (std::size_t gate = 0; gate < kGates; ++gate) {
      blocks(input_, gate, gate < 2 ? std::span<const Real>(u) : x, gates);
      blocks(state_, gate, memory.first(width_), own);
    }
    for (std::size_t i = 0; i < gates.size(); ++i) gates[i] = gates[i] + own[i] + bias_[i];
    for (std::size_t unit = 0; unit < width_; ++unit)
      step(gates[unit], gates[width_ + unit], gates[2 * width_ + unit], gates[3 * width_ + unit], memory[unit],
           memory[width_ + unit], memory[2 * width_ + unit], memory[3 * width_ + unit]);
    std::copy_n(memory.begin(), width_, y.begin());
    stock_layer_norm<Real>(y, gain_, width_ / heads_, head_epsilon_);
  }

 private:
  static std::vector<Real> part(const std::vector<Real>& all, std::size_t first, std::size_t count) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

  /// Of one gate, head by head.
  void blocks(const std::vector<StockLinear<Real>>& weights, std::size_t gate, std::span<const Real> x,
              std::span<Real> gates) const {
    const std::size_t size = width_ / heads_;
    for (std::size_t head = 0; head < heads_; ++head)
      weights[gate * heads_ + head](x.subspan(head * size, size), gates.subspan(gate * width_ + head * size, size));
  }

  static void step(Real i, Real f, Real z, Real o, Real& y, Real& c, Real& n, Real& m) {
    const Real older = m + stock_log_sigmoid(f), greatest = n == 0 ? i : std::max(i, older);
    const Real taken = std::min(stock_exp(i - greatest), Real{1}),
               kept = std::min(stock_exp(older - greatest), Real{1});
    const Real old_c = kept * c, old_n = kept * n;
    c = old_c + taken * cell_tanh(z);
    n = old_n + taken;
    y = cell_sigmoid(o) * c / n;
    m = greatest;
  }

  std::size_t width_, heads_;
  double head_epsilon_;
  StockConvolution<Real> convolution_;
  bool is_convolved_;
  std::vector<StockLinear<Real>> input_, state_;  ///< gate after gate, of each head after head
  std::vector<Real> bias_, gain_;
};

}  // namespace

std::vector<StockTensor> slstm_tensors(const StockShape& shape) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), size = width / heads,
                      taps = shape.count("taps");
  const Shape blocks{heads, size, size};
  return {{"conv1d.conv.weight", {width, 1, taps}},
          {"conv1d.conv.bias", {taps == 0 ? 0 : width}},
          {"fgate.weight", blocks},
          {"igate.weight", blocks},
          {"zgate.weight", blocks},
          {"ogate.weight", blocks},
          {"slstm_cell._recurrent_kernel_",
           shape.count("cuda") != 0 ? Shape{heads, size, kGates * size} : Shape{heads, kGates * size, size}},
          {"slstm_cell._bias_", {kGates * width}},
          {"group_norm.weight", {width}}};
}

template <class Real>
std::unique_ptr<StockLayer<Real>> slstm_layer(const StockShape& shape, const TensorFile& tensors,
                                              const std::string& prefix) {
  return std::make_unique<SlstmLayer<Real>>(shape, StockTensors<Real>(tensors, prefix));
}

template std::unique_ptr<StockLayer<float>> slstm_layer(const StockShape&, const TensorFile&, const std::string&);
template std::unique_ptr<StockLayer<double>> slstm_layer(const StockShape&, const TensorFile&, const std::string&);

}  // namespace krohn
