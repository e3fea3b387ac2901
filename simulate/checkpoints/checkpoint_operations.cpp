#include "krohn/simulate/checkpoints/checkpoint_operations.h"

#include <fmt/format.h>

#include <cmath>

#include "krohn/simulate/prove/claims/operations_builder.h"

namespace krohn {
namespace {

using List = OperationsBuilder::List;

/// The functions are those of simulate/checkpoints/checkpoint_model.cpp, by the same names.
class Writer {
 public:
  Writer(const Checkpoint& checkpoint, bool is_bf16)
      : checkpoint_(checkpoint), config_(checkpoint.config), is_bf16_(is_bf16) {}

  Operations write() {
    const std::size_t state = heads() * keys() * values(), older = kept() * rows();
    memory_ = b_.memory(config_.layers * (state + older));
    List x = b_.row(weights("model.embeddings.weight"), config_.hidden_size);
    std::vector<List> convolutions;
    for (std::uint32_t i = 0; i < config_.layers; ++i) {
      const std::string prefix = fmt::format("model.layers.{}.", i), mixer = prefix + "attn.";
      const List sum = b_.each("add", x,
                               mix(mixer, i * state, config_.layers * state + i * older,
                                   normalise(x, weights(prefix + "attn_norm.weight")), convolutions));
      x = rounded(sum);
      const List y = normalise(config_.fused_norm ? sum : x, weights(prefix + "mlp_norm.weight"));
      const List gate = apply(prefix + "mlp.gate_proj.weight", y), up = apply(prefix + "mlp.up_proj.weight", y);
      const List opened = b_.each("multiply", gate, b_.each("sigmoid32", constant(1), gate));
      x = add(x, apply(prefix + "mlp.down_proj.weight", rounded(b_.each("multiply", opened, up))));
    }
    for (const List list : convolutions) keep(list);
    b_.operations.logits = apply("lm_head.weight", normalise(x, weights("model.norm.weight"))).number;
    b_.operations.start = {b_.numbers({0}, memory_.size).number};
    b_.operations.tokens = checkpoint_.tokens.of_letter;
    if (checkpoint_.tokens.begin) b_.operations.before = {*checkpoint_.tokens.begin};
    return std::move(b_.operations);
  }

 private:
  std::size_t heads() const { return config_.heads; }
  std::size_t keys() const { return config_.key_dim; }
  std::size_t values() const { return config_.value_dim; }
  /// Of q, k and v.
  std::size_t rows() const { return heads() * (keys() + config_.householders * (keys() + values())); }
  std::size_t kept() const { return config_.convolution_taps == 0 ? 0 : config_.convolution_taps - 1; }

  List constant(float number) { return b_.numbers({double{number}}); }
  List rounded(List list) { return is_bf16_ ? b_.each("bf16", list) : list; }
  List weights(const std::string& name) {
    return rounded(b_.tensor(name, checkpoint_.tensors.tensors.at(name).elements()));
  }
  void keep(List list) { b_.operations.keep.push_back(list.number); }
  List add(List x, List change) { return rounded(b_.each("add", x, change)); }

  List apply(const std::string& name, List x) {
    const List w = weights(name);
    return rounded(b_.make("dot", {w.size / x.size}, {b_.view(w, {x.size, 1}), b_.view(x, {0, 1})}, x.size));
  }

  /// 1 / √(of every `width` squares, over `count`, + ε)
  List inverse_root(List squares, std::size_t count, float epsilon) {
    if (count > 1) squares = b_.each("divide", squares, constant(static_cast<float>(count)));
    return b_.each("divide", constant(1), b_.each("root", b_.each("add", squares, constant(epsilon))));
  }

  List normalise(List x, List gain) { return normalise(x, gain, config_.norm_epsilon); }
  List normalise(List x, List gain, double epsilon) {
    const std::size_t width = gain.size, count = x.size / width;
    const List scale = inverse_root(b_.squares(x, width), width, static_cast<float>(epsilon));
    const List scaled = b_.make("multiply", {count, width}, {b_.view(x, {width, 1}), b_.view(scale, {1, 0})});
    return rounded(b_.make("multiply", {count, width}, {b_.view(scaled, {width, 1}), b_.view(gain, {0, 1})}));
  }

  List normalise_keys(List x) {
    const std::size_t width = keys(), count = x.size / width;
    const List scale = inverse_root(b_.squares(x, width), 1, 1e-6F);
    return rounded(b_.make("multiply", {count, width}, {b_.view(x, {width, 1}), b_.view(scale, {1, 0})}));
  }

  /// Taps · (older rows, this one); what is remembered of the rows goes to `convolutions`.
  List convolve(const std::string& name, std::size_t first, List row, std::vector<List>& convolutions) {
    const std::size_t count = config_.convolution_taps, size = row.size;
    const List taps = weights(name);
    List sum = row;
    if (kept() == 0) return b_.make("dot", {size}, {b_.view(taps, {1, 0}), b_.view(row, {1, 0})}, 1);
    sum = b_.make("dot", {size}, {b_.view(taps, {count, 1}), b_.view(memory_, {kept(), 1}, first)}, kept());
    sum = b_.make("dot", {size}, {b_.view(taps, {count, 0}, kept()), b_.view(row, {1, 0}), b_.view(sum, {1})}, 1);
    // Every row moves up by one, and this one comes last: sums of which one term is not 0.
    std::vector<double> shift(kept() * kept(), 0), last(kept(), 0);
    for (std::size_t tap = 0; tap + 1 < kept(); ++tap) shift[(tap + 1) * kept() + tap] = 1;
    last.back() = 1;
    const List newest = b_.make("multiply", {size, kept()}, {b_.view(row, {1, 0}), b_.view(b_.numbers(last), {0, 1})});
    convolutions.push_back(b_.make("dot", {size, kept()},
                                   {b_.view(memory_, {kept(), 0, 1}, first), b_.view(b_.numbers(shift), {0, 1, kept()}),
                                    b_.view(newest, {kept(), 1})},
                                   kept()));
    return sum;
  }

  List activate(List x, bool silu) {
    return rounded(silu ? b_.each("multiply", x, b_.each("sigmoid32", constant(1), x)) : x);
  }

  List mix(const std::string& mixer, std::size_t first, std::size_t older, List x, std::vector<List>& convolutions) {
    List q = apply(mixer + "q_proj.weight", x), k = apply(mixer + "k_proj.weight", x),
         v = apply(mixer + "v_proj.weight", x);
    const List b = apply(mixer + "b_proj.weight", x);
    if (config_.convolution_taps != 0) {
      const std::size_t k_first = older + q.size * kept(), v_first = k_first + k.size * kept();
      q = convolve(mixer + "q_conv1d.weight", older, q, convolutions);
      k = convolve(mixer + "k_conv1d.weight", k_first, k, convolutions);
      v = convolve(mixer + "v_conv1d.weight", v_first, v, convolutions);
    }
    q = normalise_keys(activate(q, config_.silu_keys));
    k = normalise_keys(activate(k, config_.silu_keys));
    v = activate(v, true);
    List beta = rounded(b_.each("sigmoid32", constant(1), b));
    if (config_.negative_eigenvalues) beta = b_.each("multiply", beta, constant(2));
    const std::size_t numbers = keys() * values();
    List state = b_.part(memory_, first, heads() * numbers);
    for (std::size_t j = 0; j < config_.householders; ++j) {
      const List seen =
          b_.make("dot", {heads(), values()},
                  {b_.view(state, {numbers, 1, values()}), b_.view(k, {keys(), 0, 1}, j * heads() * keys())}, keys());
      const List off = b_.make("subtract", {heads(), values()},
                               {b_.view(v, {values(), 1}, j * heads() * values()), b_.view(seen, {values(), 1})});
      const List update =
          b_.make("multiply", {heads(), values()}, {b_.view(off, {values(), 1}), b_.view(beta, {1, 0}, j * heads())});
      state = b_.make("dot", {heads(), keys(), values()},
                      {b_.view(k, {keys(), 1, 0, 0}, j * heads() * keys()), b_.view(update, {values(), 0, 1, 0}),
                       b_.view(state, {numbers, values(), 1})},
                      1);
    }
    keep(state);
    const List scaled = b_.each("multiply", q, constant(1 / std::sqrt(static_cast<float>(keys()))));
    const List read = rounded(b_.make(
        "dot", {heads(), values()}, {b_.view(state, {numbers, 1, values()}), b_.view(scaled, {keys(), 0, 1})}, keys()));
    return apply(mixer + "o_proj.weight",
                 normalise(read, weights(mixer + "o_norm.weight"), config_.output_norm_epsilon));
  }

  const Checkpoint& checkpoint_;
  const CheckpointConfig& config_;
  bool is_bf16_;
  OperationsBuilder b_;
  List memory_;
};

}  // namespace

std::optional<Operations> checkpoint_operations(const Checkpoint& checkpoint, bool is_bf16, std::string& why) {
  const FamilyTraits& traits = traits_of(checkpoint.config.family);
  if (traits.decay != Decay::kNone || traits.is_hybrid) {
    why = fmt::format("{}: certificates do not state the functions of layers that forget yet", traits.model_type);
    return std::nullopt;
  }
  return Writer(checkpoint, is_bf16).write();
}

}  // namespace krohn
