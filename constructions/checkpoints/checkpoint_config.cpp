#include "krohn/constructions/checkpoints/checkpoint_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/checkpoints/config_members.h"
#include "krohn/constructions/checkpoints/hybrid_config.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

using Family = CheckpointConfig::Family;
using nlohmann::json;

/// Members of the library's own that do not change the logits of a word.
constexpr std::string_view kHarmless[] = {"attn_mode", "fuse_cross_entropy", "fuse_linear_cross_entropy", "fuse_swiglu",
                                          "use_l2warp"};

/// int(total · ratio), as the library computes a width; the ratio has to give a whole number.
std::uint32_t scaled(const ConfigMembers& members, const char* name, std::uint32_t total, double ratio) {
  const double width = total * ratio;
  if (width < 1 || width > kMaxExtent || width != std::floor(width))
    members.fail(name, fmt::format("times {} is not a whole width", total));
  return static_cast<std::uint32_t>(width);
}

std::uint32_t per_head(const ConfigMembers& members, const char* name, std::uint32_t width, std::uint32_t heads) {
  if (width % heads != 0)
    members.fail(name, fmt::format("gives a width of {} that {} heads do not divide", width, heads));
  return width / heads;
}

void require_supported(const ConfigMembers& members) {
  const auto off = [&](const char* name, const char* what) { members.require(name, !members.flag(name, false), what); };
  off("tie_word_embeddings", "is true; krohn reads checkpoints with their own lm_head");
  off("conv_bias", "is true; convolutions with a bias are not emulated");
  off("is_encoder_decoder", "is true; a language model has no encoder");
  off("add_cross_attention", "is true; a language model has no encoder");
  off("tie_encoder_decoder", "is true; a language model has no encoder");
  members.require("pruned_heads", !members.has("pruned_heads") || members.is_empty("pruned_heads"), "is not empty");
  members.require("chunk_size_feed_forward", members.count("chunk_size_feed_forward", 0, 0) == 0, "is not 0");
  members.require("attn", !members.has("attn"), "mixes in attention layers, which have no recurrent state");
  members.require("attnres_block_size", !members.has("attnres_block_size"), "mixes residuals by attention");
  members.require("hidden_act", members.text("hidden_act", "swish") == "swish", "is not \"swish\"");
  members.require("use_output_norm", members.flag("use_output_norm", true), "is false; the output norm is emulated");
}

void read_delta_net(const ConfigMembers& members, CheckpointConfig& config) {
  config.heads = members.count("num_heads", 16);
  const std::uint32_t keys = scaled(members, "expand_k", config.hidden_size, members.real("expand_k", 1));
  const std::uint32_t values = scaled(members, "expand_v", config.hidden_size, members.real("expand_v", 1));
  config.key_dim = per_head(members, "expand_k", keys, config.heads);
  config.value_dim = per_head(members, "expand_v", values, config.heads);
  members.require("use_gate", !members.flag("use_gate", false), "is true; output gates are not emulated");
  const std::string activation = members.text("qk_activation", "silu");
  members.require("qk_activation", activation == "silu" || activation == "identity",
                  fmt::format("is {}; \"silu\" and \"identity\" are emulated", in_quotes(activation)));
  config.silu_keys = activation == "silu";
  members.require("qk_norm", members.text("qk_norm", "l2") == "l2", "is not \"l2\"");
  members.require("use_beta", members.flag("use_beta", true), "is false");
}

void read_gated_delta_product(const ConfigMembers& members, CheckpointConfig& config) {
  config.heads = members.count("num_heads", 6);
  config.key_dim = members.count("head_dim", 256);
  config.value_dim = scaled(members, "expand_v", config.key_dim, members.real("expand_v", 2));
  config.householders = members.count("num_householder", 1);
  config.silu_keys = true;
  members.require("use_output_gate", !members.flag("use_output_gate", true), "is true; output gates are not emulated");
  members.require("use_forget_gate", !members.flag("use_forget_gate", false), "is true; forget gates are not emulated");
  members.require("num_v_heads", members.count("num_v_heads", config.heads) == config.heads,
                  "differs from \"num_heads\"");
}

/// Heads as gated DeltaNet and KDA have them; values as many as queries and keys.
void read_gated_heads(const ConfigMembers& members, CheckpointConfig& config, std::uint32_t heads,
                      std::uint32_t head_dim, double expand) {
  config.heads = members.count("num_heads", heads);
  config.key_dim = members.count("head_dim", head_dim);
  config.value_dim = scaled(members, "expand_v", config.key_dim, members.real("expand_v", expand));
  config.silu_keys = true;
  members.require("num_v_heads", members.count("num_v_heads", config.heads) == config.heads,
                  "differs from \"num_heads\"");
  config.output_gate = traits_of(config.family).gate;
}

void read_gated_delta_net(const ConfigMembers& members, CheckpointConfig& config) {
  read_gated_heads(members, config, 6, 256, 2);
  const std::string activation = members.text("output_gate_activation", "swish");
  members.require("output_gate_activation", activation == "swish" || activation == "silu" || activation == "sigmoid",
                  "is neither \"swish\", \"silu\" nor \"sigmoid\"");
  if (activation == "sigmoid") config.output_gate = OutputGate::kSigmoid;
  if (!members.flag("use_gate", true)) config.output_gate = OutputGate::kNone;
}

void read_kda(const ConfigMembers& members, CheckpointConfig& config) {
  read_gated_heads(members, config, 16, 128, 1);
  members.require("safe_gate", !members.flag("safe_gate", false),
                  "is true; decays with a lower bound are not emulated");
  members.require("lower_bound", !members.has("lower_bound"), "is given; decays with a lower bound are not emulated");
}

void read_layers(const ConfigMembers& members, CheckpointConfig& config) {
  switch (config.family) {
    case Family::kDeltaNet:
      return read_delta_net(members, config);
    case Family::kGatedDeltaProduct:
      return read_gated_delta_product(members, config);
    case Family::kGatedDeltaNet:
      return read_gated_delta_net(members, config);
    default:
      return read_kda(members, config);
  }
}

json shared_members(const CheckpointConfig& config) {
  return {{"attn_mode", "fused_recurrent"},
          {"bos_token_id", config.begin_token},
          {"conv_size", config.convolution_taps == 0 ? 4 : config.convolution_taps},
          {"eos_token_id", nullptr},
          {"allow_neg_eigval", config.negative_eigenvalues},
          {"fuse_cross_entropy", false},
          {"fuse_norm", config.fused_norm},
          {"fuse_swiglu", true},
          {"hidden_act", "swish"},
          {"hidden_size", config.hidden_size},
          {"intermediate_size", config.intermediate_size},
          {"architectures", json::array({traits_of(config.family).architecture})},
          {"model_type", traits_of(config.family).model_type},
          {"norm_eps", config.norm_epsilon},
          {"num_heads", config.heads},
          {"num_hidden_layers", config.layers},
          {"tie_word_embeddings", false},
          {"torch_dtype", config.dtype},
          {"use_short_conv", config.convolution_taps != 0},
          {"vocab_size", config.vocabulary}};
}

}  // namespace

std::string format_config(const CheckpointConfig& config) {
  if (traits_of(config.family).is_hybrid) return format_hybrid_config(config);
  json members = shared_members(config);
  const double hidden = config.hidden_size;
  if (config.family == Family::kDeltaNet) {
    members["expand_k"] = config.heads * config.key_dim / hidden;
    members["expand_v"] = config.heads * config.value_dim / hidden;
    members["qk_activation"] = config.silu_keys ? "silu" : "identity";
    members["qk_norm"] = "l2";
    members["use_beta"] = true;
    members["use_gate"] = false;
    return members.dump(2) + "\n";
  }
  members["expand_v"] = static_cast<double>(config.value_dim) / config.key_dim;
  members["head_dim"] = config.key_dim;
  if (config.family == Family::kGatedDeltaProduct) {
    members["num_householder"] = config.householders;
    members["use_forget_gate"] = false;
    members["use_output_gate"] = false;
  }
  if (config.family == Family::kGatedDeltaNet) {
    members["use_gate"] = config.output_gate != OutputGate::kNone;
    members["output_gate_activation"] = config.output_gate == OutputGate::kSigmoid ? "sigmoid" : "swish";
  }
  return members.dump(2) + "\n";
}

CheckpointConfig parse_config(std::string_view text, const std::string& where) {
  const json object = parse_strict_json(std::string(text), where);
  if (!object.is_object()) throw InputError(where, "not a JSON object");
  const ConfigMembers members(object, where);
  CheckpointConfig config;
  const std::string type = members.text("model_type", "");
  const auto family = std::ranges::find(kCheckpointFamilies, type, [](Family f) { return traits_of(f).model_type; });
  if (family == kCheckpointFamilies.end()) {
    std::string known;
    for (const Family each : kCheckpointFamilies)
      known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", traits_of(each).model_type);
    members.fail("model_type", fmt::format("is {}; krohn reads {}", in_quotes(type), known));
  }
  config.family = *family;
  const std::string older = members.has("torch_dtype") ? members.text("torch_dtype", "") : "";
  const std::string dtype = members.has("dtype") ? members.text("dtype", "") : older;
  constexpr std::string_view kOfTorch = "torch.";
  config.dtype = dtype.starts_with(kOfTorch) ? dtype.substr(kOfTorch.size()) : dtype == "auto" ? "" : dtype;
  if (traits_of(config.family).is_hybrid) return parse_hybrid_config(members, std::move(config));
  require_supported(members);
  const std::uint32_t layers =
      config.family == Family::kDeltaNet || config.family == Family::kKda || config.family == Family::kGdn2 ? 24 : 21;
  config.hidden_size = members.count("hidden_size", 2048);
  config.layers = members.count("num_hidden_layers", layers);
  config.vocabulary = members.count("vocab_size", 32000);
  config.begin_token = members.count("bos_token_id", 1, 0);
  config.norm_epsilon = config.output_norm_epsilon = members.real("norm_eps", 1e-6);
  config.negative_eigenvalues = members.flag("allow_neg_eigval", false);
  config.fused_norm = members.flag("fuse_norm", true);
  const std::uint32_t taps = members.count("conv_size", 4);
  config.convolution_taps = members.flag("use_short_conv", true) ? taps : 0;
  read_layers(members, config);
  const auto width = static_cast<std::uint32_t>(config.hidden_size * members.count("hidden_ratio", 4) * 2.0 / 3.0);
  config.intermediate_size = members.count("intermediate_size", 256 * ((width + 255) / 256));
  members.require_no_others(kHarmless);
  return config;
}

}  // namespace krohn
