#include "krohn/simulate/models/stock/mlstm_layer.h"

#include "krohn/simulate/models/stock/stock_arithmetic.h"

namespace krohn {
namespace {

template <class Real>
class MlstmLayer : public StockLayer<Real> {
 public:
  MlstmLayer(const StockShape& shape, StockTensors<Real> tensors)
      : heads_(shape.count("heads")),
        keys_(shape.count("keys")),
        values_(shape.count("values")),
        cap_(static_cast<Real>(shape.number("cap"))),
        epsilon_(static_cast<Real>(shape.number("eps"))),
        head_epsilon_(shape.number("head-eps")),
        query_(tensors, "q", shape.width),
        key_(tensors, "k", shape.width),
        value_(tensors, "v", shape.width),
        input_(tensors, "igate_preact", shape.width),
        forget_(tensors, "fgate_preact", shape.width),
        output_(tensors, "ogate_preact", shape.width),
        out_(tensors, "out_proj", heads_ * values_),
        gain_(tensors.numbers("multihead_norm.weight")) {}

  /// Of every head C, n and m.
  std::size_t recurrent() const override { return heads_ * kept(); }
  std::size_t memory() const override { return recurrent(); }

  void read(std::span<const Real> x, std::span<Real> memory, std::span<Real> y) const override {
    std::vector<Real> q = query_(x);
    const std::vector<Real> k = key_(x), v = value_(x), inputs = input_(x), forgets = forget_(x), outputs = output_(x);
    const Real scale = Real{1} / std::sqrt(static_cast<Real>(keys_));
    for (Real& each : q) each = each * scale;
    std::vector<Real> read(heads_ * values_);
    for (std::size_t h = 0; h < heads_; ++h)
      step({k.data() + h * keys_, keys_}, {v.data() + h * values_, values_}, {q.data() + h * keys_, keys_},
           capped(inputs[h]), capped(forgets[h]), memory.subspan(h * kept(), kept()),
           std::span(read).subspan(h * values_, values_));
    stock_layer_norm<Real>(read, gain_, values_, head_epsilon_);
    for (std::size_t i = 0; i < read.size(); ++i) read[i] = cell_sigmoid(outputs[i]) * read[i];
    out_(read, y);
  }

 private:
  std::size_t kept() const { return keys_ * values_ + keys_ + 1; }
  Real capped(Real gate) const { return cap_ == 0 ? gate : cap_ * cell_tanh(gate / cap_); }

  void step(std::span<const Real> k, std::span<const Real> v, std::span<const Real> q, Real input, Real forget,
            std::span<Real> memory, std::span<Real> read) const {
    Real& m = memory.back();
    const std::span<Real> c = memory.first(keys_ * values_), n = memory.subspan(keys_ * values_, keys_);
    const Real older = stock_log_sigmoid(forget) + m, greatest = std::max(older, input);
    const Real kept = stock_exp(older - greatest), taken = stock_exp(input - greatest);
    m = greatest;
    Real normaliser = 0;
    std::ranges::fill(read, Real{0});
    for (std::size_t a = 0; a < keys_; ++a) {
      for (std::size_t b = 0; b < values_; ++b) {
        Real& cell = c[a * values_ + b];
        const Real old = kept * cell;
        cell = old + taken * (k[a] * v[b]);
        read[b] += q[a] * cell;
      }
      const Real old = kept * n[a];
      n[a] = old + taken * k[a];
      normaliser += q[a] * n[a];
    }
    const Real divisor = std::max(std::abs(normaliser), stock_exp(-m)) + epsilon_;
    for (Real& each : read) each = each / divisor;
  }

  std::size_t heads_, keys_, values_;
  Real cap_, epsilon_;
  double head_epsilon_;
  StockLinear<Real> query_, key_, value_, input_, forget_, output_, out_;
  std::vector<Real> gain_;
};

}  // namespace

std::vector<StockTensor> mlstm_tensors(const StockShape& shape) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), keys = heads * shape.count("keys"),
                      values = heads * shape.count("values");
  return {{"q.weight", {keys, width}},
          {"k.weight", {keys, width}},
          {"v.weight", {values, width}},
          {"ogate_preact.weight", {values, width}},
          {"igate_preact.weight", {heads, width}},
          {"igate_preact.bias", {heads}},
          {"fgate_preact.weight", {heads, width}},
          {"fgate_preact.bias", {heads}},
          {"multihead_norm.weight", {values}},
          {"out_proj.weight", {width, values}}};
}

template <class Real>
std::unique_ptr<StockLayer<Real>> mlstm_layer(const StockShape& shape, const TensorFile& tensors,
                                              const std::string& prefix) {
  return std::make_unique<MlstmLayer<Real>>(shape, StockTensors<Real>(tensors, prefix));
}

template std::unique_ptr<StockLayer<float>> mlstm_layer(const StockShape&, const TensorFile&, const std::string&);
template std::unique_ptr<StockLayer<double>> mlstm_layer(const StockShape&, const TensorFile&, const std::string&);

}  // namespace krohn
