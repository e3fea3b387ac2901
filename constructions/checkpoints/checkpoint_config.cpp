#include "krohn/constructions/checkpoints/checkpoint_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

using Family = CheckpointConfig::Family;
using nlohmann::json;

constexpr std::uint32_t kMaxExtent = 1u << 20;

/// Members that do not change the logits of a word: where and how fast the library computes, how it trains, what a
/// generator does with the logits, and what the files are called.
constexpr std::string_view kHarmless[] = {
    // the library's
    "attn_mode", "fuse_cross_entropy", "fuse_linear_cross_entropy", "fuse_norm", "fuse_swiglu", "initializer_range",
    "max_position_embeddings", "use_cache", "use_l2warp",
    // transformers'
    "_attn_implementation_autoset", "_commit_hash", "_name_or_path", "architectures", "dtype", "eos_token_id",
    "finetuning_task", "id2label", "is_decoder", "keys_to_ignore_at_inference", "label2id", "name_or_path",
    "num_labels", "output_attentions", "output_hidden_states", "pad_token_id", "prefix", "problem_type", "return_dict",
    "sep_token_id", "task_specific_params", "tf_legacy_loss", "tokenizer_class", "torch_dtype", "torchscript",
    "transformers_version", "use_bfloat16",
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

/// Members of one JSON object, each checked when it is asked for.
class Members {
 public:
  Members(const json& object, std::string where) : object_(object), where_(std::move(where)) {}

  /// A member that is null is one that is not there, as in the library.
  bool has(const char* name) const {
    asked_.insert(name);
    return object_.contains(name) && !object_[name].is_null();
  }

  std::uint32_t count(const char* name, std::uint32_t standard, std::uint32_t least = 1) const {
    if (!has(name)) return standard;
    const json& value = object_[name];
    if (!value.is_number_integer() || value < least || value > kMaxExtent)
      fail(name, fmt::format("is not a whole number from {} to {}", least, kMaxExtent));
    return value.get<std::uint32_t>();
  }
  bool is_empty(const char* name) const { return object_[name].empty(); }
  bool flag(const char* name, bool standard) const {
    if (!has(name)) return standard;
    if (!object_[name].is_boolean()) fail(name, "is neither true nor false");
    return object_[name].get<bool>();
  }
  double real(const char* name, double standard) const {
    if (!has(name)) return standard;
    if (!object_[name].is_number()) fail(name, "is not a number");
    const double value = object_[name].get<double>();
    if (!std::isfinite(value) || value < 0 || value > kMaxExtent) fail(name, "is not a number from 0 to 2^20");
    return value;
  }
  std::string text(const char* name, const char* standard) const {
    if (!has(name)) return standard;
    if (!object_[name].is_string()) fail(name, "is not a text");
    return object_[name].get<std::string>();
  }
  /// Refuses whatever differs from the one value that the emulation has.
  void require(const char* name, bool supported, const std::string& what) const {
    if (!supported) fail(name, what);
  }
  /// Refuses every member that nobody asked for and that is not known to be harmless.
  void require_no_others() const {
    for (const auto& [name, value] : object_.items()) {
      if (value.is_null() || asked_.contains(name) || std::ranges::find(kHarmless, name) != std::end(kHarmless))
        continue;
      const auto known = std::ranges::find(kRefused, name, &std::pair<std::string_view, std::string_view>::first);
      if (known != std::end(kRefused)) throw InputError(where_, fmt::format("{}: {}", in_quotes(name), known->second));
      throw InputError(where_, fmt::format("the member {} is not known, and may change what the model computes; if it "
                                           "does not, remove it",
                                           in_quotes(name)));
    }
  }
  [[noreturn]] void fail(const char* name, const std::string& what) const {
    throw InputError(where_, fmt::format("\"{}\" {}", name, what));
  }

 private:
  const json& object_;
  std::string where_;
  mutable std::set<std::string, std::less<>> asked_;
};

/// int(total · ratio), as the library computes a width; the ratio has to give a whole number.
std::uint32_t scaled(const Members& members, const char* name, std::uint32_t total, double ratio) {
  const double width = total * ratio;
  if (width < 1 || width > kMaxExtent || width != std::floor(width))
    members.fail(name, fmt::format("times {} is not a whole width", total));
  return static_cast<std::uint32_t>(width);
}

std::uint32_t per_head(const Members& members, const char* name, std::uint32_t width, std::uint32_t heads) {
  if (width % heads != 0)
    members.fail(name, fmt::format("gives a width of {} that {} heads do not divide", width, heads));
  return width / heads;
}

void require_supported(const Members& members) {
  const auto off = [&](const char* name, const char* what) { members.require(name, !members.flag(name, false), what); };
  off("tie_word_embeddings", "is true; krohn reads checkpoints with their own lm_head");
  off("use_gate", "is true; output gates are not emulated");
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

void read_delta_net(const Members& members, CheckpointConfig& config) {
  config.heads = members.count("num_heads", 16);
  const std::uint32_t keys = scaled(members, "expand_k", config.hidden_size, members.real("expand_k", 1));
  const std::uint32_t values = scaled(members, "expand_v", config.hidden_size, members.real("expand_v", 1));
  config.key_dim = per_head(members, "expand_k", keys, config.heads);
  config.value_dim = per_head(members, "expand_v", values, config.heads);
  const std::string activation = members.text("qk_activation", "silu");
  members.require("qk_activation", activation == "silu" || activation == "identity",
                  fmt::format("is {}; \"silu\" and \"identity\" are emulated", in_quotes(activation)));
  config.silu_keys = activation == "silu";
  members.require("qk_norm", members.text("qk_norm", "l2") == "l2", "is not \"l2\"");
  members.require("use_beta", members.flag("use_beta", true), "is false");
}

void read_gated_delta_product(const Members& members, CheckpointConfig& config) {
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

json shared_members(const CheckpointConfig& config) {
  return {{"attn_mode", "fused_recurrent"},
          {"bos_token_id", config.begin_token},
          {"conv_size", config.convolution_taps == 0 ? 4 : config.convolution_taps},
          {"eos_token_id", nullptr},
          {"allow_neg_eigval", config.negative_eigenvalues},
          {"fuse_cross_entropy", false},
          {"fuse_norm", true},
          {"fuse_swiglu", true},
          {"hidden_act", "swish"},
          {"hidden_size", config.hidden_size},
          {"intermediate_size", config.intermediate_size},
          {"model_type", model_type(config.family)},
          {"norm_eps", config.norm_epsilon},
          {"num_heads", config.heads},
          {"num_hidden_layers", config.layers},
          {"tie_word_embeddings", false},
          {"torch_dtype", "float32"},
          {"use_short_conv", config.convolution_taps != 0},
          {"vocab_size", config.vocabulary}};
}

}  // namespace

std::string model_type(Family family) { return family == Family::kDeltaNet ? "delta_net" : "gated_deltaproduct"; }

std::string format_config(const CheckpointConfig& config) {
  json members = shared_members(config);
  const double hidden = config.hidden_size;
  if (config.family == Family::kDeltaNet) {
    members["architectures"] = {"DeltaNetForCausalLM"};
    members["expand_k"] = config.heads * config.key_dim / hidden;
    members["expand_v"] = config.heads * config.value_dim / hidden;
    members["qk_activation"] = config.silu_keys ? "silu" : "identity";
    members["qk_norm"] = "l2";
    members["use_beta"] = true;
    members["use_gate"] = false;
  } else {
    members["architectures"] = {"GatedDeltaProductForCausalLM"};
    members["expand_v"] = static_cast<double>(config.value_dim) / config.key_dim;
    members["head_dim"] = config.key_dim;
    members["num_householder"] = config.householders;
    members["use_forget_gate"] = false;
    members["use_output_gate"] = false;
  }
  return members.dump(2) + "\n";
}

CheckpointConfig parse_config(std::string_view text, const std::string& where) {
  const json object = parse_strict_json(std::string(text), where);
  if (!object.is_object()) throw InputError(where, "not a JSON object");
  const Members members(object, where);
  CheckpointConfig config;
  const std::string type = members.text("model_type", "");
  if (type == model_type(Family::kDeltaNet))
    config.family = Family::kDeltaNet;
  else if (type == model_type(Family::kGatedDeltaProduct))
    config.family = Family::kGatedDeltaProduct;
  else
    members.fail("model_type",
                 fmt::format("is {}; krohn reads \"delta_net\" and \"gated_deltaproduct\"", in_quotes(type)));
  require_supported(members);
  config.hidden_size = members.count("hidden_size", 2048);
  config.layers = members.count("num_hidden_layers", config.family == Family::kDeltaNet ? 24 : 21);
  config.vocabulary = members.count("vocab_size", 32000);
  config.begin_token = members.count("bos_token_id", 1, 0);
  config.norm_epsilon = members.real("norm_eps", 1e-6);
  config.negative_eigenvalues = members.flag("allow_neg_eigval", false);
  const std::uint32_t taps = members.count("conv_size", 4);
  config.convolution_taps = members.flag("use_short_conv", true) ? taps : 0;
  if (config.family == Family::kDeltaNet)
    read_delta_net(members, config);
  else
    read_gated_delta_product(members, config);
  const auto width = static_cast<std::uint32_t>(config.hidden_size * members.count("hidden_ratio", 4) * 2.0 / 3.0);
  config.intermediate_size = members.count("intermediate_size", 256 * ((width + 255) / 256));
  members.require_no_others();
  return config;
}

}  // namespace krohn
