#include "krohn/simulate/models/stock/delta_layer.h"

#include "krohn/simulate/models/stock/stock_arithmetic.h"

namespace krohn {
namespace {

template <class Real>
class DeltaLayer : public StockLayer<Real> {
 public:
  DeltaLayer(const StockShape& shape, StockTensors<Real> tensors)
      : heads_(shape.count("heads")),
        keys_(shape.count("keys")),
        values_(shape.count("values")),
        reflections_(shape.count("reflections")),
        epsilon_(shape.number("eps")),
        is_doubled_(shape.count("negative") != 0),
        has_plain_keys_(shape.count("plain-keys") != 0),
        query_(tensors, "q_proj", shape.width),
        key_(tensors, "k_proj", shape.width),
        value_(tensors, "v_proj", shape.width),
        beta_(tensors, "b_proj", shape.width),
        decay_(tensors, "a_proj", shape.width),
        gate_(tensors, "g_proj", shape.width),
        out_(tensors, "o_proj", heads_ * values_),
        convolution_(taps_of(shape, tensors), query_.outputs() + key_.outputs() + value_.outputs()),
        rates_(tensors.numbers("A_log")),
        step_bias_(tensors.numbers("dt_bias")),
        gain_(tensors.numbers("o_norm.weight")) {
    for (Real& rate : rates_) rate = -stock_exp(rate);
  }

  std::size_t recurrent() const override { return heads_ * keys_ * values_; }
  std::size_t memory() const override { return recurrent() + convolution_.memory(); }

  void read(std::span<const Real> x, std::span<Real> memory, std::span<Real> y) const override {
    std::vector<Real> rows(query_.outputs() + key_.outputs() + value_.outputs());
    const std::span<Real> all(rows), q = all.first(query_.outputs()), k = all.subspan(q.size(), key_.outputs()),
                                     v = all.last(value_.outputs());
    query_(x, q);
    key_(x, k);
    value_(x, v);
    convolution_(rows, memory.subspan(recurrent()));
    for (Real& each : has_plain_keys_ ? v : all) each = stock_silu(each);
    normalise(q);
    normalise(k);
    const Real root = std::sqrt(static_cast<Real>(keys_));
    for (Real& each : q) each = each / root;
    std::vector<Real> betas = beta_(x);
    for (Real& beta : betas) beta = is_doubled_ ? cell_sigmoid(beta) * Real{2} : cell_sigmoid(beta);
    std::vector<Real> decays = decay_.outputs() > 0 ? decay_(x) : std::vector<Real>();
    for (std::size_t h = 0; h < decays.size(); ++h)
      decays[h] = stock_exp(rates_[h] * stock_softplus(decays[h] + step_bias_[h]));
    std::vector<Real> read(heads_ * values_);
    for (std::size_t h = 0; h < heads_; ++h) {
      Real* const state = memory.data() + h * keys_ * values_;
      if (!decays.empty())
        for (std::size_t i = 0; i < keys_ * values_; ++i) state[i] = state[i] * decays[h];
      for (std::size_t at = h; at < reflections_ * heads_; at += heads_)
        reflect(state, k.data() + at * keys_, v.data() + at * values_, betas[at]);
      for (std::size_t c = 0; c < values_; ++c) {
        Real sum = 0;
        for (std::size_t i = 0; i < keys_; ++i) sum += state[i * values_ + c] * q[h * keys_ + i];
        read[h * values_ + c] = sum;
      }
    }
    stock_rms_norm<Real>(read, gain_, values_, epsilon_);
    if (gate_.outputs() > 0) {
      const std::vector<Real> gates = gate_(x);
      for (std::size_t i = 0; i < read.size(); ++i) read[i] = read[i] * stock_silu(gates[i]);
    }
    out_(read, y);
  }

 private:
  /// Of q, k and v one after another.
  static std::vector<Real> taps_of(const StockShape& shape, StockTensors<Real>& tensors) {
    if (shape.count("one-conv") != 0) return tensors.numbers("conv1d.weight");
    std::vector<Real> taps;
    for (const char* name : {"q_conv1d.weight", "k_conv1d.weight", "v_conv1d.weight"}) {
      const std::vector<Real> part = tensors.numbers(name);
      taps.insert(taps.end(), part.begin(), part.end());
    }
    return taps;
  }

  void normalise(std::span<Real> rows) const {
    for (std::size_t first = 0; first < rows.size(); first += keys_) {
      Real sum = 0;
      for (std::size_t i = 0; i < keys_; ++i) sum += rows[first + i] * rows[first + i];
      const Real scale = Real{1} / std::sqrt(sum + Real(1e-6));
      for (std::size_t i = 0; i < keys_; ++i) rows[first + i] = rows[first + i] * scale;
    }
  }

  void reflect(Real* state, const Real* k, const Real* v, Real beta) const {
    for (std::size_t c = 0; c < values_; ++c) {
      Real seen = 0;
      for (std::size_t i = 0; i < keys_; ++i) seen += state[i * values_ + c] * k[i];
      const Real update = (v[c] - seen) * beta;
      for (std::size_t i = 0; i < keys_; ++i) state[i * values_ + c] += k[i] * update;
    }
  }

  std::size_t heads_, keys_, values_, reflections_;
  double epsilon_;
  bool is_doubled_, has_plain_keys_;
  StockLinear<Real> query_, key_, value_, beta_, decay_, gate_, out_;
  StockConvolution<Real> convolution_;
  std::vector<Real> rates_, step_bias_, gain_;
};

}  // namespace

std::vector<StockTensor> delta_tensors(const StockShape& shape) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), times = shape.count("reflections"),
                      keys = heads * shape.count("keys"), values = heads * shape.count("values"),
                      taps = shape.count("taps"), decay = shape.count("decay"), all = shape.count("one-conv"),
                      each = 1 - all;
  return {{"q_proj.weight", {keys, width}},
          {"k_proj.weight", {times * keys, width}},
          {"v_proj.weight", {times * values, width}},
          {"b_proj.weight", {times * heads, width}},
          {"a_proj.weight", {heads * decay, width}},
          {"A_log", {heads * decay}},
          {"dt_bias", {heads * decay}},
          {"g_proj.weight", {values * shape.count("gate"), width}},
          {"q_conv1d.weight", {keys * each, 1, taps}},
          {"k_conv1d.weight", {times * keys * each, 1, taps}},
          {"v_conv1d.weight", {times * values * each, 1, taps}},
          {"conv1d.weight", {(keys + times * (keys + values)) * all, 1, taps}},
          {"o_norm.weight", {shape.count("values")}},
          {"o_proj.weight", {width, values}}};
}

template <class Real>
std::unique_ptr<StockLayer<Real>> delta_layer(const StockShape& shape, const TensorFile& tensors,
                                              const std::string& prefix) {
  return std::make_unique<DeltaLayer<Real>>(shape, StockTensors<Real>(tensors, prefix));
}

template std::unique_ptr<StockLayer<float>> delta_layer(const StockShape&, const TensorFile&, const std::string&);
template std::unique_ptr<StockLayer<double>> delta_layer(const StockShape&, const TensorFile&, const std::string&);

}  // namespace krohn
