#include "krohn/simulate/models/stock/rwkv7_layer.h"

#include "krohn/simulate/models/stock/stock_arithmetic.h"

namespace krohn {
namespace {

constexpr const char* kMixed[] = {"x_r", "x_w", "x_k", "x_v", "x_a", "x_g"};

template <class Real>
class Rwkv7Layer : public StockLayer<Real> {
 public:
  Rwkv7Layer(const StockShape& shape, StockTensors<Real> tensors)
      : width_(shape.width),
        heads_(shape.count("heads")),
        keys_(shape.count("keys")),
        values_(shape.count("values")),
        epsilon_(shape.number("eps")),
        receptance_(tensors, "r_proj", width_),
        key_(tensors, "k_proj", width_),
        value_(tensors, "v_proj", width_),
        out_(tensors, "o_proj", heads_ * values_),
        decay_first_(tensors, "w_lora.lora.0", width_),
        decay_(tensors, "w_lora.lora.2", shape.count("decay-rank")),
        rate_first_(tensors, "a_lora.lora.0", width_),
        rate_(tensors, "a_lora.lora.2", shape.count("rate-rank")),
        gate_first_(tensors, "g_lora.lora.0", width_),
        gate_(tensors, "g_lora.lora.2", shape.count("gate-rank")),
        removed_(tensors.numbers("k_k")),
        replaced_(tensors.numbers("k_a")),
        bonus_(tensors.numbers("r_k")),
        gain_(tensors.numbers("g_norm.weight")),
        bias_(tensors.numbers("g_norm.bias")) {
    for (const char* name : kMixed) shifts_.push_back(tensors.numbers(name));
  }

  std::size_t recurrent() const override { return heads_ * keys_ * values_; }
  std::size_t memory() const override { return recurrent() + width_; }

  void read(std::span<const Real> x, std::span<Real> memory, std::span<Real> y) const override {
    const std::span<Real> before = memory.subspan(recurrent());
    std::vector<std::vector<Real>> mixed(std::size(kMixed), std::vector<Real>(width_));
    for (std::size_t c = 0; c < mixed.size(); ++c)
      for (std::size_t i = 0; i < width_; ++i) mixed[c][i] = x[i] + (before[i] - x[i]) * shifts_[c][i];
    std::ranges::copy(x, before.begin());
    const std::vector<Real> r = receptance_(mixed[0]), v = value_(mixed[3]);
    std::vector<Real> k = key_(mixed[2]), low = decay_first_(mixed[1]), open = gate_first_(mixed[5]);
    for (Real& each : low) each = cell_tanh(each);
    for (Real& each : open) each = cell_sigmoid(each);
    std::vector<Real> decay = decay_(low), rate = rate_(rate_first_(mixed[4])), away(k.size());
    for (Real& each : decay) each = stock_exp(Real(-0.6065306597126334) * cell_sigmoid(each));
    for (Real& each : rate) each = cell_sigmoid(each);
    for (std::size_t i = 0; i < k.size(); ++i) away[i] = k[i] * removed_[i];
    normalise(away);
    for (std::size_t i = 0; i < k.size(); ++i) k[i] = k[i] + k[i] * (rate[i] - Real{1}) * replaced_[i];
    std::vector<Real> read(heads_ * values_, 0);
    for (std::size_t h = 0; h < heads_; ++h)
      step(h, decay, rate, away, k, v, r, memory, std::span(read).subspan(h * values_, values_));
    stock_layer_norm<Real>(read, gain_, values_, epsilon_);
    const std::vector<Real> gates = gate_(open);
    for (std::size_t h = 0; h < heads_; ++h) {
      Real bonus = 0;
      for (std::size_t i = h * keys_; i < (h + 1) * keys_; ++i) bonus += r[i] * k[i] * bonus_[i];
      for (std::size_t c = h * values_; c < (h + 1) * values_; ++c)
        read[c] = (read[c] + bias_[c] + bonus * v[c]) * gates[c];
    }
    out_(read, y);
  }

 private:
  void normalise(std::span<Real> rows) const {
    for (std::size_t first = 0; first < rows.size(); first += keys_) {
      Real sum = 0;
      for (std::size_t i = 0; i < keys_; ++i) sum += rows[first + i] * rows[first + i];
      const Real norm = std::max(std::sqrt(sum), Real(1e-12));
      for (std::size_t i = 0; i < keys_; ++i) rows[first + i] = rows[first + i] / norm;
    }
  }

  void step(std::size_t head, const std::vector<Real>& decay, const std::vector<Real>& rate,
            const std::vector<Real>& away, const std::vector<Real>& k, const std::vector<Real>& v,
            const std::vector<Real>& r, std::span<Real> memory, std::span<Real> read) const {
    const std::size_t first = head * keys_;
    for (std::size_t c = 0; c < values_; ++c) {
      Real seen = 0;
      for (std::size_t i = 0; i < keys_; ++i) seen += away[first + i] * memory[(first + i) * values_ + c];
      for (std::size_t i = first; i < first + keys_; ++i) {
        Real& s = memory[i * values_ + c];
        const Real kept = decay[i] * s, less = kept - away[i] * rate[i] * seen;
        s = less + k[i] * v[head * values_ + c];
        read[c] += s * r[i];
      }
    }
  }

  std::size_t width_, heads_, keys_, values_;
  double epsilon_;
  StockLinear<Real> receptance_, key_, value_, out_, decay_first_, decay_, rate_first_, rate_, gate_first_, gate_;
  std::vector<Real> removed_, replaced_, bonus_, gain_, bias_;
  std::vector<std::vector<Real>> shifts_;
};

}  // namespace

std::vector<StockTensor> rwkv7_tensors(const StockShape& shape) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), size = shape.count("keys"),
                      keys = heads * size, values = heads * shape.count("values"), decay = shape.count("decay-rank"),
                      rate = shape.count("rate-rank"), gate = shape.count("gate-rank");
  std::vector<StockTensor> tensors;
  for (const char* name : kMixed) tensors.push_back({name, {1, 1, width}});
  const std::vector<StockTensor> others{{"k_k", {keys}},
                                        {"k_a", {keys}},
                                        {"r_k", {heads, size}},
                                        {"r_proj.weight", {keys, width}},
                                        {"k_proj.weight", {keys, width}},
                                        {"v_proj.weight", {values, width}},
                                        {"o_proj.weight", {width, values}},
                                        {"w_lora.lora.0.weight", {decay, width}},
                                        {"w_lora.lora.2.weight", {keys, decay}},
                                        {"w_lora.lora.2.bias", {keys}},
                                        {"a_lora.lora.0.weight", {rate, width}},
                                        {"a_lora.lora.2.weight", {keys, rate}},
                                        {"a_lora.lora.2.bias", {keys}},
                                        {"g_lora.lora.0.weight", {gate, width}},
                                        {"g_lora.lora.2.weight", {values, gate}},
                                        {"g_norm.weight", {values}},
                                        {"g_norm.bias", {values}}};
  tensors.insert(tensors.end(), others.begin(), others.end());
  return tensors;
}

template <class Real>
std::unique_ptr<StockLayer<Real>> rwkv7_layer(const StockShape& shape, const TensorFile& tensors,
                                              const std::string& prefix) {
  return std::make_unique<Rwkv7Layer<Real>>(shape, StockTensors<Real>(tensors, prefix));
}

template std::unique_ptr<StockLayer<float>> rwkv7_layer(const StockShape&, const TensorFile&, const std::string&);
template std::unique_ptr<StockLayer<double>> rwkv7_layer(const StockShape&, const TensorFile&, const std::string&);

}  // namespace krohn
