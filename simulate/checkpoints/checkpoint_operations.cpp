#include "krohn/simulate/checkpoints/checkpoint_letters.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {
namespace {

using List = OperationsBuilder::List;

class Writer {
 public:
  Writer(const Checkpoint& checkpoint, const CheckpointModel& model, CheckpointForm form)
      : checkpoint_(checkpoint),
        config_(model.config()),
        form_(form),
        places_(config_, form),
        traits_(traits_of(config_.family)),
        is_bf16_(model.is_bf16()),
        unseen_(checkpoint.config.convolution_taps - config_.convolution_taps) {}

  Operations write() {
    const std::size_t older = kept() * convolved_rows();
    memory_ = b_.memory(places_.size);
    const bool is_by_letters = form_ == CheckpointForm::kLetters;
    const List embedding = is_by_letters ? b_.row(weights("model.embeddings.weight"), config_.hidden_size)
                                         : b_.part(memory_, places_.embedding, config_.hidden_size);
    List x = embedding;
    if (config_.streams > 0) x = b_.make("copy", {config_.streams, config_.hidden_size}, {b_.view(embedding, {0, 1})});
    std::vector<List> convolutions;
    for (std::uint32_t i = 0; i < config_.layers; ++i) {
      const std::string prefix = fmt::format("model.layers.{}.", i);
      const auto mixed = [&](List from) {
        return mix(prefix + "attn.", i * places_.layer, places_.convolution + i * older,
                   normalise(from, gain(prefix + "attn_norm.weight")), convolutions);
      };
      const auto looked_up = [&](List from) { return look_up(prefix, from); };
      if (config_.streams > 0) {
        x = connect(prefix + "mlp_hc.", connect(prefix + "attn_hc.", x, mixed), looked_up);
        continue;
      }
      const List sum = b_.each("add", x, mixed(x));
      x = rounded(sum);
      x = add(x, looked_up(config_.fused_norm ? sum : x));
    }
    for (const List list : convolutions) b_.keep(list);
    if (config_.streams > 0) {
      const List sums =
          b_.make("dot", {config_.hidden_size}, {b_.view(b_.constant(1), {0, 0}), b_.view(x, {1, config_.hidden_size})},
                  config_.streams);
      x = rounded(b_.each("divide", sums, b_.constant(config_.streams)));
    }
    const List logits = apply("lm_head.weight", normalise(x, gain("model.norm.weight")));
    b_.operations.logits = logits.number;
    b_.operations.start = {b_.numbers({0}, memory_.size).number};
    if (!is_by_letters) {
      b_.keep(embedding);
      b_.keep(logits);
      b_.operations.tokens = {0};
      return std::move(b_.operations);
    }
    b_.operations.tokens = checkpoint_.tokens.of_letter;
    if (checkpoint_.tokens.begin) b_.operations.before = {*checkpoint_.tokens.begin};
    return std::move(b_.operations);
  }

 private:
  std::size_t heads() const { return config_.heads; }
  std::size_t keys() const { return config_.key_dim; }
  std::size_t values() const { return config_.value_dim; }
  bool has_gates() const { return traits_.decay != Decay::kNone; }
  /// For q, k and v.
  std::size_t convolved_rows() const { return heads() * (keys() + config_.householders * (keys() + values())); }
  std::size_t kept() const { return config_.convolution_taps == 0 ? 0 : config_.convolution_taps - 1; }

  /// Where transformers rounds and the other library does not.
  List rounded_here(List list) { return traits_.is_hybrid ? rounded(list) : list; }
  List rounded(List list) { return is_bf16_ ? b_.each("bf16", list) : list; }
  /// Weights, and what is convolved with them.
  List rounded_like(const std::string& name, List list) {
    return is_kept_in_fp32(config_, name) ? list : rounded(list);
  }
  /// A tensor of which the file has every Householder's rows apart.
  List joined(const std::vector<std::string>& parts, std::size_t size) {
    List whole;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::vector<double> place(parts.size(), 0);
      place[i] = 1;
      const List at = b_.numbers(std::move(place)), part = b_.tensor(parts[i], size);
      const List here = b_.make("multiply", {at.size, size}, {b_.view(at, {1, 0}), b_.view(part, {0, 1})});
      whole = i == 0 ? here : b_.each("add", whole, here);
    }
    return whole;
  }

  /// A tensor, from where the file has it.
  List weights(const std::string& name) {
    if (const auto parts = checkpoint_.parts.find(name); parts != checkpoint_.parts.end()) {
      const std::size_t size = checkpoint_.tensors.tensors.at(name).elements();
      return rounded_like(name, joined(parts->second, size / parts->second.size()));
    }
    const PlaceInFile place = place_in_file(checkpoint_.config, name);
    const std::size_t columns = checkpoint_.tensors.tensors.at(name).elements() / (place.rows * place.rounds);
    auto [whole, fresh] = wholes_.try_emplace(place.name);
    if (fresh) whole->second = b_.tensor(place.name, place.of * columns);
    if (place.of == place.rows * place.rounds) return rounded_like(name, whole->second);
    return rounded(b_.make("copy", {place.rounds, place.rows, columns},
                           {b_.view(whole->second, {place.stride * columns, columns, 1}, place.first * columns)}));
  }
  /// For norms around the layers.
  List gain(const std::string& name) {
    return traits_.has_centred_norms ? b_.each("add", b_.constant(1), weights(name)) : weights(name);
  }
  List add(List x, List change) { return rounded(b_.each("add", x, change)); }

  List unrounded(const std::string& name, List x) {
    const List w = weights(name);
    return b_.make("dot", {w.size / x.size}, {b_.view(w, {x.size, 1}), b_.view(x, {0, 1})}, x.size);
  }
  List apply(const std::string& name, List x) { return rounded(unrounded(name, x)); }

  /// 1 / √(of every `width` squares, over `count`, + ε)
  List inverse_root(List squares, std::size_t count, float epsilon) {
    if (count > 1) squares = b_.each("divide", squares, b_.constant(static_cast<float>(count)));
    return b_.each("divide", b_.constant(1), b_.each("root", b_.each("add", squares, b_.constant(epsilon))));
  }

  List normalise(List x, List gain) {
    const List even = scaled(x, gain.size, config_.norm_epsilon);
    return rounded(b_.by_column("multiply", traits_.is_kimi ? rounded(even) : even, gain));
  }
  List normalised(List x, List gain, double epsilon) {
    return b_.by_column("multiply", scaled(x, gain.size, epsilon), gain);
  }
  List scaled(List x, std::size_t width, double epsilon) {
    return b_.by_row("multiply", x, inverse_root(b_.squares(x, width), width, static_cast<float>(epsilon)));
  }

  List normalise_keys(List x) {
    const List squares = b_.squares(x, keys());
    if (traits_.is_kimi) return b_.by_row("divide", x, b_.each("root", b_.each("add", squares, b_.constant(1e-6F))));
    const List keys = b_.by_row("multiply", x, inverse_root(squares, 1, 1e-6F));
    return has_gates() ? keys : rounded(keys);
  }

  /// down(swish(gate(y)) · up(y)), y = norm(x), cut where the class cuts.
  List look_up(const std::string& prefix, List x) {
    const List y = normalise(x, gain(prefix + "mlp_norm.weight"));
    List gate = apply(prefix + "mlp.gate_proj.weight", y), up = apply(prefix + "mlp.up_proj.weight", y);
    if (config_.swiglu_limit > 0) {
      const List most = rounded(b_.constant(config_.swiglu_limit)), least = negative(most);
      gate = lesser(gate, most);
      up = b_.each("greater", lesser(up, most), least);
    }
    return apply(prefix + "mlp.down_proj.weight", rounded(b_.each("multiply", rounded_here(silu(gate)), up)));
  }
  List negative(List x) { return b_.each("subtract", b_.constant(0), x); }
  List lesser(List a, List b) { return negative(b_.each("greater", negative(a), negative(b))); }

  /// Manifold-constrained hyper-connections (Xie et al. 2026): the block reads Σ p_i x_i of the streams x and adds q_j
  /// times its answer to Σ C_ij x_i. Its weights are linear in the normalised streams, in fp32: p through σ, q through
  /// 2σ, and C through a softmax of rows, whose columns and rows are then divided by their sums in turn.
  template <class Block>
  List connect(const std::string& name, List x, const Block& block) {
    const std::size_t streams = config_.streams, width = config_.hidden_size;
    const List raw = unrounded(name + "fn", scaled(x, x.size, config_.norm_epsilon));
    const List base = weights(name + "base"), scale = weights(name + "scale");
    const auto logits = [&](std::size_t first, std::size_t count, std::size_t kind) {
      return b_.each("add", b_.each("multiply", b_.part(raw, first, count), b_.part(scale, kind, 1)),
                     b_.part(base, first, count));
    };
    const List epsilon = b_.constant(config_.stream_epsilon);
    const List read = b_.each("add", sigmoid(logits(0, streams, 0)), epsilon);
    const List written = b_.each("multiply", b_.constant(2), sigmoid(logits(streams, streams, 1)));
    List mixing = logits(2 * streams, streams * streams, 2);
    List most = b_.make("copy", {streams}, {b_.view(mixing, {streams})});
    for (std::size_t j = 1; j < streams; ++j)
      most = b_.make("greater", {streams}, {b_.view(most, {1}), b_.view(mixing, {streams}, j)});
    mixing = b_.each("exp32", b_.by_row("subtract", mixing, most));
    const auto sums = [&](std::size_t along, std::size_t across) {
      return b_.make("dot", {streams}, {b_.view(b_.constant(1), {0, 0}), b_.view(mixing, {along, across})}, streams);
    };
    mixing = b_.each("add", b_.by_row("divide", mixing, sums(streams, 1)), epsilon);
    mixing = b_.by_column("divide", mixing, b_.each("add", sums(1, streams), epsilon));
    for (std::uint32_t round = 1; round < config_.sinkhorn_rounds; ++round) {
      mixing = b_.by_row("divide", mixing, b_.each("add", sums(streams, 1), epsilon));
      mixing = b_.by_column("divide", mixing, b_.each("add", sums(1, streams), epsilon));
    }
    const List answer =
        block(rounded(b_.make("dot", {width}, {b_.view(read, {0, 1}), b_.view(x, {1, width})}, streams)));
    const List added =
        b_.make("multiply", {streams, width}, {b_.view(rounded(written), {1, 0}), b_.view(answer, {0, 1})});
    const List kept = b_.make("dot", {streams, width},
                              {b_.view(rounded(mixing), {1, 0, streams}), b_.view(x, {0, 1, width})}, streams);
    return rounded(b_.each("add", rounded(added), rounded(kept)));
  }

  /// Taps · (older rows, this one); what is remembered of the rows goes to `convolutions`.
  List convolve(const std::string& name, std::size_t first, List row, std::vector<List>& convolutions) {
    const std::size_t count = checkpoint_.config.convolution_taps, size = row.size;
    const List taps = weights(name);
    List sum = row;
    if (kept() == 0) return b_.make("dot", {size}, {b_.view(taps, {count, 0}, count - 1), b_.view(row, {1, 0})}, 1);
    sum = b_.make("dot", {size}, {b_.view(taps, {count, 1}, unseen_), b_.view(memory_, {kept(), 1}, first)}, kept());
    sum = b_.make("dot", {size}, {b_.view(taps, {count, 0}, count - 1), b_.view(row, {1, 0}), b_.view(sum, {1})}, 1);
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

  List sigmoid(List x) { return b_.each("sigmoid32", b_.constant(1), x); }
  List silu(List x) { return traits_.is_hybrid ? b_.each("sigmoid32", x, x) : b_.each("multiply", x, sigmoid(x)); }
  List activate(List x, bool has_silu) { return rounded(has_silu ? silu(x) : x); }

  List mix(const std::string& mixer, std::size_t first, std::size_t older, List x, std::vector<List>& convolutions) {
    List q = apply(mixer + "q_proj.weight", x), k = apply(mixer + "k_proj.weight", x),
         v = apply(mixer + "v_proj.weight", x);
    const List b = apply(mixer + "b_proj.weight", x);
    if (config_.convolution_taps != 0) {
      const std::size_t k_first = older + q.size * kept(), v_first = k_first + k.size * kept();
      const auto convolved = [&](const std::string& name, std::size_t first_row, List row) {
        const List sum = convolve(name, first_row, row, convolutions);
        return traits_.is_hybrid ? rounded_like(name, sum) : sum;
      };
      q = convolved(mixer + "q_conv1d.weight", older, q);
      k = convolved(mixer + "k_conv1d.weight", k_first, k);
      v = convolved(mixer + "v_conv1d.weight", v_first, v);
    }
    q = normalise_keys(activate(q, config_.silu_keys));
    k = normalise_keys(activate(k, config_.silu_keys));
    v = activate(v, true);
    List beta = sigmoid(b);
    // The kernels of gated DeltaNet and KDA take β's sigmoid themselves, in fp32.
    if (!has_gates() || traits_.is_hybrid || traits_.channel_gates) beta = rounded(beta);
    if (config_.negative_eigenvalues) beta = b_.each("multiply", beta, b_.constant(2));
    List read;
    if (form_ == CheckpointForm::kOpen) {
      read = b_.part(memory_, first, heads() * values());
      for (const List list : {read, q, k, v, beta}) b_.keep(list);
      if (has_gates()) b_.keep(log_decay(mixer, x));
    } else {
      read = recurrence(mixer, first, x, q, k, v, beta);
    }
    read = rounded(read);
    const List head_gain = weights(mixer + "o_norm.weight");
    List output;
    if (traits_.is_hybrid && !traits_.is_kimi) {  // rounded before the weight and after it
      const List normed = rounded(normalised(read, b_.numbers({1}, values()), config_.output_norm_epsilon));
      output = rounded(
          b_.make("multiply", {heads(), values()}, {b_.view(head_gain, {0, 1}), b_.view(normed, {values(), 1})}));
    } else {
      output = normalised(read, head_gain, config_.output_norm_epsilon);
    }
    if (config_.output_gate != OutputGate::kNone) {
      const List gate = output_gate(mixer, x);
      output = b_.each("multiply", output, config_.output_gate == OutputGate::kSilu ? silu(gate) : sigmoid(gate));
    }
    return apply(mixer + "o_proj.weight", rounded(output));
  }

  List recurrence(const std::string& mixer, std::size_t first, List x, List q, List k, List v, List beta) {
    const std::size_t numbers = keys() * values();
    List state = b_.part(memory_, first, heads() * numbers);
    if (has_gates()) state = forgotten(mixer, x, state);
    for (std::size_t j = 0; j < config_.householders; ++j) {
      const std::size_t k_first = j * heads() * keys(), v_first = j * heads() * values();
      // GDN-2 looks with β ∘ k.
      const List looked = traits_.channel_gates ? b_.each("multiply", beta, k) : k;
      const List seen =
          b_.make("dot", {heads(), values()},
                  {b_.view(state, {numbers, 1, values()}), b_.view(looked, {keys(), 0, 1}, k_first)}, keys());
      const auto less_seen = [&](List from, std::size_t from_first) {
        return b_.make("subtract", {heads(), values()},
                       {b_.view(from, {values(), 1}, from_first), b_.view(seen, {values(), 1})});
      };
      const List update =
          traits_.channel_gates
              ? less_seen(b_.each("multiply", rounded(sigmoid(apply(mixer + "w_proj.weight", x))), v), 0)
              : b_.make("multiply", {heads(), values()},
                        {b_.view(less_seen(v, v_first), {values(), 1}), b_.view(beta, {1, 0}, j * heads())});
      state = b_.make("dot", {heads(), keys(), values()},
                      {b_.view(k, {keys(), 1, 0, 0}, j * heads() * keys()), b_.view(update, {values(), 0, 1, 0}),
                       b_.view(state, {numbers, values(), 1})},
                      1);
    }
    b_.keep(state);
    const float root = std::sqrt(static_cast<float>(keys()));
    const List query = traits_.is_kimi ? b_.each("multiply", q, b_.constant(1 / std::sqrt(static_cast<double>(keys()))))
                       : traits_.is_hybrid ? b_.each("divide", q, b_.constant(root))
                                           : b_.each("multiply", q, b_.constant(1 / root));
    return b_.make("dot", {heads(), values()}, {b_.view(state, {numbers, 1, values()}), b_.view(query, {keys(), 0, 1})},
                   keys());
  }

  /// g = −e^A_log · softplus(a + dt_bias), or with a bound bound · σ(e^A_log (a + dt_bias)).
  List log_decay(const std::string& mixer, List x) {
    const List a = traits_.decay == Decay::kHead
                       ? apply(mixer + "a_proj.weight", x)
                       : apply(mixer + "f_proj.1.weight", apply(mixer + "f_proj.0.weight", x));
    const std::size_t each_head = a.size / heads();
    const List rates = b_.each("exp32", weights(mixer + "A_log"));
    const bool is_bounded = config_.gate_lower_bound < 0;
    List steps = b_.each("add", a, weights(mixer + "dt_bias"));
    if (!is_bounded) steps = b_.each("softplus32", steps);
    const List times =
        b_.make("multiply", {heads(), each_head}, {b_.view(rates, {1, 0}), b_.view(steps, {each_head, 1})});
    return is_bounded ? b_.each("multiply", b_.constant(static_cast<float>(config_.gate_lower_bound)), sigmoid(times))
                      : b_.each("subtract", b_.constant(0), times);
  }

  /// The state times e^g.
  List forgotten(const std::string& mixer, List x, List state) {
    const List factors = b_.each("exp32", log_decay(mixer, x));
    const std::size_t each_head = factors.size / heads();
    return b_.make("multiply", {heads(), keys(), values()},
                   {b_.view(state, {keys() * values(), values(), 1}),
                    b_.view(factors, {each_head, each_head > 1 ? std::size_t{1} : 0, 0})});
  }

  List output_gate(const std::string& mixer, List x) {
    if (!traits_.low_rank_gates) return apply(mixer + "g_proj.weight", x);
    const List sum = unrounded(mixer + "g_proj.1.weight", apply(mixer + "g_proj.0.weight", x));
    if (traits_.is_kimi) return rounded(sum);
    return rounded(b_.each("add", sum, weights(mixer + "g_proj.1.bias")));
  }

  const Checkpoint& checkpoint_;
  const CheckpointConfig& config_;
  CheckpointForm form_;
  CheckpointPlaces places_;
  const FamilyTraits& traits_;
  bool is_bf16_;
  std::size_t unseen_;  ///< taps of the file, from the first on, that are all zeros
  OperationsBuilder b_;
  List memory_;
  std::map<std::string, List> wholes_;  ///< tensors of the file
};

}  // namespace

CheckpointPlaces::CheckpointPlaces(const CheckpointConfig& config, CheckpointForm form) {
  const FamilyTraits& traits = traits_of(config.family);
  const std::size_t heads = config.heads, keys = heads * config.key_dim, values = heads * config.value_dim,
                    times = config.householders, taps = config.convolution_taps;
  if (form == CheckpointForm::kOpen) {
    query = values;
    key = query + keys;
    value = key + times * keys;
    beta = value + times * values;
    decay = beta + (traits.channel_gates ? keys : times * heads);
    layer = decay + (traits.decay == Decay::kNone ? 0 : traits.decay == Decay::kHead ? heads : keys);
  } else {
    layer = keys * config.value_dim;
  }
  convolution = config.layers * layer;
  embedding = convolution + config.layers * (taps == 0 ? 0 : taps - 1) * (keys + times * (keys + values));
  logits = embedding + (form == CheckpointForm::kLetters ? 0 : config.hidden_size);
  size = logits + (form == CheckpointForm::kLetters ? 0 : config.vocabulary);
}

Operations checkpoint_operations(const Checkpoint& checkpoint, const CheckpointModel& model, CheckpointForm form) {
  return Writer(checkpoint, model, form).write();
}

TensorFile tensors_in_file(const Checkpoint& checkpoint) {
  if (traits_of(checkpoint.config.family).is_hybrid) return with_file_names(checkpoint.config, checkpoint.tensors);
  if (!checkpoint.parts.empty()) return part_householders(checkpoint.tensors, checkpoint.parts);
  return checkpoint.tensors;
}

}  // namespace krohn
