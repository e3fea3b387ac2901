#include "krohn/simulate/models/stock/stock_layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <utility>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

constexpr std::string_view kStock = "stock-";

/// Numbers: inner (e), states (n), rank (of δ), taps; and the flags bias (of W_in and W_out) and conv-bias.
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

/// Numbers: heads, per-head (p), states (n), groups, taps, eps (of the norm); and the flags bias and conv-bias.
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

/// Numbers: heads, keys and values (of a head), reflections (a token), taps (0: no convolutions), eps (of the output's
/// norm); and the flags decay (α), gate (W_g), negative (β up to 2), plain-keys (no silu on q and k), and one-conv (one
/// tensor conv1d for q, k and v).
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

/// Numbers: heads, keys and values (of a head), rank (of W₁), normaliser (the 16), eps (of the norm).
std::vector<StockTensor> gla_tensors(const StockShape& shape) {
  const std::uint64_t width = shape.width, keys = shape.count("heads") * shape.count("keys"),
                      values = shape.count("heads") * shape.count("values"), rank = shape.count("rank");
  return {{"q_proj.weight", {keys, width}},    {"k_proj.weight", {keys, width}},
          {"v_proj.weight", {values, width}},  {"g_proj.weight", {values, width}},
          {"gk_proj.0.weight", {rank, width}}, {"gk_proj.1.weight", {keys, rank}},
          {"gk_proj.1.bias", {keys}},          {"g_norm_swish_gate.weight", {shape.count("values")}},
          {"o_proj.weight", {width, values}}};
}

/// Numbers: heads, keys and values (of a head), cap (0: none), eps (ε), head-eps (of the layer norm).
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

/// Numbers: heads, taps (0: no convolution), head-eps; and the flag cuda, of the layout in which the package's backend
/// of that name keeps R and b.
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
           shape.count("cuda") != 0 ? Shape{heads, size, 4 * size} : Shape{heads, 4 * size, size}},
          {"slstm_cell._bias_", {4 * width}},
          {"group_norm.weight", {width}}};
}

/// Numbers: heads; those that share q, k, v, f and W; keys and values (of a head), taps (0: no convolution), eps; and
/// the flags bias, conv-bias and skip (D).
std::vector<StockTensor> m2rnn_tensors(const StockShape& shape) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), values = shape.count("values"),
                      taps = shape.count("taps"),
                      wide = (shape.count("q-heads") + shape.count("k-heads")) * shape.count("keys") +
                             shape.count("v-heads") * values,
                      rows = wide + shape.count("f-heads") + heads * values;
  return {{"input_projection.weight", {rows, width}},
          {"input_projection.bias", {rows * shape.count("bias")}},
          {"conv1d.weight", {wide, 1, taps}},
          {"conv1d.bias", {wide * shape.count("conv-bias")}},
          {"decay_gate.A_log", {heads}},
          {"decay_gate.dt_bias", {heads}},
          {"state_weight", {shape.count("w-heads"), values, values}},
          {"D", {heads * shape.count("skip"), values}},
          {"g_norm.weight", {heads * values}},
          {"output_projection.weight", {width, heads * values}}};
}

/// Numbers: heads, keys and values (of a head), decay-rank, rate-rank and gate-rank (of w, a and g), eps (of the norm).
std::vector<StockTensor> rwkv7_tensors(const StockShape& shape) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), size = shape.count("keys"),
                      keys = heads * size, values = heads * shape.count("values"), decay = shape.count("decay-rank"),
                      rate = shape.count("rate-rank"), gate = shape.count("gate-rank");
  std::vector<StockTensor> tensors;
  for (const char* name : {"x_r", "x_w", "x_k", "x_v", "x_a", "x_g"}) tensors.push_back({name, {1, 1, width}});
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

/// PyTorch's RNN, GRU and LSTM. Number: hidden, of each layer its own.
std::vector<StockTensor> cell_tensors(const StockShape& shape) {
  const std::uint64_t hidden = shape.count("hidden"), rows = cell_of(shape)->gates * hidden;
  return {{"weight_ih", {rows, shape.width}}, {"weight_hh", {rows, hidden}}, {"bias_ih", {rows}}, {"bias_hh", {rows}}};
}

}  // namespace

const Cell* cell_of(const StockShape& shape) { return find_cell(std::string_view(shape.kind).substr(kStock.size())); }

double StockShape::number(std::string_view name) const {
  const auto found = numbers.find(name);
  assert(found != numbers.end());
  return found->second;
}

const std::vector<StockKind>& stock_kinds() {
  constexpr auto kFlag = StockNumber::Type::kFlag, kReal = StockNumber::Type::kReal;
  static const std::vector<StockKind> kinds{
      {"stock-mamba",
       {{"inner", 1}, {"states", 1}, {"rank", 1}, {"taps", 1}, {"bias", 0, kFlag}, {"conv-bias", 0, kFlag}},
       mamba_tensors},
      {"stock-mamba2",
       {{"heads", 1},
        {"per-head", 1},
        {"states", 1},
        {"groups", 1},
        {"taps", 1},
        {"bias", 0, kFlag},
        {"conv-bias", 0, kFlag},
        {"eps", 1e-5, kReal}},
       mamba2_tensors},
      {"stock-delta",
       {{"heads", 1},
        {"keys", 1},
        {"values", 1},
        {"reflections", 1},
        {"taps", 0},
        {"decay", 0, kFlag},
        {"gate", 0, kFlag},
        {"negative", 0, kFlag},
        {"plain-keys", 0, kFlag},
        {"one-conv", 0, kFlag},
        {"eps", 1e-5, kReal}},
       delta_tensors},
      {"stock-gla",
       {{"heads", 1}, {"keys", 1}, {"values", 1}, {"rank", 1}, {"normaliser", 16, kReal}, {"eps", 1e-5, kReal}},
       gla_tensors},
      {"stock-mlstm",
       {{"heads", 1}, {"keys", 1}, {"values", 1}, {"cap", 0, kReal}, {"eps", 1e-6, kReal}, {"head-eps", 1e-6, kReal}},
       mlstm_tensors},
      {"stock-slstm", {{"heads", 1}, {"taps", 0}, {"cuda", 0, kFlag}, {"head-eps", 1e-5, kReal}}, slstm_tensors},
      {"stock-rwkv7",
       {{"heads", 1},
        {"keys", 1},
        {"values", 1},
        {"decay-rank", 1},
        {"rate-rank", 1},
        {"gate-rank", 1},
        {"eps", 64e-5, kReal}},
       rwkv7_tensors},
      {"stock-m2rnn",
       {{"heads", 1},
        {"q-heads", 1},
        {"k-heads", 1},
        {"v-heads", 1},
        {"f-heads", 1},
        {"w-heads", 1},
        {"keys", 1},
        {"values", 1},
        {"taps", 0},
        {"bias", 0, kFlag},
        {"conv-bias", 0, kFlag},
        {"skip", 0, kFlag},
        {"eps", 1e-5, kReal}},
       m2rnn_tensors},
      {"stock-rnn", {}, cell_tensors},
      {"stock-rnn-relu", {}, cell_tensors},
      {"stock-gru", {}, cell_tensors},
      {"stock-lstm", {}, cell_tensors}};
  return kinds;
}

const StockKind* find_stock_kind(std::string_view name) {
  const auto found = std::ranges::find(stock_kinds(), name, &StockKind::name);
  return found == stock_kinds().end() ? nullptr : &*found;
}

StockShape usual_stock_shape(const StockKind& kind) {
  StockShape shape;
  shape.kind = kind.name;
  for (const StockNumber& number : kind.numbers) shape.numbers.emplace(number.name, number.usual);
  return shape;
}

std::vector<StockStep> stock_steps(const StockShape& shape) {
  using enum StockStep::Kind;
  std::vector<StockStep> steps;
  std::uint32_t width = shape.width;
  const auto add = [&](StockStep::Kind kind, std::string name, std::uint32_t size) {
    steps.push_back({kind, std::move(name), std::exchange(width, size), size});
  };
  if (shape.forward.empty()) {
    const auto around = [&](StockStep::Kind kind, const std::string& name, const std::string& norm) {
      if (shape.residual) add(kInput, "", width), add(kRmsNorm, norm, width);
      add(kind, name, width);
      if (shape.residual) add(kAdd, "", width);
    };
    for (std::uint32_t i = 0; i < shape.layers; ++i) {
      const std::string layer = fmt::format("layers.{}.", i);
      around(kLayer, layer + "mixer.", layer + "norm.");
      if (shape.mlp > 0) around(kSwiGlu, layer + "mlp.", layer + "mlp.norm.");
    }
    if (shape.final_norm) add(kRmsNorm, "norm.", width);
    return steps;
  }
  const bool is_cell = cell_of(shape) != nullptr;
  std::vector<std::uint32_t> inputs;
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = shape.forward.find('/', at);
    const std::string part = shape.forward.substr(at, end - at), own = fmt::format("steps.{}.", steps.size());
    const std::string word = part.substr(0, part.find_last_not_of("0123456789") + 1);
    std::uint32_t size = 0;
    std::from_chars(part.data() + word.size(), part.data() + part.size(), size);
    const bool is_sized = size > 0 && size <= 1 << 16;
    if (part == "(") {
      inputs.push_back(width);
      add(kInput, "", width);
    } else if (part == ")" && !inputs.empty() && inputs.back() == width) {
      inputs.pop_back();
      add(kAdd, "", width);
    } else if (is_cell ? word == "layer-" && is_sized : part == "layer") {
      add(kLayer, own, is_cell ? size : width);
    } else if (word == "linear-" && is_sized) {
      add(kLinear, own, size);
    } else if (part == "layer-norm" || part == "rms-norm") {
      add(part == "rms-norm" ? kRmsNorm : kLayerNorm, own, width);
    } else if (std::ranges::count(kStockFunctions, part) > 0) {
      add(kFunction, part, width);
    } else {
      throw InputError(fmt::format(
          "model part \"{}\" of \"{}\", to which {} come: there are {}, linear-ROWS, layer-norm, rms-norm, {}, and "
          "between ( and ) what gives as many numbers as it takes",
          part, shape.forward, counted(width, "number"), is_cell ? "layer-UNITS" : "layer",
          fmt::join(kStockFunctions, ", ")));
    }
  }
  if (!inputs.empty()) throw InputError(fmt::format("model part \"{}\": a \")\" is missing", shape.forward));
  return steps;
}

std::vector<StockTensor> stock_tensors(const StockShape& shape, std::uint64_t letters, std::uint64_t labels) {
  using enum StockStep::Kind;
  std::vector<StockTensor> all{{"embedding.weight", {letters, shape.width}}};
  std::uint64_t width = shape.width;
  const std::uint64_t mlp = shape.mlp;
  for (const StockStep& step : stock_steps(shape)) {
    width = step.size;
    if (step.kind == kLayer) {
      StockShape own = shape;
      own.width = step.taken;
      own.numbers["hidden"] = step.size;
      for (StockTensor& tensor : find_stock_kind(shape.kind)->tensors(own))
        all.push_back({step.name + tensor.name, std::move(tensor.shape)});
    } else if (step.kind == kSwiGlu) {
      all.push_back({step.name + "gate.weight", {mlp, width}});
      all.push_back({step.name + "up.weight", {mlp, width}});
      all.push_back({step.name + "down.weight", {width, mlp}});
    } else if (step.kind == kLinear || step.kind == kLayerNorm || step.kind == kRmsNorm) {
      all.push_back({step.name + "weight", step.kind == kLinear ? Shape{width, step.taken} : Shape{width}});
      if (step.kind != kRmsNorm) all.push_back({step.name + "bias", {width}});
    }
  }
  all.push_back({"head.weight", {labels, width}});
  all.push_back({"head.bias", {labels}});
  return all;
}

}  // namespace krohn
