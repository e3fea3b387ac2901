#include "krohn/constructions/checkpoints/config_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/error.h"

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

double ConfigMembers::real(const char* name, double standard) const {
  if (!is_given(name)) return standard;
  if (!object_[name].is_number()) fail(name, "is not a number");
  const double value = object_[name].get<double>();
  if (!std::isfinite(value) || value < 0 || value > kMaxExtent) fail(name, "is not a number from 0 to 2^20");
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

}  // namespace krohn
