#include "krohn/constructions/checkpoints/checkpoint_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

using nlohmann::json;

/// Members that do not change the logits of a word: where and how fast the library computes, how it trains, what a
/// generator does with the logits, and what the files are called.
constexpr std::string_view kHarmless[] = {
    // of training and of caches
    "initializer_range", "max_position_embeddings", "use_cache",
    // transformers'
    "_attn_implementation_autoset", "_commit_hash", "_name_or_path", "architectures", "eos_token_id", "finetuning_task",
    "id2label", "is_decoder", "keys_to_ignore_at_inference", "label2id", "name_or_path", "num_labels",
    "output_attentions", "output_hidden_states", "pad_token_id", "prefix", "problem_type", "return_dict",
    "sep_token_id", "task_specific_params", "tf_legacy_loss", "tokenizer_class", "torchscript", "transformers_version",
    "use_bfloat16",
    // of generators
    "bad_words_ids", "begin_suppress_tokens", "decoder_start_token_id", "diversity_penalty", "do_sample",
    "early_stopping", "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty", "forced_bos_token_id",
    "forced_eos_token_id", "length_penalty", "max_length", "min_length", "no_repeat_ngram_size", "num_beam_groups",
    "num_beams", "num_return_sequences", "output_scores", "remove_invalid_values", "repetition_penalty",
    "return_dict_in_generate", "suppress_tokens", "temperature", "top_k", "top_p", "typical_p"};

/// Members that are met in the wild and change what is computed: why each is refused.
constexpr std::pair<std::string_view, std::string_view> kRefused[] = {
    {"quantization_config", "its weights are stored quantised; save them dequantised"},
    {"auto_map", "it names Python code to run in place of the library's layers, which krohn does not read"},
    {"per_layer_config", "its layers differ from one another"},
    {"logit_scale", "it scales the logits"},
    {"final_logit_softcapping", "it caps the logits"}};

}  // namespace

bool ConfigMembers::has(const char* name) const {
  asked_.insert(name);
  return object_.contains(name) && !object_[name].is_null();
}

bool ConfigMembers::is_given(const char* name) const {
  asked_.insert(name);
  return object_.contains(name);
}

std::uint32_t ConfigMembers::count(const char* name, std::uint32_t standard, std::uint32_t least) const {
  if (!has(name)) return standard;
  const json& value = object_[name];
  if (!value.is_number_integer() || value < least || value > kMaxExtent)
    fail(name, fmt::format("is not a whole number from {} to {}", least, kMaxExtent));
  return value.get<std::uint32_t>();
}

bool ConfigMembers::flag(const char* name, bool standard) const {
  if (!is_given(name)) return standard;
  if (!object_[name].is_boolean()) fail(name, "is neither true nor false");
  return object_[name].get<bool>();
}

double ConfigMembers::real(const char* name, double standard, double least) const {
  if (!is_given(name)) return standard;
  if (!object_[name].is_number()) fail(name, "is not a number");
  const double value = object_[name].get<double>();
  if (!std::isfinite(value) || value < least || value > kMaxExtent)
    fail(name, fmt::format("is not a number from {} to 2^20", least < 0 ? "-2^20" : "0"));
  return value;
}

std::string ConfigMembers::text(const char* name, const char* standard) const {
  if (!is_given(name)) return standard;
  if (!object_[name].is_string()) fail(name, "is not a text");
  return object_[name].get<std::string>();
}

std::vector<std::string> ConfigMembers::texts(const char* name) const {
  std::vector<std::string> all;
  if (!has(name)) return all;
  if (!object_[name].is_array()) fail(name, "is not a list");
  for (const json& text : object_[name]) {
    if (!text.is_string()) fail(name, "holds something that is not a text");
    all.push_back(text.get<std::string>());
  }
  return all;
}

void ConfigMembers::require(const char* name, bool supported, const std::string& what) const {
  if (!supported) fail(name, what);
}

void ConfigMembers::require_no_others(std::span<const std::string_view> harmless) const {
  for (const auto& [name, value] : object_.items()) {
    if (value.is_null() || asked_.contains(name) || std::ranges::find(kHarmless, name) != std::end(kHarmless) ||
        std::ranges::find(harmless, name) != harmless.end())
      continue;
    const auto known = std::ranges::find(kRefused, name, &std::pair<std::string_view, std::string_view>::first);
    if (known != std::end(kRefused)) throw InputError(where_, fmt::format("{}: {}", in_quotes(name), known->second));
    throw InputError(where_, fmt::format("the member {} is not known, and may change what the model computes; if it "
                                         "does not, remove it",
                                         in_quotes(name)));
  }
}

void ConfigMembers::fail(const char* name, const std::string& what) const {
  throw InputError(where_, fmt::format("\"{}\" {}", name, what));
}

namespace {

constexpr char kRecurrent[] = "linear_attention";
const char* attention_of(CheckpointFamily family) {
  return family == CheckpointFamily::kGlm5Next ? "indexed_attention" : "full_attention";
}

/// For attention layers, which have to be silent, and for how weights begin.
constexpr std::string_view kHarmlessToHybrids[] = {"attention_bias",       "attention_dropout", "head_dim",
                                                   "linear_a_log_max",     "linear_a_log_min",  "linear_dt_init_floor",
                                                   "linear_dt_max",        "linear_dt_min",     "num_attention_heads",
                                                   "num_key_value_heads",  "rope_parameters",   "rope_theta",
                                                   "partial_rotary_factor"};
/// For experts, where there are none.
constexpr std::string_view kHarmlessQwen[] = {
    "decoder_sparse_step",   "full_attention_interval", "mlp_only_layers",
    "moe_intermediate_size", "norm_topk_prob",          "num_experts_per_tok",
    "output_router_logits",  "router_aux_loss_coef",    "shared_expert_intermediate_size"};

/// For multi-head latent attention and for experts, where there are none.
constexpr std::string_view kHarmlessToKimi[] = {
    // of attention
    "index_head_dim", "index_kpool", "index_kpool_always_select_tail", "index_n_heads", "index_topk", "indexer_types",
    "kv_lora_rank", "model_max_length", "q_lora_rank", "qk_head_dim", "qk_nope_head_dim", "qk_rope_head_dim",
    "v_head_dim",
    // of experts
    "first_k_dense_replace", "moe_intermediate_size", "moe_renormalize", "n_group", "n_routed_experts",
    "n_shared_experts", "norm_topk_prob", "num_expert_group", "num_experts", "num_experts_per_tok",
    "num_experts_per_token", "num_local_experts", "num_shared_experts", "output_router_logits", "pretraining_tp",
    "routed_scaling_factor", "router_aux_loss_coef", "topk_group"};
/// Members beside GLM-5.3-Flash's text: tokens of pictures, which a text does not hold, and the tower that sees them.
constexpr std::string_view kHarmlessToGlm[] = {"image_end_token_id", "image_start_token_id", "image_token_id",
                                               "video_end_token_id", "video_start_token_id", "video_token_id",
                                               "vision_config"};

void read_layer_types(const ConfigMembers& members, CheckpointConfig& config) {
  const char* const attention = attention_of(config.family);
  const std::vector<std::string> types = members.texts("layer_types");
  config.all_layers = members.count("num_hidden_layers", static_cast<std::uint32_t>(types.size()));
  if (types.size() != config.all_layers)
    members.fail("layer_types",
                 fmt::format("names {}, and there are {}", counted(types.size(), "layer"), config.all_layers));
  for (std::uint32_t layer = 0; layer < config.all_layers; ++layer) {
    if (types[layer] == kRecurrent) config.recurrent_layers.push_back(layer);
    if (types[layer] != kRecurrent && types[layer] != attention)
      members.fail("layer_types",
                   fmt::format("holds {}; \"{}\" and \"{}\" are read", in_quotes(types[layer]), kRecurrent, attention));
  }
  config.layers = static_cast<std::uint32_t>(config.recurrent_layers.size());
  if (config.layers == 0) members.fail("layer_types", "names no recurrent layer");
}

/// Latent attention of one head of one coordinate; GLM-5.3-Flash in a text_config beside a tower that sees one pixel.
std::string format_kimi_config(const CheckpointConfig& config, json members) {
  const bool is_glm = config.family == CheckpointFamily::kGlm5Next;
  members.update(json::parse(R"({"kv_lora_rank": 1, "q_lora_rank": null, "qk_nope_head_dim": 1, "qk_rope_head_dim": 1,
                                 "v_head_dim": 1})"));
  members["linear_head_dim"] = config.key_dim;
  members["linear_num_heads"] = config.heads;
  members["mlp_layer_types"] = std::vector<std::string>(config.all_layers, "dense");
  if (!is_glm) return members.dump(2) + "\n";
  members.update(json::parse(R"({"index_head_dim": 1, "index_kpool": 1, "index_n_heads": 1, "index_topk": 1,
                                 "linear_lower_bound": null, "model_type": "glm5_next_text", "q_lora_rank": 1,
                                 "qk_rope_head_dim": 0})"));
  members["indexer_types"] = std::vector<std::string>(config.all_layers, "full");
  members["hc_eps"] = config.stream_epsilon;
  members["hc_mult"] = config.streams;
  members["hc_sinkhorn_iters"] = config.sinkhorn_rounds;
  members["swiglu_limit"] = config.swiglu_limit;
  if (config.gate_lower_bound < 0) members["linear_lower_bound"] = config.gate_lower_bound;
  json whole = json::parse(R"({"tie_word_embeddings": false, "vision_config": {
      "depth": 0, "hidden_size": 1, "image_size": 1, "in_channels": 1, "intermediate_size": 1,
      "model_type": "glm5_next_vision", "num_heads": 1, "out_hidden_size": 1, "patch_size": 1,
      "projection_intermediate_size": 1, "spatial_merge_size": 1, "temporal_patch_size": 1}})");
  whole["architectures"] = members["architectures"];
  whole["dtype"] = config.dtype;
  whole["model_type"] = traits_of(config.family).model_type;
  whole["text_config"] = std::move(members);
  return whole.dump(2) + "\n";
}

/// A stream has rounds of normalising, each of several operations a layer.
constexpr std::uint32_t kMaxStreams = 16, kMaxRounds = 100;

void read_streams(const ConfigMembers& members, CheckpointConfig& config) {
  config.streams = members.count("hc_mult", 4);
  members.require("hc_mult", config.streams <= kMaxStreams, fmt::format("is above {}", kMaxStreams));
  config.stream_epsilon = members.real("hc_eps", 1e-6);
  config.sinkhorn_rounds = members.count("hc_sinkhorn_iters", 20, 0);
  members.require("hc_sinkhorn_iters", config.sinkhorn_rounds <= kMaxRounds, fmt::format("is above {}", kMaxRounds));
  config.swiglu_limit = members.real("swiglu_limit", 10);
  members.require("swiglu_limit", config.swiglu_limit > 0, "is 0; every MLP would be cut to nothing");
  config.gate_lower_bound = -5;
  constexpr char kBound[] = "linear_lower_bound";
  if (members.has(kBound))
    config.gate_lower_bound = members.real(kBound, 0, -double{kMaxExtent});
  else if (members.is_given(kBound))  // null: the gate of Kimi Linear
    config.gate_lower_bound = 0;
  members.require(kBound, config.gate_lower_bound < 0 || !members.has(kBound), "is not below 0");
}

/// The text of Kimi Linear or GLM-5.3-Flash.
CheckpointConfig parse_kimi_config(const ConfigMembers& members, CheckpointConfig config) {
  const bool is_glm = config.family == CheckpointFamily::kGlm5Next;
  config.heads = members.count("linear_num_heads", is_glm ? 64 : 32);
  config.key_dim = config.value_dim = members.count("linear_head_dim", 128);
  const std::vector<std::string> mlps = members.texts("mlp_layer_types");
  members.require("mlp_layer_types",
                  mlps.size() == config.all_layers && std::ranges::count(mlps, "dense") == std::ssize(mlps),
                  "is not a \"dense\" for every layer; experts are not emulated");
  if (is_glm) read_streams(members, config);
  return config;
}

/// Heads of gated DeltaNet in Olmo Hybrid and Qwen3-Next.
CheckpointConfig parse_gated_config(const ConfigMembers& members, CheckpointConfig config) {
  const bool is_olmo = config.family == CheckpointFamily::kOlmoHybrid;
  const std::uint32_t attention_heads = members.count("num_attention_heads", is_olmo ? 30 : 16);
  config.heads = members.count("linear_num_key_heads", is_olmo ? attention_heads : 16);
  members.require("linear_num_value_heads",
                  members.count("linear_num_value_heads", is_olmo ? attention_heads : 32) == config.heads,
                  "differs from \"linear_num_key_heads\"; value heads that share keys are not emulated");
  config.key_dim =
      members.count("linear_key_head_dim", is_olmo ? std::max(config.hidden_size * 3 / 4 / config.heads, 1u) : 128);
  config.value_dim = members.count("linear_value_head_dim", is_olmo ? 2 * config.key_dim : 128);
  config.negative_eigenvalues = is_olmo && members.flag("linear_allow_neg_eigval", true);
  if (!is_olmo)
    members.require("num_experts", members.count("num_experts", 512, 0) == 0, "is not 0; experts are not emulated");
  return config;
}

/// hidden_size, intermediate_size and vocab_size where a config names none, by class from kOlmoHybrid on.
constexpr std::uint32_t kOwnSizes[][3] = {
    {3840, 11008, 100352}, {2048, 5632, 151936}, {2304, 9216, 163840}, {4096, 12288, 154880}};

}  // namespace

std::string format_hybrid_config(const CheckpointConfig& config) {
  const FamilyTraits& traits = traits_of(config.family);
  const std::uint32_t head = attention_head_dim(config);
  std::vector<std::string> types(config.all_layers, attention_of(config.family));
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
               {"max_position_embeddings", 1 << 20},
               {"model_type", traits.model_type},
               {"num_attention_heads", traits.is_kimi ? 1 : config.hidden_size / head},
               {"num_hidden_layers", config.all_layers},
               {"num_key_value_heads", 1},
               {"pad_token_id", nullptr},
               {"rms_norm_eps", config.norm_epsilon},
               {"tie_word_embeddings", false},
               {"vocab_size", config.vocabulary}};
  if (traits.is_kimi) return format_kimi_config(config, std::move(members));
  members.update({{"linear_key_head_dim", config.key_dim},
                  {"linear_num_key_heads", config.heads},
                  {"linear_num_value_heads", config.heads},
                  {"linear_value_head_dim", config.value_dim}});
  if (config.family == CheckpointFamily::kOlmoHybrid)
    members["linear_allow_neg_eigval"] = config.negative_eigenvalues;
  else
    members.update({{"head_dim", head}, {"mlp_only_layers", json::array()}, {"num_experts", 0}});
  return members.dump(2) + "\n";
}

CheckpointConfig parse_hybrid_config(const ConfigMembers& members, CheckpointConfig config) {
  const CheckpointFamily family = config.family;
  const bool is_kimi = traits_of(family).is_kimi;
  const auto& sizes = kOwnSizes[static_cast<int>(family) - static_cast<int>(CheckpointFamily::kOlmoHybrid)];
  config.silu_keys = true;
  config.output_gate = traits_of(family).gate;
  members.require("linear_attn_config", !is_kimi || !members.has("linear_attn_config"),
                  "is the layout of the first published checkpoints; save_pretrained of transformers writes another");
  read_layer_types(members, config);
  config.hidden_size = members.count("hidden_size", sizes[0]);
  config.intermediate_size = members.count("intermediate_size", sizes[1]);
  config.vocabulary = members.count("vocab_size", sizes[2]);
  config.begin_token = members.count("bos_token_id", 0, 0);
  config.convolution_taps = members.count("linear_conv_kernel_dim", 4);
  config.negative_eigenvalues = false;
  config.norm_epsilon = members.real("rms_norm_eps", is_kimi ? 1e-5 : 1e-6);
  members.require("rms_norm_eps", static_cast<float>(config.norm_epsilon) > 0,
                  "is 0; a silent attention layer's norm would divide by it");
  config.output_norm_epsilon = family == CheckpointFamily::kOlmoHybrid ? kOlmoOutputEpsilon : config.norm_epsilon;
  members.require("hidden_act", members.text("hidden_act", "silu") == "silu", "is not \"silu\"");
  members.require("tie_word_embeddings", !members.flag("tie_word_embeddings", false),
                  "is true; krohn reads checkpoints with their own lm_head");
  config = is_kimi ? parse_kimi_config(members, std::move(config)) : parse_gated_config(members, std::move(config));
  std::vector<std::string_view> harmless(std::begin(kHarmlessToHybrids), std::end(kHarmlessToHybrids));
  if (is_kimi) harmless.insert(harmless.end(), std::begin(kHarmlessToKimi), std::end(kHarmlessToKimi));
  if (family == CheckpointFamily::kQwen3Next)
    harmless.insert(harmless.end(), std::begin(kHarmlessQwen), std::end(kHarmlessQwen));
  members.require_no_others(harmless);
  return config;
}

namespace {

using Family = CheckpointConfig::Family;

/// Members of the library's own that do not change the logits of a word.
constexpr std::string_view kHarmlessToFla[] = {"attn_mode", "fuse_cross_entropy", "fuse_linear_cross_entropy",
                                               "fuse_swiglu", "use_l2warp"};

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
  if (members.has("lower_bound")) config.gate_lower_bound = members.real("lower_bound", 0, -double{kMaxExtent});
  members.require("lower_bound", config.gate_lower_bound < 0 || !members.has("lower_bound"), "is not below 0");
  members.require("lower_bound", config.family == Family::kKda || !members.has("lower_bound"),
                  "is given; this class has no bounded gate");
  const bool is_safe = members.flag("safe_gate", false);  // what the kernels may take for granted: not what is computed
  members.require("safe_gate", config.gate_lower_bound < 0 || !is_safe, "is true without a \"lower_bound\"");
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

/// The text of a model that sees.
CheckpointConfig parse_glm_config(const json& object, const ConfigMembers& members, const std::string& where,
                                  CheckpointConfig config) {
  members.require("text_config", members.has("text_config") && object["text_config"].is_object(),
                  "is missing; it holds the members of the language model");
  members.require("tie_word_embeddings", !members.flag("tie_word_embeddings", false),
                  "is true; krohn reads checkpoints with their own lm_head");
  members.require_no_others(kHarmlessToGlm);
  const ConfigMembers text(object["text_config"], where + ", text_config");
  text.require("model_type", text.text("model_type", "glm5_next_text") == "glm5_next_text",
               "is not \"glm5_next_text\"");
  for (const char* const name : {"dtype", "torch_dtype"})
    text.require(name, !text.has(name) || text.text(name, "") == config.dtype, "is not that of the whole model");
  return parse_hybrid_config(text, std::move(config));
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
  if (config.gate_lower_bound < 0) {
    members["safe_gate"] = true;
    members["lower_bound"] = config.gate_lower_bound;
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
  if (config.family == Family::kGlm5Next) return parse_glm_config(object, members, where, std::move(config));
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
  members.require_no_others(kHarmlessToFla);
  return config;
}

}  // namespace krohn
