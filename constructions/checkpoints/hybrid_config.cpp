#include "krohn/constructions/checkpoints/hybrid_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/checkpoints/checkpoint_tensors.h"

namespace krohn {
namespace {

using nlohmann::json;

constexpr char kRecurrent[] = "linear_attention", kAttention[] = "full_attention";

/// Of attention layers, which have to be silent, and of how weights begin.
constexpr std::string_view kHarmless[] = {"attention_bias",       "attention_dropout", "head_dim",
                                          "linear_a_log_max",     "linear_a_log_min",  "linear_dt_init_floor",
                                          "linear_dt_max",        "linear_dt_min",     "num_attention_heads",
                                          "num_key_value_heads",  "rope_parameters",   "rope_theta",
                                          "partial_rotary_factor"};
/// Of experts, where there are none.
constexpr std::string_view kHarmlessQwen[] = {
    "decoder_sparse_step",   "full_attention_interval", "mlp_only_layers",
    "moe_intermediate_size", "norm_topk_prob",          "num_experts_per_tok",
    "output_router_logits",  "router_aux_loss_coef",    "shared_expert_intermediate_size"};

void read_layer_types(const ConfigMembers& members, CheckpointConfig& config) {
  const std::vector<std::string> types = members.texts("layer_types");
  config.all_layers = members.count("num_hidden_layers", static_cast<std::uint32_t>(types.size()));
  if (types.size() != config.all_layers)
    members.fail("layer_types", fmt::format("names {} layers, and there are {}", types.size(), config.all_layers));
  for (std::uint32_t layer = 0; layer < config.all_layers; ++layer) {
    if (types[layer] == kRecurrent) config.recurrent_layers.push_back(layer);
    if (types[layer] != kRecurrent && types[layer] != kAttention)
      members.fail("layer_types", fmt::format("holds {}; \"{}\" and \"{}\" are read", in_quotes(types[layer]),
                                              kRecurrent, kAttention));
  }
  config.layers = static_cast<std::uint32_t>(config.recurrent_layers.size());
  if (config.layers == 0) members.fail("layer_types", "names no recurrent layer");
}

}  // namespace

std::string format_hybrid_config(const CheckpointConfig& config) {
  const FamilyTraits& traits = traits_of(config.family);
  const std::uint32_t head = attention_head_dim(config);
  std::vector<std::string> types(config.all_layers, kAttention);
  for (const std::uint32_t layer : config.recurrent_layers) types[layer] = kRecurrent;
  json members{{"architectures", json::array({traits.architecture})},
               {"attention_bias", false},
               {"bos_token_id", config.begin_token},
               {"dtype", config.dtype},
               {"eos_token_id", nullptr},
               {"hidden_act", "silu"},
               {"hidden_size", config.hidden_size},
               {"intermediate_size", config.intermediate_size},
               {"layer_types", types},
               {"linear_conv_kernel_dim", config.convolution_taps},
               {"linear_key_head_dim", config.key_dim},
               {"linear_num_key_heads", config.heads},
               {"linear_num_value_heads", config.heads},
               {"linear_value_head_dim", config.value_dim},
               {"max_position_embeddings", 1 << 20},
               {"model_type", traits.model_type},
               {"num_attention_heads", config.hidden_size / head},
               {"num_hidden_layers", config.all_layers},
               {"num_key_value_heads", 1},
               {"pad_token_id", nullptr},
               {"rms_norm_eps", config.norm_epsilon},
               {"tie_word_embeddings", false},
               {"vocab_size", config.vocabulary}};
  if (config.family == CheckpointFamily::kOlmoHybrid)
    members["linear_allow_neg_eigval"] = config.negative_eigenvalues;
  else
    members.update({{"head_dim", head}, {"mlp_only_layers", json::array()}, {"num_experts", 0}});
  return members.dump(2) + "\n";
}

CheckpointConfig parse_hybrid_config(const ConfigMembers& members, CheckpointConfig config) {
  const CheckpointFamily family = config.family;
  const bool is_olmo = family == CheckpointFamily::kOlmoHybrid;
  config.silu_keys = true;
  config.output_gate = traits_of(family).gate;
  read_layer_types(members, config);
  config.hidden_size = members.count("hidden_size", is_olmo ? 3840 : 2048);
  config.intermediate_size = members.count("intermediate_size", is_olmo ? 11008 : 5632);
  config.vocabulary = members.count("vocab_size", is_olmo ? 100352 : 151936);
  config.begin_token = members.count("bos_token_id", 0, 0);
  const std::uint32_t attention_heads = members.count("num_attention_heads", is_olmo ? 30 : 16);
  config.heads = members.count("linear_num_key_heads", is_olmo ? attention_heads : 16);
  members.require("linear_num_value_heads",
                  members.count("linear_num_value_heads", is_olmo ? attention_heads : 32) == config.heads,
                  "differs from \"linear_num_key_heads\"; value heads that share keys are not emulated");
  config.key_dim =
      members.count("linear_key_head_dim", is_olmo ? std::max(config.hidden_size * 3 / 4 / config.heads, 1u) : 128);
  config.value_dim = members.count("linear_value_head_dim", is_olmo ? 2 * config.key_dim : 128);
  config.convolution_taps = members.count("linear_conv_kernel_dim", 4);
  config.negative_eigenvalues = is_olmo && members.flag("linear_allow_neg_eigval", true);
  config.norm_epsilon = members.real("rms_norm_eps", 1e-6);
  members.require("rms_norm_eps", static_cast<float>(config.norm_epsilon) > 0,
                  "is 0; a silent attention layer's norm would divide by it");
  config.output_norm_epsilon = is_olmo ? kOlmoOutputEpsilon : config.norm_epsilon;
  members.require("hidden_act", members.text("hidden_act", "silu") == "silu", "is not \"silu\"");
  members.require("tie_word_embeddings", !members.flag("tie_word_embeddings", false),
                  "is true; krohn reads checkpoints with their own lm_head");
  if (!is_olmo)
    members.require("num_experts", members.count("num_experts", 512, 0) == 0, "is not 0; experts are not emulated");
  std::vector<std::string_view> harmless(std::begin(kHarmless), std::end(kHarmless));
  if (!is_olmo) harmless.insert(harmless.end(), std::begin(kHarmlessQwen), std::end(kHarmlessQwen));
  members.require_no_others(harmless);
  return config;
}

}  // namespace krohn
