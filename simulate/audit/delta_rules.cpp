#include "krohn/simulate/audit/delta_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

// ---- Which layers are recurrent

bool is_listed(const nlohmann::json& list, std::uint64_t number) {
  for (const nlohmann::json& each : list)
    if (each.is_number_unsigned() && each == number) return true;
  return false;
}

bool is_no_attention_of_fla(const AuditInput& input, std::uint64_t layer) {
  const auto attention = input.config.find("attn");
  if (attention == input.config.end() || attention->is_null()) return true;
  const auto layers = attention->is_object() ? attention->find("layers") : attention->end();
  if (!attention->is_object() || layers == attention->end() || !layers->is_array())
    input.refuse("attn", "names no layers");
  return !is_listed(*layers, layer);
}

/// `layer_types`, or every fourth layer attends.
bool is_linear_layer(const AuditInput& input, std::uint64_t layer) {
  const auto types = input.config.find("layer_types");
  if (types == input.config.end() || types->is_null())
    return (layer + 1) % std::max<std::uint64_t>(input.count("full_attention_interval", 4), 1) != 0;
  if (!types->is_array() || layer >= types->size()) input.refuse("layer_types", "does not name every layer");
  return (*types)[layer] == "linear_attention";
}

/// `layer_types`, or the list of the first published configs, where layers are counted from 1.
bool is_kimi_layer(const AuditInput& input, std::uint64_t layer) {
  const auto own = input.config.find("linear_attn_config");
  if (own == input.config.end() && input.config.contains("layer_types")) return is_linear_layer(input, layer);
  if (own == input.config.end() || !own->is_object() || !own->contains("kda_layers"))
    input.refuse("linear_attn_config", "does not name the layers of KDA");
  if (own->contains("gate_lower_bound") && !(*own)["gate_lower_bound"].is_null())
    input.refuse("linear_attn_config", "has a gate_lower_bound, a gate that is not known here");
  return is_listed((*own)["kda_layers"], layer + 1);
}

// ---- What their heads permit

std::vector<HeadRange> config_only(std::uint64_t heads, bool gated, bool doubled) {
  HeadRange head{0, gated ? kNoBound : 0, 0, kNoBound};
  return std::vector<HeadRange>(heads, with_delta(head, kNoBound, doubled));
}

/// A_t = I − β k kᵀ.
std::vector<HeadRange> delta_net(const AuditInput& input, std::uint64_t layer) {
  const std::uint64_t heads = input.count("num_heads", 16);
  const auto norm = input.config.find("qk_norm");
  if (norm != input.config.end() && *norm != "l2")
    input.refuse("qk_norm", "is not \"l2\"; keys of another norm can be longer than 1");
  if (!input.flag("use_beta", true)) {  // β is 1, or 2
    const HeadRange head{0, 0, input.negative ? -1.0 : 0.0, input.negative ? 0 : kNoBound};
    return std::vector<HeadRange>(heads, head);
  }
  if (input.tensors.empty()) return config_only(heads, false, input.negative);
  const std::string prefix = fmt::format("model.layers.{}.", layer);
  std::vector<HeadRange> ranges;
  for (const double bound :
       row_bounds(input, prefix + "attn.b_proj.weight", gain_of(input, prefix + "attn_norm.weight")))
    ranges.push_back(with_delta({0, 0, 0, kNoBound}, bound, input.negative));
  return ranges;
}

/// A_t = e^g (I − β k kᵀ), g = −e^A softplus(a + b): of every head.
std::vector<HeadRange> gated_delta(const AuditInput& input, const std::vector<double>& a_bounds,
                                   const std::vector<double>& b_bounds, const std::string& mixer) {
  const std::vector<double> a_log = numbers_of(input, mixer + "A_log", a_bounds.size()),
                            bias = numbers_of(input, mixer + "dt_bias", a_bounds.size());
  if (b_bounds.size() != a_bounds.size()) throw InputError(input.where, "its gates and its β are of other heads");
  std::vector<HeadRange> ranges;
  for (std::size_t h = 0; h < a_bounds.size(); ++h)
    ranges.push_back(with_delta(softplus_rates(a_log[h], bias[h], a_bounds[h]), b_bounds[h], input.negative));
  return ranges;
}

std::vector<HeadRange> gated_delta_net(const AuditInput& input, std::uint64_t layer) {
  if (input.tensors.empty())
    return config_only(input.count("num_v_heads", input.count("num_heads", 6)), true, input.negative);
  const std::string prefix = fmt::format("model.layers.{}.", layer), mixer = prefix + "attn.";
  const std::vector<double> gain = gain_of(input, prefix + "attn_norm.weight");
  return gated_delta(input, row_bounds(input, mixer + "a_proj.weight", gain),
                     row_bounds(input, mixer + "b_proj.weight", gain), mixer);
}

std::vector<HeadRange> olmo_hybrid(const AuditInput& input, std::uint64_t layer) {
  if (input.tensors.empty())
    return config_only(input.count("linear_num_value_heads", input.count("num_attention_heads", 30)), true,
                       input.negative);
  const std::string prefix = fmt::format("model.layers.{}.", layer), mixer = prefix + "linear_attn.";
  const std::vector<double> gain = gain_of(input, prefix + "input_layernorm.weight");
  return gated_delta(input, row_bounds(input, mixer + "a_proj.weight", gain),
                     row_bounds(input, mixer + "b_proj.weight", gain), mixer);
}

/// The rows of b and a stand together in groups, one a key head; norms multiply by 1 + their weight.
std::vector<HeadRange> qwen3_next(const AuditInput& input, std::uint64_t layer) {
  const std::uint64_t heads = input.count("linear_num_value_heads", 32), keys = input.count("linear_num_key_heads", 16);
  if (keys == 0 || heads % keys != 0) input.refuse("linear_num_key_heads", "does not divide linear_num_value_heads");
  if (input.tensors.empty()) return config_only(heads, true, false);
  const std::string prefix = fmt::format("model.layers.{}.", layer), mixer = prefix + "linear_attn.";
  const std::vector<double> all =
      row_bounds(input, mixer + "in_proj_ba.weight", gain_of(input, prefix + "input_layernorm.weight", 1));
  if (all.size() != 2 * heads) throw InputError(input.where, "in_proj_ba has not two rows for every value head");
  std::vector<double> a, b;
  const std::uint64_t group = heads / keys;
  for (std::uint64_t row = 0; row < all.size(); ++row) (row / group % 2 == 0 ? b : a).push_back(all[row]);
  return gated_delta(input, a, b, mixer);
}

/// Decays of every channel by itself: g = −e^A softplus(F₂ F₁ x + b).
std::vector<HeadRange> kda(const AuditInput& input, const std::string& norm, const std::string& mixer,
                           const std::string& first, const std::string& second) {
  const std::vector<double> gain = gain_of(input, norm), inner = row_bounds(input, first, gain),
                            b_bounds = row_bounds(input, mixer + "b_proj.weight", gain);
  const std::uint64_t heads = b_bounds.size();
  const std::vector<double> a_log = numbers_of(input, mixer + "A_log", heads),
                            bias = input.tensors.numbers(mixer + "dt_bias");
  const std::uint64_t channels = bias.size();
  const std::vector<double> outer = numbers_of(input, second, channels * inner.size());
  if (heads == 0 || channels % heads != 0) throw InputError(input.where, "its channels are no multiple of its heads");
  std::vector<HeadRange> ranges;
  for (std::uint64_t h = 0; h < heads; ++h) {
    HeadRange head{kNoBound, 0, 0, kNoBound};
    for (std::uint64_t c = h * channels / heads; c < (h + 1) * channels / heads; ++c) {
      double bound = 0;
      for (std::size_t k = 0; k < inner.size(); ++k) bound += std::abs(outer[c * inner.size() + k]) * inner[k];
      head = united(head, softplus_rates(a_log[h], bias[c], bound));
    }
    ranges.push_back(with_delta(head, b_bounds[h], input.negative));
  }
  return ranges;
}

std::vector<HeadRange> kda_of_fla(const AuditInput& input, std::uint64_t layer) {
  for (const char* member : {"lower_bound", "safe_gate"})
    if (input.config.contains(member) && !input.config[member].is_null() && input.config[member] != false)
      input.refuse(member, "asks for a gate that is not known here");
  if (input.tensors.empty()) return config_only(input.count("num_heads", 16), true, input.negative);
  const std::string prefix = fmt::format("model.layers.{}.", layer), mixer = prefix + "attn.";
  return kda(input, prefix + "attn_norm.weight", mixer, mixer + "f_proj.0.weight", mixer + "f_proj.1.weight");
}

std::vector<HeadRange> kimi_linear(const AuditInput& input, std::uint64_t layer) {
  if (input.tensors.empty()) {
    const std::uint64_t listed = input.count("linear_num_heads", 32);
    const auto own = input.config.find("linear_attn_config");
    if (own == input.config.end()) return config_only(listed, true, false);
    const auto heads = own->find("num_heads");
    return config_only(heads != own->end() && heads->is_number_unsigned() ? heads->get<std::uint64_t>() : listed, true,
                       false);
  }
  const std::string prefix = fmt::format("model.layers.{}.", layer), mixer = prefix + "self_attn.";
  return kda(input, prefix + "input_layernorm.weight", mixer, mixer + "f_a_proj.weight", mixer + "f_b_proj.weight");
}

/// A_t = diag(w) − k (a ∘ k)ᵀ with w = exp(−e^(−1/2) σ(u)), a in (0, 1): eigenvalues above min w − 1. The logit u is
/// what a layer of tanh gives, so that its weights alone bound it.
std::vector<HeadRange> rwkv7(const AuditInput& input, std::uint64_t layer) {
  constexpr double kDecay = 0.6065306597126334;
  const std::uint64_t hidden = input.count("hidden_size", 2048), width = input.count("head_dim", 64);
  if (width == 0 || hidden % width != 0) input.refuse("head_dim", "does not divide hidden_size");
  std::vector<HeadRange> ranges;
  std::vector<double> outer, bias;
  const std::string lora = fmt::format("model.layers.{}.attn.w_lora.lora.2.", layer);
  if (!input.tensors.empty()) {
    bias = numbers_of(input, lora + "bias", hidden);
    outer = input.tensors.numbers(lora + "weight");
    if (outer.size() % hidden != 0) throw InputError(input.where, "w_lora has another number of rows than channels");
  }
  const std::size_t rank = outer.size() / hidden;
  for (std::uint64_t first = 0; first < hidden; first += width) {
    HeadRange head{input.tensors.empty() ? 0 : kNoBound, input.tensors.empty() ? kDecay : 0, 0, kNoBound};
    for (std::uint64_t c = first; c < first + width && !bias.empty(); ++c) {
      double bound = 0;
      for (std::size_t k = 0; k < rank; ++k) bound += std::abs(outer[c * rank + k]);
      head = united(head, {kDecay * sigmoid_of(bias[c] - bound), kDecay * sigmoid_of(bias[c] + bound), 0, kNoBound});
    }
    head.lowest = stated::exp(-head.fastest) - 1;
    head.flip = head.lowest < 0 ? -stated::log(-head.lowest) : kNoBound;
    ranges.push_back(head);
  }
  return ranges;
}

}  // namespace

const std::vector<AuditRule>& delta_rules() {
  static const std::vector<AuditRule> rules{
      {"delta_net", "DeltaNet", "flash-linear-attention, fla/layers/delta_net.py", "allow_neg_eigval", false, false,
       is_no_attention_of_fla, delta_net},
      {"gated_deltanet", "Gated DeltaNet", "flash-linear-attention, fla/layers/gated_deltanet.py", "allow_neg_eigval",
       false, false, is_no_attention_of_fla, gated_delta_net},
      {"kda", "Kimi Delta Attention", "flash-linear-attention, fla/layers/kda.py", "allow_neg_eigval", false, false,
       is_no_attention_of_fla, kda_of_fla},
      {"kimi_linear", "Kimi Delta Attention", "transformers, modeling_kimi_linear.py", "", false, false, is_kimi_layer,
       kimi_linear},
      {"qwen3_next", "Gated DeltaNet", "transformers, modeling_qwen3_next.py", "", false, false, is_linear_layer,
       qwen3_next},
      {"olmo_hybrid", "Gated DeltaNet", "transformers, modeling_olmo_hybrid.py", "linear_allow_neg_eigval", true, false,
       is_linear_layer, olmo_hybrid},
      {"rwkv7", "RWKV-7", "flash-linear-attention, fla/layers/rwkv7.py", "", false, false, is_no_attention_of_fla,
       rwkv7}};
  return rules;
}

}  // namespace krohn
