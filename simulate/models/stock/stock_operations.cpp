#include "krohn/simulate/models/stock/stock_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {
namespace {

using List = OperationsBuilder::List;
using View = OperationsBuilder::View;

class Writer {
 public:
  Writer(const StockShape& shape, std::vector<StockStep> steps, const TensorFile& tensors, Precision format)
      : shape_(shape), steps_(std::move(steps)), tensors_(tensors) {
    b_.operations.format = format;
    memory_ = b_.memory(0);
  }

  StockOperations write() {
    using enum StockStep::Kind;
    const auto mixer = kMixers.at(shape_.kind);
    List x = b_.row(has("embedding.weight") ? tensor("embedding.weight") : unit_rows(), shape_.width);
    std::vector<List> inputs;
    for (const StockStep& step : steps_) {
      prefix_ = step.name, behind_ = step.behind;
      if (step.kind == kLayer) {
        first_ = kept_;
        shape_.width = step.taken;
        hidden_ = step.size;
        x = (this->*mixer)(x);
        states_.emplace_back(first_, kept_ - first_);
        for (const List list : std::exchange(older_, {})) keep(list);
      } else if (step.kind == kRmsNorm) {
        x = rms_norm(x, own("weight"), step.size, shape_.norm_epsilon);
      } else if (step.kind == kLayerNorm) {
        x = add(layer_norm(x, own("weight"), step.size, shape_.norm_epsilon), own("bias"));
      } else if (step.kind == kSwiGlu) {
        x = linear("down", gated(linear("up", x), linear("gate", x)));
      } else if (step.kind == kLinear) {
        x = b_.affine(x, own("weight"), own("bias"));
      } else if (step.kind == kFunction) {
        x = function(step.name, x);
      } else if (step.kind == kInput) {
        inputs.push_back(x);
      } else {
        x = add(inputs.back(), x);
        inputs.pop_back();
      }
    }
    prefix_ = "", behind_ = "";
    b_.operations.logits = capped(linear("head", x), shape_.logit_cap).number;
    b_.operations.list[memory_.number].size = static_cast<std::uint32_t>(kept_);
    b_.start(b_.numbers({0}, kept_));
    return {std::move(b_.operations), std::move(states_)};
  }

 private:
  /// Rows that one convolution takes: their first channel among those of the taps.
  struct Rows {
    std::string taps, bias;
    List row;
    std::size_t channel = 0;
  };

  std::size_t count(const char* name) const { return shape_.count(name); }
  std::size_t heads() const { return count("heads"); }
  std::size_t keys() const { return count("keys"); }
  std::size_t values() const { return count("values"); }

  List add(List a, List b) { return b_.each("add", a, b); }
  List subtract(List a, List b) { return b_.each("subtract", a, b); }
  List multiply(List a, List b) { return b_.each("multiply", a, b); }
  List divide(List a, List b) { return b_.each("divide", a, b); }
  List greater(List a, List b) { return b_.each("greater", a, b); }
  List exp(List x) { return b_.each("exp", x); }
  List tanh(List x) { return b_.each("tanh", x); }
  List logistic(List x) { return b_.each("logistic", x); }
  List root(List x) { return b_.each("root", x); }
  List negative(List x) { return subtract(b_.constant(0), x); }
  List silu(List x) { return multiply(x, logistic(x)); }
  List gated(List x, List gate) { return multiply(x, silu(gate)); }
  /// c tanh(x / c); x itself where c is 0.
  List capped(List x, double cap) {
    return cap == 0 ? x : multiply(b_.constant(cap), tanh(divide(x, b_.constant(cap))));
  }
  /// e^x, but 1 where that is greater.
  List exp_up_to_1(List x) { return exp(negative(greater(negative(x), b_.constant(0)))); }
  /// Σ terms, from `from` on: of one product each, where nothing else is said.
  List sum(const std::vector<std::size_t>& shape, View a, View b, View from, std::size_t terms = 1) {
    return b_.make("dot", shape, {std::move(a), std::move(b), std::move(from)}, terms);
  }

  /// GELU as x Φ(x) = max(x, 0) − |x| (1 − Φ(|x|)), with erf of Abramowitz & Stegun 7.1.26, which is off by at most
  /// 1.5·10⁻⁷: 2 (1 − Φ(a)) = (c₁ t + … + c₅ t⁵) e^(−a²/2), t = 1 / (1 + 0.3275911 a / √2).
  List gelu(List x) {
    const List zero = b_.constant(0), one = b_.constant(1), positive = greater(x, zero),
               size = greater(positive, negative(x));
    const List t = divide(one, add(one, multiply(b_.constant(0.3275911 / std::numbers::sqrt2), size)));
    List sum = b_.constant(1.061405429);
    for (const double c : {-1.453152027, 1.421413741, -0.284496736, 0.254829592, 0.0})
      sum = add(multiply(sum, t), b_.constant(c));
    const List tail = multiply(sum, exp(multiply(b_.constant(-0.5), multiply(size, size))));
    return subtract(positive, multiply(size, multiply(b_.constant(0.5), tail)));
  }
  /// x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))).
  List gelu_tanh(List x) {
    const List cube = multiply(multiply(x, x), x);
    const List inner =
        multiply(b_.constant(std::sqrt(2 / std::numbers::pi)), add(x, multiply(b_.constant(0.044715), cube)));
    return multiply(multiply(b_.constant(0.5), x), add(b_.constant(1), tanh(inner)));
  }
  /// One of kStockFunctions.
  List function(const std::string& name, List x) {
    if (name == "relu") return greater(x, b_.constant(0));
    if (name == "gelu") return gelu(x);
    if (name == "gelu-tanh") return gelu_tanh(x);
    if (name == "silu") return silu(x);
    return name == "tanh" ? tanh(x) : logistic(x);
  }

  /// A row a letter, with a 1 at its own place.
  List unit_rows() {
    std::vector<double> ones(std::size_t{shape_.width} * shape_.width, 0);
    for (std::size_t letter = 0; letter < shape_.width; ++letter) ones[letter * (shape_.width + 1)] = 1;
    return b_.numbers(std::move(ones));
  }
  bool has(const std::string& name) const {
    const auto found = tensors_.tensors.find(name);
    return found != tensors_.tensors.end() && found->second.elements() > 0;
  }
  List tensor(const std::string& name) {
    const auto [known, fresh] = known_.try_emplace(name);
    if (fresh) known->second = b_.tensor(name, tensors_.tensors.at(name).elements());
    return known->second;
  }
  List own(const std::string& name) { return tensor(prefix_ + name + behind_); }
  List linear(const std::string& name, List x) {
    const std::string bias = prefix_ + name + ".bias";
    return has(bias) ? b_.affine(x, own(name + ".weight"), tensor(bias)) : b_.affine(x, own(name + ".weight"));
  }

  void keep(List list) {
    kept_ += list.size;
    b_.keep(list);
  }
  /// A part of the layer's memory.
  List remembered(std::size_t first, std::size_t size) { return b_.part(memory_, first_ + first, size); }

  /// 1 / √(squares / width + ε)
  List inverse_root(List squares, std::size_t width, double epsilon) {
    // Sums of squares are not negative, which intervals of their factors do not show.
    if (!shape_.forward.empty()) squares = greater(squares, b_.constant(0));
    const List mean = divide(squares, b_.constant(static_cast<double>(width)));
    return divide(b_.constant(1), root(add(mean, b_.constant(epsilon))));
  }
  List rms_norm(List x, List gain, std::size_t width, double epsilon) {
    const List scale = inverse_root(b_.squares(x, width), width, epsilon);
    return b_.by_column("multiply", b_.by_row("multiply", x, scale), gain);
  }
  List layer_norm(List x, List gain, std::size_t width, double epsilon) {
    const List ones = b_.constant(1);
    const List sums = b_.make("dot", {x.size / width}, {b_.view(x, {width, 1}), b_.view(ones, {0, 0})}, width);
    const List moved = b_.by_row("subtract", x, divide(sums, b_.constant(static_cast<double>(width))));
    return rms_norm(moved, gain, width, epsilon);
  }
  /// Convolutions of rows one after another, whose older ones are remembered behind `state` numbers. Taps in front
  /// that are 0 for all of them are left out.
  std::vector<List> convolved(std::size_t state, const std::vector<Rows>& all) {
    const std::size_t taps = count("taps");
    std::size_t unseen = taps - 1, width = 0, at = first_ + state;
    for (const Rows& rows : all) {
      const std::vector<double> numbers = floating_numbers(tensors_.tensors.at(prefix_ + rows.taps)).value();
      for (std::size_t i = 0; i < numbers.size(); ++i)
        if (numbers[i] != 0) unseen = std::min(unseen, i % taps);
      width += rows.row.size;
    }
    const std::size_t older = taps - 1 - unseen;
    if (older > 1) older_.push_back(b_.part(memory_, at + width, (older - 1) * width));
    std::vector<List> results;
    for (const Rows& rows : all) {
      const std::size_t first = rows.channel * taps;
      const List weights = own(rows.taps);
      std::vector<View> from;
      if (has(prefix_ + rows.bias)) from = {b_.view(own(rows.bias), {1})};
      const auto with = [&](std::size_t tap, View tokens, std::size_t terms) {
        std::vector<View> of{b_.view(weights, {taps, 1}, first + tap), std::move(tokens)};
        of.insert(of.end(), from.begin(), from.end());
        const List list = b_.make("dot", {rows.row.size}, std::move(of), terms);
        from = {b_.view(list, {1})};
        return list;
      };
      if (older > 0) with(unseen, b_.view(memory_, {1, width}, at), older);
      results.push_back(with(taps - 1, b_.view(rows.row, {1, 0}), 1));
      if (older > 0) older_.push_back(rows.row);
      at += rows.row.size;
    }
    return results;
  }

  /// S + k vᵀ, head by head.
  List written(List state, List k, List v, std::size_t k_first = 0, std::size_t v_first = 0) {
    return sum({heads(), keys(), values()}, b_.view(k, {keys(), 1, 0, 0}, k_first),
               b_.view(v, {values(), 0, 1, 0}, v_first), b_.view(state, {keys() * values(), values(), 1}));
  }
  /// Sᵀ k, head by head.
  List read(List state, List k, std::size_t first = 0) {
    return b_.make("dot", {heads(), values()},
                   {b_.view(state, {keys() * values(), 1, values()}), b_.view(k, {keys(), 0, 1}, first)}, keys());
  }
  List state() { return remembered(0, heads() * keys() * values()); }
  List root_of_keys() { return root(b_.constant(static_cast<double>(keys()))); }

  // PyTorch's cells (simulate/models/cells/): a ← W x + b and b ← U h + c, and then the units.
  List cell(List x) {
    const auto affine = [&](List from, const char* weights, const char* bias) {
      const List rows = own(weights);
      return has(prefix_ + bias + behind_) ? b_.affine(from, rows, own(bias)) : b_.affine(from, rows);
    };
    const List a = affine(x, "weight_ih", "bias_ih"), before = remembered(0, hidden_),
               b = affine(before, "weight_hh", "bias_hh");
    const auto of = [&](List list, std::size_t gate) { return b_.part(list, gate * hidden_, hidden_); };
    const auto sum = [&](std::size_t gate) { return add(of(a, gate), of(b, gate)); };
    const auto gate = [&](std::size_t g, const char* function) { return b_.each(function, sum(g)); };
    List output;
    switch (cell_of(shape_)->kind) {
      case CellKind::kTanh:
        output = gate(0, "tanh");
        break;
      case CellKind::kRelu:
        output = greater(sum(0), b_.constant(0));
        break;
      case CellKind::kGru: {
        const List r = gate(0, "logistic"), z = gate(1, "logistic"), moved = multiply(of(b, 2), r);
        const List n = tanh(add(of(a, 2), moved)), h = remembered(0, hidden_);
        output = add(multiply(subtract(h, n), z), n);
        break;
      }
      case CellKind::kLstm: {
        const List kept = multiply(gate(1, "logistic"), remembered(hidden_, hidden_));
        const List c = add(kept, multiply(gate(0, "logistic"), gate(2, "tanh")));
        output = multiply(gate(3, "logistic"), tanh(c));
        keep(output);
        keep(c);
        return output;
      }
    }
    keep(output);
    return output;
  }

  // Mamba's selective state space (Gu & Dao 2023), as MambaMixer of transformers and Mamba of state-spaces compute it:
  //
  //   (u, z) = W_in x          u ← silu(conv(u))          (δ, B, C) = W_x u          Δ = softplus(W_dt δ + b)
  //   h[e, n] ← e^(Δ[e] A[e, n]) h[e, n] + (Δ[e] B[n]) u[e]          A = −e^A_log
  //   y[e] = (Σ_n h[e, n] C[n] + D[e] u[e]) silu(z[e])               out = W_out y
  //
  // The first product of a step is rounded before the second is added.
  List mamba(List x) {
    const std::size_t inner = count("inner"), states = count("states"), rank = count("rank");
    const List both = linear("in_proj", x), z = b_.part(both, inner, inner);
    const List u = silu(convolved(inner * states, {{"conv1d.weight", "conv1d.bias", b_.part(both, 0, inner)}})[0]);
    const List selected = linear("x_proj", u);
    const List step = b_.each("softplus64", linear("dt_proj", b_.part(selected, 0, rank)));
    const List factors = exp(b_.by_row("multiply", negative(exp(own("A_log"))), step));
    const List kept = multiply(factors, remembered(0, inner * states));
    const List b = b_.make("multiply", {inner, states}, {b_.view(step, {1, 0}), b_.view(selected, {0, 1}, rank)});
    const List h = sum({inner, states}, b_.view(b, {states, 1, 0}), b_.view(u, {1, 0, 0}), b_.view(kept, {states, 1}));
    const List y = b_.make("dot", {inner}, {b_.view(h, {states, 1}), b_.view(selected, {0, 1}, rank + states)}, states);
    const List skipped = sum({inner}, b_.view(own("D"), {1, 0}), b_.view(u, {1, 0}), b_.view(y, {1}));
    keep(h);
    return linear("out_proj", gated(skipped, z));
  }

  // Mamba-2 (Dao & Gu 2024), as Mamba2Mixer of transformers decodes a token and state-spaces' Mamba2 steps:
  //
  //   (z, u, B, C, δ) = W_in x          (u, B, C) ← silu(conv(u, B, C))          Δ = softplus(δ + b)
  //   S[h, p, n] ← S[h, p, n] e^(Δ[h] A[h]) + (Δ[h] B[n]) u[h, p]          A = −e^A_log
  //   y[h, p] = Σ_n S[h, p, n] C[n] + u[h, p] D[h]
  //   out = W_out norm(y silu(z)), an RMS norm over each group's part
  //
  // Heads of one group share B and C. The steps Δ have no limit: transformers' own decoding step knows none.
  List mamba2(List x) {
    const std::size_t size = count("per-head"), states = count("states"), groups = count("groups"),
                      inner = heads() * size, wide = inner + 2 * groups * states, shared = heads() / groups;
    const List rows = linear("in_proj", x), z = b_.part(rows, 0, inner);
    const List all = silu(convolved(inner * states, {{"conv1d.weight", "conv1d.bias", b_.part(rows, inner, wide)}})[0]);
    const List step = b_.each("softplus64", add(b_.part(rows, inner + wide, heads()), own("dt_bias")));
    const List factors = exp(multiply(step, negative(exp(own("A_log")))));
    const List kept = b_.by_row("multiply", remembered(0, inner * states), factors);
    const List b = b_.make("multiply", {groups, shared, states},
                           {b_.view(step, {shared, 1, 0}), b_.view(all, {states, 0, 1}, inner)});
    const List s = sum({heads(), size, states}, b_.view(b, {states, 0, 1, 0}), b_.view(all, {size, 1, 0, 0}),
                       b_.view(kept, {size * states, states, 1}));
    const List y = b_.make(
        "dot", {groups, shared * size},
        {b_.view(s, {shared * size * states, states, 1}), b_.view(all, {states, 0, 1}, inner + groups * states)},
        states);
    const List skipped =
        sum({heads(), size}, b_.view(all, {size, 1, 0}), b_.view(own("D"), {1, 0, 0}), b_.view(y, {size, 1}));
    keep(s);
    const List read = rms_norm(gated(skipped, z), own("norm.weight"), inner / groups, shape_.number("eps"));
    return linear("out_proj", read);
  }

  // Delta rules: DeltaNet and gated DeltaProduct as flash-linear-attention's layers compute them (Yang et al. 2024;
  // Siems et al. 2025), gated DeltaNet also as OlmoHybridGatedDeltaNet of transformers:
  //
  //   q, k, v = silu(conv(W x))          q, k ← x · 1/√(Σ x² + 10⁻⁶), head by head          q ← q / √K
  //   β = σ(W_b x), doubled where eigenvalues may be negative          α = e^(−e^A_log softplus(W_a x + dt_bias))
  //   S ← S α, then for every reflection j:  S[i, c] ← S[i, c] + k[i] ((v[c] − Σ_i S[i, c] k[i]) β)
  //   o[c] = Σ_i S[i, c] q[i]          o ← norm(o), head by head, times silu(W_g x)          out = W_o o
  List delta(List x) {
    List q = linear("q_proj", x), k = linear("k_proj", x), v = linear("v_proj", x);
    if (count("taps") > 0) {
      const bool one = count("one-conv") != 0;
      const auto rows = [&](const char* taps, List row, std::size_t channel) {
        return one ? Rows{"conv1d.weight", "", row, channel} : Rows{taps, "", row};
      };
      const std::vector<List> all =
          convolved(heads() * keys() * values(), {rows("q_conv1d.weight", q, 0), rows("k_conv1d.weight", k, q.size),
                                                  rows("v_conv1d.weight", v, std::size_t{q.size} + k.size)});
      q = all[0], k = all[1], v = all[2];
    }
    const auto unit = [&](List rows) {
      if (count("plain-keys") == 0) rows = silu(rows);
      return b_.by_row("multiply", rows, inverse_root(b_.squares(rows, keys()), 1, 1e-6));
    };
    q = divide(unit(q), root_of_keys()), k = unit(k), v = silu(v);
    List beta = logistic(linear("b_proj", x)), s = state();
    if (count("negative") != 0) beta = multiply(beta, b_.constant(2));
    if (count("decay") != 0) {
      const List step = b_.each("softplus64", add(linear("a_proj", x), own("dt_bias")));
      s = b_.by_row("multiply", s, exp(multiply(negative(exp(own("A_log"))), step)));
    }
    for (std::size_t j = 0; j < count("reflections"); ++j) {
      const List lack = b_.make("subtract", {heads(), values()},
                                {b_.view(v, {values(), 1}, j * heads() * values()),
                                 b_.view(read(s, k, j * heads() * keys()), {values(), 1})});
      s = written(s, k, b_.by_row("multiply", lack, b_.part(beta, j * heads(), heads())), j * heads() * keys());
    }
    keep(s);
    List y = rms_norm(read(s, q), own("o_norm.weight"), values(), shape_.number("eps"));
    if (count("gate") != 0) y = gated(y, linear("g_proj", x));
    return linear("o_proj", y);
  }

  // Gated linear attention (Yang et al. 2024), as flash-linear-attention's layer computes it with its usual options: no
  // convolutions, no feature map, a swish gate.
  //
  //   q, k, v = W x          α[i] = e^(log σ(W₂ W₁ x + b)[i] / 16)
  //   S[i, c] ← S[i, c] α[i] + k[i] v[c]          o[c] = Σ_i S[i, c] (q[i] · 1/√K)
  //   out = W_o (norm(o) silu(W_g x)), the norm head by head
  List gla(List x) {
    const List q = multiply(linear("q_proj", x), divide(b_.constant(1), root_of_keys()));
    const List open = b_.each("log sigmoid", linear("gk_proj.1", linear("gk_proj.0", x)));
    const List decay = exp(divide(open, b_.constant(shape_.number("normaliser"))));
    const List s = written(b_.by_row("multiply", state(), decay), linear("k_proj", x), linear("v_proj", x));
    keep(s);
    const List y = rms_norm(read(s, q), own("g_norm_swish_gate.weight"), values(), shape_.number("eps"));
    return linear("o_proj", gated(y, linear("g_proj", x)));
  }

  // The matrix LSTM (Beck et al. 2024), as xLSTMLayer of transformers steps it:
  //
  //   q, k, v = W x          i, f = cap(W x + b)          cap(y) = c tanh(y / c)
  //   m' = max(log σ(f) + m, i)          F = e^((log σ(f) + m) − m')          I = e^(i − m')          m ← m'
  //   C[a, b] ← F C[a, b] + I (k[a] v[b])          n[a] ← F n[a] + I k[a]
  //   h[b] = Σ_a (q[a] · 1/√K) C[a, b] / (max(|Σ_a (q[a] · 1/√K) n[a]|, e^−m') + ε)
  //   out = W_out (σ(W_o x) norm(h)), a layer norm head by head
  List mlstm(List x) {
    const std::size_t numbers = keys() * values(), each = numbers + keys() + 1;
    const auto remembered_of = [&](std::size_t first, std::size_t size) {
      return b_.make("copy", {heads(), size}, {b_.view(memory_, {each, 1}, first_ + first)});
    };
    const List q = multiply(linear("q", x), divide(b_.constant(1), root_of_keys())), k = linear("k", x),
               v = linear("v", x);
    const List i = capped(linear("igate_preact", x), shape_.number("cap")),
               f = capped(linear("fgate_preact", x), shape_.number("cap"));
    const List older = add(b_.each("log sigmoid", f), remembered_of(numbers + keys(), 1)), m = greater(older, i);
    const List kept = exp(subtract(older, m)), taken = exp(subtract(i, m));
    const auto moved = [&](List before, List added) {
      const std::size_t size = added.size / heads();
      return sum({heads(), size}, b_.view(taken, {1, 0, 0}), b_.view(added, {size, 1, 0}),
                 b_.view(b_.by_row("multiply", before, kept), {size, 1}));
    };
    const List products =
        b_.make("multiply", {heads(), keys(), values()}, {b_.view(k, {keys(), 1, 0}), b_.view(v, {values(), 0, 1})});
    const List c = moved(remembered_of(0, numbers), products), n = moved(remembered_of(numbers, keys()), k);
    const List normaliser = b_.make("dot", {heads()}, {b_.view(q, {keys(), 1}), b_.view(n, {keys(), 1})}, keys());
    const List size = greater(greater(normaliser, negative(normaliser)), exp(negative(m)));
    const List h = b_.by_row("divide", read(c, q), add(size, b_.constant(shape_.number("eps"))));
    for (std::size_t head = 0; head < heads(); ++head) {
      keep(b_.part(c, head * numbers, numbers));
      keep(b_.part(n, head * keys(), keys()));
      keep(b_.part(m, head, 1));
    }
    const List y = layer_norm(h, own("multihead_norm.weight"), values(), shape_.number("head-eps"));
    return linear("out_proj", multiply(logistic(linear("ogate_preact", x)), y));
  }

  // The scalar LSTM (Beck et al. 2024), as sLSTMLayer of the package xlstm computes it with backend "vanilla":
  //
  //   u = silu(conv(x)), or x          a = (W_f u, W_i u, W_z x, W_o x)          (i, f, z, o) = (a + R y) + b
  //   m' = max(i, m + log σ(f)), or i where n is 0
  //   I = min(1, e^(i − m'))          F = min(1, e^((m + log σ(f)) − m'))
  //   c ← F c + I tanh(z)          n ← F n + I          y ← σ(o) c / n          m ← m'
  //   out = group norm of y, head by head, with gain 1 + weight
  //
  // The weights called fgate feed i and those called igate feed f: so the package's layer has it (xlstm 2.0.6,
  // layer.py), and so every model is trained. W and R are block-diagonal, a block a head. Sums of R run over the units
  // of the head.
  List slstm(List x) {
    const std::size_t width = shape_.width, size = width / heads(), square = size * size;
    const bool is_cuda = count("cuda") != 0;
    List u = x;
    if (count("taps") > 0) u = silu(convolved(4 * width, {{"conv1d.conv.weight", "conv1d.conv.bias", x}})[0]);
    const auto gate = [&](std::size_t number, const char* name, List from) {
      const List of_x =
          b_.make("dot", {heads(), size}, {b_.view(own(name), {square, size, 1}), b_.view(from, {size, 0, 1})}, size);
      const View kernel = is_cuda
                              ? b_.view(own("slstm_cell._recurrent_kernel_"), {4 * square, 1, 4 * size}, number * size)
                              : b_.view(own("slstm_cell._recurrent_kernel_"), {4 * square, size, 1}, number * square);
      const List of_y = b_.make("dot", {heads(), size}, {kernel, b_.view(memory_, {size, 0, 1}, first_)}, size);
      const View bias = is_cuda ? b_.view(own("slstm_cell._bias_"), {4 * size, 1}, number * size)
                                : b_.view(own("slstm_cell._bias_"), {size, 1}, number * width);
      return b_.make("add", {heads(), size}, {b_.view(add(of_x, of_y), {size, 1}), bias});
    };
    const List i = gate(0, "fgate.weight", u), f = gate(1, "igate.weight", u), z = gate(2, "zgate.weight", x),
               o = gate(3, "ogate.weight", x);
    const List c = remembered(width, width), n = remembered(2 * width, width), m = remembered(3 * width, width);
    const List older = add(m, b_.each("log sigmoid", f)), is_first = b_.is_zero(n);
    const List greatest = add(multiply(is_first, i), multiply(subtract(b_.constant(1), is_first), greater(i, older)));
    const List taken = exp_up_to_1(subtract(i, greatest)), kept = exp_up_to_1(subtract(older, greatest));
    const List next_c = add(multiply(kept, c), multiply(taken, tanh(z))), next_n = add(multiply(kept, n), taken);
    const List y = divide(multiply(logistic(o), next_c), next_n);
    for (const List list : {y, next_c, next_n, greatest}) keep(list);
    return layer_norm(y, add(b_.constant(1), own("group_norm.weight")), size, shape_.number("head-eps"));
  }

  // RWKV-7's time mixing (Peng et al. 2025), as the first layer of flash-linear-attention's RWKV7Attention computes it,
  // x' being the token before (0 at first):
  //
  //   x_c = x + (x' − x) μ_c for c of r, w, k, v, a, g          r, k, v = W x_c
  //   w = −0.6065306597126334 σ(w₂ tanh(w₁ x_w) + w₀)          a = σ(a₂ a₁ x_a + a₀)          g = g₂ σ(g₁ x_g)
  //   κ = k k_k / max(‖k k_k‖, 10⁻¹²), head by head          k ← k + (k (a − 1)) k_a
  //   S[i, c] ← (e^w[i] S[i, c] − (κ[i] a[i]) Σ_j κ[j] S[j, c]) + k[i] v[c]          o[c] = Σ_i S[i, c] r[i]
  //   out = W_o (((norm(o) weight + bias) + (Σ_i r[i] k[i] r_k[i]) v) g), a layer norm head by head
  List rwkv7(List x) {
    const std::size_t width = shape_.width;
    const List before = remembered(heads() * keys() * values(), width), change = subtract(before, x);
    const auto mixed = [&](const char* name) {
      return sum({width}, b_.view(change, {1, 0}), b_.view(own(name), {1, 0}), b_.view(x, {1}));
    };
    const auto twice = [&](const std::string& name, List from, const char* between) {
      const List low = linear(name + "_lora.lora.0", from);
      return linear(name + "_lora.lora.2", b_.each(between, low));
    };
    const List r = linear("r_proj", mixed("x_r")), v = linear("v_proj", mixed("x_v")),
               raw = linear("k_proj", mixed("x_k"));
    const List w = multiply(b_.constant(-0.6065306597126334), logistic(twice("w", mixed("x_w"), "tanh")));
    const List a = logistic(twice("a", mixed("x_a"), "copy")), g = twice("g", mixed("x_g"), "logistic");
    const List removed = multiply(raw, own("k_k"));
    const List away = b_.by_row("divide", removed, greater(root(b_.squares(removed, keys())), b_.constant(1e-12)));
    const List k = add(raw, multiply(multiply(raw, subtract(a, b_.constant(1))), own("k_a")));
    const List seen = read(state(), away), rated = multiply(away, a);
    const List less = b_.make("multiply", {heads(), keys(), values()},
                              {b_.view(rated, {keys(), 1, 0}), b_.view(seen, {values(), 0, 1})});
    const List s = written(subtract(b_.by_row("multiply", state(), exp(w)), less), k, v);
    keep(s);
    older_.push_back(x);
    const List y =
        add(layer_norm(read(s, r), own("g_norm.weight"), values(), shape_.number("eps")), own("g_norm.bias"));
    const List bonus =
        b_.make("dot", {heads()}, {b_.view(multiply(r, k), {keys(), 1}), b_.view(own("r_k"), {keys(), 1})}, keys());
    const List with =
        sum({heads(), values()}, b_.view(bonus, {1, 0, 0}), b_.view(v, {values(), 1, 0}), b_.view(y, {values(), 1}));
    return linear("o_proj", multiply(with, g));
  }

  // M²RNN (Mishra, Tan, Stoica, Gonzalez & Dao 2026), as lm-engine's module M2RNN computes it in torch:
  //
  //   (q, k, v, f, g) = W_in x     (q, k, v) ← silu(conv(q, k, v))     f ← e^(−e^A_log softplus(f + dt_bias))
  //   H ← f H + (1 − f) tanh(H W + k vᵀ)     y = Hᵀ q + D v     out = W_out norm(y silu(g))
  //
  // for every head, H of keys × values numbers; heads may share q, k, v, f and W. The norm is over all heads.
  List m2rnn(List x) {
    const std::size_t k_size = keys(), v_size = values(), square = v_size * v_size,
                      convolved_size = (count("q-heads") + count("k-heads")) * k_size + count("v-heads") * v_size;
    const List all = linear("input_projection", x);
    List rows = b_.part(all, 0, convolved_size);
    if (count("taps") > 0)
      rows = silu(convolved(heads() * k_size * v_size, {{"conv1d.weight", "conv1d.bias", rows}})[0]);
    std::size_t at = 0;
    // Every head in turn.
    const auto next = [&](const char* own_heads, std::size_t size) {
      const std::size_t own = count(own_heads), first = std::exchange(at, at + own * size);
      return b_.make("copy", {own, heads() / own, size}, {b_.view(rows, {size, 0, 1}, first)});
    };
    const List q = next("q-heads", k_size), k = next("k-heads", k_size), v = next("v-heads", v_size);
    const List raw = add(b_.part(all, convolved_size, count("f-heads")), own("decay_gate.dt_bias"));
    const List f = exp(multiply(negative(exp(own("decay_gate.A_log"))), b_.each("softplus64", raw)));
    const List g = b_.part(all, convolved_size + count("f-heads"), heads() * v_size);
    const std::size_t shared = heads() / count("w-heads");
    const List moved = b_.make("dot", {count("w-heads"), shared * k_size, v_size},
                               {b_.view(state(), {shared * k_size * v_size, v_size, 0, 1}),
                                b_.view(own("state_weight"), {square, 0, 1, v_size})},
                               v_size);
    const List added = tanh(written(moved, k, v));
    const List h = add(b_.by_row("multiply", state(), f), b_.by_row("multiply", added, subtract(b_.constant(1), f)));
    keep(h);
    List y = read(h, q);
    if (count("skip") != 0) y = add(y, multiply(v, own("D")));
    return linear("output_projection",
                  rms_norm(gated(y, g), own("g_norm.weight"), heads() * v_size, shape_.number("eps")));
  }

  static const std::map<std::string, List (Writer::*)(List), std::less<>> kMixers;

  StockShape shape_;  ///< its width that of the layer at hand
  std::vector<StockStep> steps_;
  const TensorFile& tensors_;
  OperationsBuilder b_;
  List memory_;
  std::size_t first_ = 0, kept_ = 0;  ///< where the layer's memory begins, and how much is kept so far
  std::size_t hidden_ = 0;            ///< numbers that the layer gives
  std::string prefix_, behind_;       ///< what the names of its tensors begin and end with
  std::vector<List> older_;           ///< tokens that it remembers behind its state
  std::vector<std::pair<std::size_t, std::size_t>> states_;
  std::map<std::string, List> known_;
};

const std::map<std::string, List (Writer::*)(List), std::less<>> Writer::kMixers{
    {"stock-mamba", &Writer::mamba}, {"stock-mamba2", &Writer::mamba2}, {"stock-delta", &Writer::delta},
    {"stock-gla", &Writer::gla},     {"stock-mlstm", &Writer::mlstm},   {"stock-slstm", &Writer::slstm},
    {"stock-rwkv7", &Writer::rwkv7}, {"stock-m2rnn", &Writer::m2rnn},   {"stock-rnn", &Writer::cell},
    {"stock-gru", &Writer::cell},    {"stock-lstm", &Writer::cell},     {"stock-rnn-relu", &Writer::cell}};

}  // namespace

StockOperations stock_operations(const StockShape& shape, const TensorFile& tensors, Precision format) {
  return Writer(shape, stock_steps(shape), tensors, format).write();
}

StockOperations cell_operations(const CellShape& shape, Letter letters, const TensorFile& tensors, Precision format) {
  StockShape stack;
  stack.kind = "stock-" + shape.cell;
  stack.width = shape.inputs > 0 ? shape.inputs : letters;
  std::vector<StockStep> steps;
  for (std::uint32_t i = 0; i < shape.layers; ++i)
    steps.push_back(
        {StockStep::Kind::kLayer, "rnn.", i == 0 ? stack.width : shape.hidden, shape.hidden, fmt::format("_l{}", i)});
  StockOperations made = Writer(stack, std::move(steps), tensors, format).write();
  made.operations.tokens.resize(letters);
  std::iota(made.operations.tokens.begin(), made.operations.tokens.end(), 0U);
  return made;
}

}  // namespace krohn
