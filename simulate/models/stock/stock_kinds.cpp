#include "krohn/simulate/models/stock/stock_layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/base/stated_functions.h"

namespace krohn {
namespace {

constexpr std::string_view kStock = "stock-";

FirstNumber constant(double x) {
  return [x](std::size_t, Random&) { return x; };
}
FirstNumber within(double bound) {
  return [bound](std::size_t, Random& random) { return bound * (2 * uniform(random) - 1); };
}
/// As torch.nn.Linear begins a bias.
FirstNumber bias_of(std::uint64_t inputs) { return within(1 / std::sqrt(static_cast<double>(inputs))); }
FirstNumber normal(double deviation) {
  return [deviation](std::size_t, Random& random) {
    double x = 0;
    fill_normal(std::span(&x, 1), random, deviation);
    return x;
  };
}
/// Normal, of the size that an orthogonal matrix has with so many rows and columns.
FirstNumber as_orthogonal(std::uint64_t rows, std::uint64_t columns, double gain = 1) {
  return normal(gain / std::sqrt(static_cast<double>(std::max(rows, columns))));
}
/// Nguyen & Salazar 2019.
FirstNumber small(std::uint64_t width) { return normal(std::sqrt(0.4 / static_cast<double>(width))); }
/// Logarithms of rates, uniform in (least, greatest].
FirstNumber rates(double least, double greatest) {
  return [=](std::size_t, Random& random) { return stated::log(greatest - (greatest - least) * uniform(random)); };
}
FirstNumber steps() {
  return [](std::size_t, Random& random) { return first_step(random); };
}

/// i/(count − 1), and 0 of one.
double share_of(std::uint64_t i, std::uint64_t count) {
  return count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0;
}
double share_of_depth(const StockShape& shape, std::uint32_t layer) { return share_of(layer, shape.layers); }

/// The number, `value` where it was not given.
std::size_t usually(StockShape& shape, std::string_view name, double value) {
  const auto [found, is_new] = shape.numbers.try_emplace(std::string(name), std::max(1.0, std::floor(value)));
  return static_cast<std::size_t>(found->second);
}
/// Heads whose keys and values are as long as the width together.
std::size_t usual_heads(StockShape& shape, double share_of_keys = 1) {
  const std::size_t heads = usually(shape, "heads", 2);
  const double each = static_cast<double>(shape.width) / static_cast<double>(heads);
  usually(shape, "keys", share_of_keys * each);
  usually(shape, "values", each);
  return heads;
}

/// Numbers: inner (e), states (n), rank (of δ), taps; and the flags bias (of W_in and W_out) and conv-bias.
std::vector<StockTensor> mamba_tensors(const StockShape& shape, std::uint32_t) {
  const std::uint64_t width = shape.width, inner = shape.count("inner"), states = shape.count("states"),
                      rank = shape.count("rank"), taps = shape.count("taps"), bias = shape.count("bias");
  return {{"in_proj.weight", {2 * inner, width}},
          {"in_proj.bias", {2 * inner * bias}, bias_of(width)},
          {"conv1d.weight", {inner, 1, taps}},
          {"conv1d.bias", {inner * shape.count("conv-bias")}, bias_of(taps)},
          {"x_proj.weight", {rank + 2 * states, inner}},
          {"dt_proj.weight", {inner, rank}},
          {"dt_proj.bias", {inner}, steps()},
          {"A_log",
           {inner, states},
           [states](std::size_t i, Random&) { return stated::log(static_cast<double>(i % states + 1)); }},
          {"D", {inner}, constant(1)},
          {"out_proj.weight", {width, inner}},
          {"out_proj.bias", {width * bias}, bias_of(inner)}};
}

/// Numbers: heads, per-head (p), states (n), groups, taps, eps (of the norm); and the flags bias and conv-bias.
std::vector<StockTensor> mamba2_tensors(const StockShape& shape, std::uint32_t) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), inner = heads * shape.count("per-head"),
                      convolved = inner + 2 * shape.count("groups") * shape.count("states"), bias = shape.count("bias");
  return {{"in_proj.weight", {inner + convolved + heads, width}},
          {"in_proj.bias", {(inner + convolved + heads) * bias}, bias_of(width)},
          {"conv1d.weight", {convolved, 1, shape.count("taps")}},
          {"conv1d.bias", {convolved * shape.count("conv-bias")}, bias_of(shape.count("taps"))},
          {"A_log", {heads}, rates(1, 16)},
          {"dt_bias", {heads}, steps()},
          {"D", {heads}, constant(1)},
          {"norm.weight", {inner}},
          {"out_proj.weight", {width, inner}},
          {"out_proj.bias", {width * bias}, bias_of(inner)}};
}

/// Numbers: heads, keys and values (of a head), reflections (a token), taps (0: no convolutions), eps (of the output's
/// norm); and the flags decay (α), gate (W_g), negative (β up to 2), plain-keys (no silu on q and k), and one-conv (one
/// tensor conv1d for q, k and v).
std::vector<StockTensor> delta_tensors(const StockShape& shape, std::uint32_t) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), times = shape.count("reflections"),
                      keys = heads * shape.count("keys"), values = heads * shape.count("values"),
                      taps = shape.count("taps"), decay = shape.count("decay"), all = shape.count("one-conv"),
                      each = 1 - all;
  return {{"q_proj.weight", {keys, width}},
          {"k_proj.weight", {times * keys, width}},
          {"v_proj.weight", {times * values, width}},
          {"b_proj.weight", {times * heads, width}},
          {"a_proj.weight", {heads * decay, width}},
          {"A_log", {heads * decay}, rates(0, 16)},
          {"dt_bias", {heads * decay}, steps()},
          {"g_proj.weight", {values * shape.count("gate"), width}},
          {"q_conv1d.weight", {keys * each, 1, taps}},
          {"k_conv1d.weight", {times * keys * each, 1, taps}},
          {"v_conv1d.weight", {times * values * each, 1, taps}},
          {"conv1d.weight", {(keys + times * (keys + values)) * all, 1, taps}},
          {"o_norm.weight", {shape.count("values")}},
          {"o_proj.weight", {width, values}}};
}

/// Numbers: heads, keys and values (of a head), rank (of W₁), normaliser (the 16), eps (of the norm).
std::vector<StockTensor> gla_tensors(const StockShape& shape, std::uint32_t) {
  const std::uint64_t width = shape.width, keys = shape.count("heads") * shape.count("keys"),
                      values = shape.count("heads") * shape.count("values"), rank = shape.count("rank");
  return {{"q_proj.weight", {keys, width}},          {"k_proj.weight", {keys, width}},
          {"v_proj.weight", {values, width}},        {"g_proj.weight", {values, width}},
          {"gk_proj.0.weight", {rank, width}},       {"gk_proj.1.weight", {keys, rank}},
          {"gk_proj.1.bias", {keys}, bias_of(rank)}, {"g_norm_swish_gate.weight", {shape.count("values")}},
          {"o_proj.weight", {width, values}}};
}

/// Numbers: heads, keys and values (of a head), cap (0: none), eps (ε), head-eps (of the layer norm).
std::vector<StockTensor> mlstm_tensors(const StockShape& shape, std::uint32_t) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), keys = heads * shape.count("keys"),
                      values = heads * shape.count("values");
  return {{"q.weight", {keys, width}, small(width)},
          {"k.weight", {keys, width}, small(width)},
          {"v.weight", {values, width}, small(width)},
          {"ogate_preact.weight", {values, width}, constant(0)},
          {"igate_preact.weight", {heads, width}, constant(0)},
          {"igate_preact.bias", {heads}, constant(-10)},
          {"fgate_preact.weight", {heads, width}, constant(0)},
          {"fgate_preact.bias",
           {heads},
           [last = std::max<double>(1, static_cast<double>(heads) - 1)](std::size_t i, Random&) {
             return 3 + 3 * static_cast<double>(i) / last;
           }},
          {"multihead_norm.weight", {values}},
          {"out_proj.weight", {width, values}, normal(2 / (shape.layers * std::sqrt(static_cast<double>(width))))}};
}

/// Numbers: heads, taps (0: no convolution), head-eps; and the flag cuda, of the layout in which the package's backend
/// of that name keeps R and b.
std::vector<StockTensor> slstm_tensors(const StockShape& shape, std::uint32_t layer) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), size = width / heads,
                      taps = shape.count("taps");
  const bool is_cuda = shape.count("cuda") != 0;
  const Shape blocks{heads, size, size};
  // Forget gates from 5 down to −7, a power law over the units of a head.
  const double slope = 0.3 + 1.3 * share_of_depth(shape, layer);
  const auto first_bias = [=](std::size_t i, Random&) {
    if ((is_cuda ? i / size % 4 : i / width) != 1) return 0.0;
    return 5 - 12 * stated::pow(share_of(i % size, size), slope);
  };
  return {{"conv1d.conv.weight", {width, 1, taps}},
          {"conv1d.conv.bias", {taps == 0 ? 0 : width}, bias_of(taps)},
          {"fgate.weight", blocks, small(size)},
          {"igate.weight", blocks, small(size)},
          {"zgate.weight", blocks, small(size)},
          {"ogate.weight", blocks, small(size)},
          {"slstm_cell._recurrent_kernel_", is_cuda ? Shape{heads, size, 4 * size} : Shape{heads, 4 * size, size},
           constant(0)},
          {"slstm_cell._bias_", {4 * width}, first_bias},
          {"group_norm.weight", {width}, constant(0)}};  // 1 is added to it
}

/// Numbers: heads; those that share q, k, v, f and W; keys and values (of a head), taps (0: no convolution), eps; and
/// the flags bias, conv-bias and skip (D).
std::vector<StockTensor> m2rnn_tensors(const StockShape& shape, std::uint32_t) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), values = shape.count("values"),
                      taps = shape.count("taps"),
                      wide = (shape.count("q-heads") + shape.count("k-heads")) * shape.count("keys") +
                             shape.count("v-heads") * values,
                      rows = wide + shape.count("f-heads") + heads * values;
  return {{"input_projection.weight", {rows, width}},
          {"input_projection.bias", {rows * shape.count("bias")}},
          {"conv1d.weight", {wide, 1, taps}},
          {"conv1d.bias", {wide * shape.count("conv-bias")}},
          {"decay_gate.A_log", {heads}, rates(0, 16)},
          {"decay_gate.dt_bias", {heads}, steps()},
          {"state_weight",
           {shape.count("w-heads"), values, values},
           [values](std::size_t i, Random&) { return i / values % values == i % values ? 1.0 : 0.0; }},
          {"D", {heads * shape.count("skip"), values}, constant(1)},
          {"g_norm.weight", {heads * values}},
          {"output_projection.weight", {width, heads * values}}};
}

/// Numbers: heads, keys and values (of a head), decay-rank, rate-rank and gate-rank (of w, a and g), eps (of the norm).
/// They begin as flash-linear-attention's RWKV7Attention does, but for orthogonal matrices.
std::vector<StockTensor> rwkv7_tensors(const StockShape& shape, std::uint32_t layer) {
  const std::uint64_t width = shape.width, heads = shape.count("heads"), size = shape.count("keys"),
                      keys = heads * size, values = heads * shape.count("values"), decay = shape.count("decay-rank"),
                      rate = shape.count("rate-rank"), gate = shape.count("gate-rank");
  const double above = 1 - static_cast<double>(layer) / shape.layers, depth = share_of_depth(shape, layer);
  const auto mixing = [&](double power) {
    return [=](std::size_t i, Random&) {
      return 1 - stated::pow(static_cast<double>(i) / static_cast<double>(width), power * above);
    };
  };
  const auto line = [keys](std::size_t i) { return share_of(i, keys) - 0.5; };
  const auto bend = [size](std::size_t i) {
    const double x = 2 * share_of(i % size, size) - 1;
    return x * std::abs(x);
  };
  const double curve = 1 + stated::pow(depth, 0.3);
  return {{"x_r", {1, 1, width}, mixing(0.2)},
          {"x_w", {1, 1, width}, mixing(0.9)},
          {"x_k", {1, 1, width}, mixing(0.7)},
          {"x_v", {1, 1, width}, mixing(0.7)},
          {"x_a", {1, 1, width}, mixing(0.9)},
          {"x_g", {1, 1, width}, mixing(0.2)},
          {"k_k", {keys}, [=](std::size_t i, Random&) { return 0.71 - 0.1 * line(i); }},
          {"k_a", {keys}, constant(1.02)},
          {"r_k", {heads, size}, constant(-0.04)},
          {"r_proj.weight", {keys, width}, as_orthogonal(keys, width)},
          {"k_proj.weight", {keys, width}, as_orthogonal(keys, width, 0.1)},
          {"v_proj.weight", {values, width}, as_orthogonal(values, width)},
          {"o_proj.weight", {width, values}, constant(0)},
          {"w_lora.lora.0.weight", {decay, width}, constant(0)},
          {"w_lora.lora.2.weight", {keys, decay}, as_orthogonal(keys, decay, 0.1)},
          {"w_lora.lora.2.bias",
           {keys},
           [=](std::size_t i, Random&) { return -5.5 + 6 * stated::pow(share_of(i, keys), curve) + 2.5 * bend(i); }},
          {"a_lora.lora.0.weight", {rate, width}, constant(0)},
          {"a_lora.lora.2.weight", {keys, rate}, as_orthogonal(keys, rate, 0.1)},
          {"a_lora.lora.2.bias", {keys}, [=](std::size_t i, Random&) { return -0.19 + 0.3 * bend(i) + 0.4 * line(i); }},
          {"g_lora.lora.0.weight", {gate, width}, constant(0)},
          {"g_lora.lora.2.weight", {values, gate}, as_orthogonal(values, gate, 0.1)},
          {"g_norm.weight", {values}, constant(stated::pow((layer + 1.0) / shape.layers, 0.7))},
          {"g_norm.bias", {values}}};
}

/// PyTorch's RNN, GRU and LSTM. Number: hidden, of each layer its own.
std::vector<StockTensor> cell_tensors(const StockShape& shape, std::uint32_t) {
  const std::uint64_t hidden = shape.count("hidden"), rows = cell_of(shape)->gates * hidden;
  const FirstNumber first = bias_of(hidden);
  return {{"weight_ih", {rows, shape.width}, first},
          {"weight_hh", {rows, hidden}, first},
          {"bias_ih", {rows}, first},
          {"bias_hh", {rows}, first}};
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
       mamba2_tensors,
       "scalar decays and a matrix of state a head, as state-spaces has them",
       "Dao & Gu 2024",
       [](StockShape& shape) {
         const std::size_t heads = usually(shape, "heads", 2);
         usually(shape, "per-head", 2.0 * shape.width / static_cast<double>(heads));
         usually(shape, "states", 16), usually(shape, "taps", 4), usually(shape, "conv-bias", 1);
       }},
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
       delta_tensors,
       "the delta rule as flash-linear-attention has it",
       "Yang et al. 2024",
       [](StockShape& shape) { usual_heads(shape), usually(shape, "taps", 4); }},
      {"stock-gla",
       {{"heads", 1}, {"keys", 1}, {"values", 1}, {"rank", 1}, {"normaliser", 16, kReal}, {"eps", 1e-5, kReal}},
       gla_tensors,
       "gated linear attention, as flash-linear-attention has it",
       "Yang et al. 2023",
       [](StockShape& shape) { usual_heads(shape, 0.5), usually(shape, "rank", 16); }},
      {"stock-mlstm",
       {{"heads", 1}, {"keys", 1}, {"values", 1}, {"cap", 0, kReal}, {"eps", 1e-6, kReal}, {"head-eps", 1e-6, kReal}},
       mlstm_tensors,
       "xLSTM with a matrix of memory, as transformers has it",
       "Beck et al. 2024",
       [](StockShape& shape) { usual_heads(shape, 0.5), usually(shape, "cap", 15); }},
      {"stock-slstm",
       {{"heads", 1}, {"taps", 0}, {"cuda", 0, kFlag}, {"head-eps", 1e-5, kReal}},
       slstm_tensors,
       "xLSTM with exponential gates, as xlstm has it",
       "Beck et al. 2024",
       [](StockShape& shape) { usually(shape, "heads", 2), usually(shape, "taps", 4); }},
      {"stock-rwkv7",
       {{"heads", 1},
        {"keys", 1},
        {"values", 1},
        {"decay-rank", 1},
        {"rate-rank", 1},
        {"gate-rank", 1},
        {"eps", 64e-5, kReal}},
       rwkv7_tensors,
       "RWKV-7's time mixing, as flash-linear-attention has it",
       "Peng et al. 2025",
       [](StockShape& shape) {
         usual_heads(shape);
         for (const char* name : {"decay-rank", "rate-rank", "gate-rank"}) usually(shape, name, 16);
         shape.numbers.try_emplace("eps", 1e-5 * shape.number("keys"));
       }},
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
       m2rnn_tensors,
       "a matrix of state behind tanh, as lm-engine has it",
       "Mishra et al. 2026",
       [](StockShape& shape) {
         const auto heads = static_cast<double>(usual_heads(shape));
         for (const char* name : {"q-heads", "k-heads", "v-heads", "f-heads", "w-heads"}) usually(shape, name, heads);
         usually(shape, "taps", 4), usually(shape, "skip", 1);
       }},
      {"stock-rnn", {}, cell_tensors},
      {"stock-rnn-relu", {}, cell_tensors},
      {"stock-gru", {}, cell_tensors},
      {"stock-lstm", {}, cell_tensors}};
  return kinds;
}

const StockKind* find_stock_kind(std::string_view name) {
  const auto found = std::ranges::find_if(stock_kinds(), [&](const StockKind& kind) {
    return kind.name == name || kind.name.substr(kStock.size()) == name;
  });
  return found == stock_kinds().end() ? nullptr : &*found;
}

StockShape usual_stock_shape(const StockKind& kind) {
  StockShape shape;
  shape.kind = kind.name;
  for (const StockNumber& number : kind.numbers) shape.numbers.emplace(number.name, number.usual);
  return shape;
}

double first_number(const StockTensor& tensor, std::size_t i, Random& random) {
  if (tensor.first) return tensor.first(i, random);
  if (tensor.shape.size() < 2) return tensor.name.ends_with("weight") ? 1 : 0;
  std::uint64_t inputs = 1;
  for (std::size_t axis = 1; axis < tensor.shape.size(); ++axis) inputs *= tensor.shape[axis];
  return bias_of(inputs)(i, random);
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
  std::vector<StockTensor> all{{"embedding.weight", {letters, shape.width}, normal(1)}};
  std::uint64_t width = shape.width;
  const std::uint64_t mlp = shape.mlp;
  const std::vector<StockStep> steps = stock_steps(shape);
  const auto layers = static_cast<std::uint32_t>(std::ranges::count(steps, kLayer, &StockStep::kind));
  std::uint32_t layer = 0;
  for (const StockStep& step : steps) {
    width = step.size;
    if (step.kind == kLayer) {
      StockShape own = shape;
      own.width = step.taken;
      own.layers = layers;
      own.numbers["hidden"] = step.size;
      for (StockTensor& tensor : find_stock_kind(shape.kind)->tensors(own, layer++))
        all.push_back({step.name + tensor.name, std::move(tensor.shape), std::move(tensor.first)});
    } else if (step.kind == kSwiGlu) {
      all.push_back({step.name + "gate.weight", {mlp, width}});
      all.push_back({step.name + "up.weight", {mlp, width}});
      all.push_back({step.name + "down.weight", {width, mlp}});
    } else if (step.kind == kLinear || step.kind == kLayerNorm || step.kind == kRmsNorm) {
      all.push_back({step.name + "weight", step.kind == kLinear ? Shape{width, step.taken} : Shape{width}});
      if (step.kind == kLinear)
        all.push_back({step.name + "bias", {width}, bias_of(step.taken)});
      else if (step.kind == kLayerNorm)
        all.push_back({step.name + "bias", {width}});
    }
  }
  all.push_back({"head.weight", {labels, width}});
  all.push_back({"head.bias", {labels}, bias_of(width)});
  return all;
}

}  // namespace krohn
