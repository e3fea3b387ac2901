#include "krohn/simulate/models/stock/gla_layer.h"

#include "krohn/simulate/models/stock/stock_arithmetic.h"

namespace krohn {
namespace {

template <class Real>
class GlaLayer : public StockLayer<Real> {
 public:
  GlaLayer(const StockShape& shape, StockTensors<Real> tensors)
      : heads_(shape.count("heads")),
        keys_(shape.count("keys")),
        values_(shape.count("values")),
        normaliser_(static_cast<Real>(shape.number("normaliser"))),
        epsilon_(shape.number("eps")),
        query_(tensors, "q_proj", shape.width),
        key_(tensors, "k_proj", shape.width),
        value_(tensors, "v_proj", shape.width),
        gate_(tensors, "g_proj", shape.width),
        decay_first_(tensors, "gk_proj.0", shape.width),
        decay_(tensors, "gk_proj.1", shape.count("rank")),
        out_(tensors, "o_proj", heads_ * values_),
        gain_(tensors.numbers("g_norm_swish_gate.weight")) {}

  std::size_t recurrent() const override { return heads_ * keys_ * values_; }
  std::size_t memory() const override { return recurrent(); }

  void read(std::span<const Real> x, std::span<Real> memory, std::span<Real> y) const override {
    std::vector<Real> q = query_(x), decays = decay_(decay_first_(x));
    const std::vector<Real> k = key_(x), v = value_(x), gates = gate_(x);
    const Real scale = Real{1} / std::sqrt(static_cast<Real>(keys_));
    for (Real& each : q) each = each * scale;
    for (Real& decay : decays) decay = stock_exp(stock_log_sigmoid(decay) / normaliser_);
    std::vector<Real> read(heads_ * values_, 0);
    for (std::size_t i = 0; i < heads_ * keys_; ++i) {
      const std::size_t first = i / keys_ * values_;  // of the head's values
      for (std::size_t c = 0; c < values_; ++c) {
        Real& s = memory[i * values_ + c];
        const Real kept = s * decays[i];
        s = kept + k[i] * v[first + c];
        read[first + c] += s * q[i];
      }
    }
    stock_rms_norm<Real>(read, gain_, values_, epsilon_);
    for (std::size_t i = 0; i < read.size(); ++i) read[i] = read[i] * stock_silu(gates[i]);
    out_(read, y);
  }

 private:
  std::size_t heads_, keys_, values_;
  Real normaliser_;
  double epsilon_;
  StockLinear<Real> query_, key_, value_, gate_, decay_first_, decay_, out_;
  std::vector<Real> gain_;
};

}  // namespace

std::vector<StockTensor> gla_tensors(const StockShape& shape) {
  const std::uint64_t width = shape.width, keys = shape.count("heads") * shape.count("keys"),
                      values = shape.count("heads") * shape.count("values"), rank = shape.count("rank");
  return {{"q_proj.weight", {keys, width}},    {"k_proj.weight", {keys, width}},
          {"v_proj.weight", {values, width}},  {"g_proj.weight", {values, width}},
          {"gk_proj.0.weight", {rank, width}}, {"gk_proj.1.weight", {keys, rank}},
          {"gk_proj.1.bias", {keys}},          {"g_norm_swish_gate.weight", {shape.count("values")}},
          {"o_proj.weight", {width, values}}};
}

template <class Real>
std::unique_ptr<StockLayer<Real>> gla_layer(const StockShape& shape, const TensorFile& tensors,
                                            const std::string& prefix) {
  return std::make_unique<GlaLayer<Real>>(shape, StockTensors<Real>(tensors, prefix));
}

template std::unique_ptr<StockLayer<float>> gla_layer(const StockShape&, const TensorFile&, const std::string&);
template std::unique_ptr<StockLayer<double>> gla_layer(const StockShape&, const TensorFile&, const std::string&);

}  // namespace krohn
