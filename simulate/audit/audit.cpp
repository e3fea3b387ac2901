#include "krohn/simulate/audit/audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/stated_functions.h"

namespace krohn {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestIndex = 1 << 28;

/// The files that the index names, in order.
std::set<std::string> shards_of(const std::string& path) {
  const nlohmann::json index = parse_strict_json(read_text_file(path, kLargestIndex), path);
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (!index.is_object() || map == index.end() || !map->is_object())
    throw InputError(path, "has no \"weight_map\" of tensors and files");
  std::set<std::string> files;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) throw InputError(path, fmt::format("the file of tensor {} is no name", in_quotes(tensor)));
    const auto name = file.get<std::string>();
    if (name.empty() || fs::path(name).filename().string() != name)
      throw InputError(path, fmt::format("{} is no file in this folder", in_quotes(name)));
    files.insert(name);
  }
  return files;
}

// The tensors of a published checkpoint, in one file or in shards, one in memory
// at a time.

class CheckpointTensors {
 public:
  /// None: only the config is known.
  CheckpointTensors() = default;
  /// model.safetensors, or the shards that model.safetensors.index.json names. Reads headers only; a folder without
  /// either has no tensors. Throws InputError for a shard that is missing or damaged.
  explicit CheckpointTensors(const std::string& folder) : folder_(folder) {
    const fs::path base(folder), index = base / "model.safetensors.index.json", whole = base / "model.safetensors";
    std::set<std::string> files;
    // One file goes before shards, in transformers as in `load_checkpoint`.
    if (fs::is_regular_file(whole))
      files.insert("model.safetensors");
    else if (fs::is_regular_file(index))
      files = shards_of(index.string());
    for (const std::string& file : files) {
      const std::string path = (base / file).string();
      for (auto& [name, place] : read_tensor_places(path))
        if (!places_.emplace(name, Place{path, std::move(place)}).second)
          throw InputError(path, fmt::format("tensor {} is in another shard, too", in_quotes(name)));
    }
  }

  bool empty() const { return places_.empty(); }
  bool has(const std::string& name) const { return places_.contains(name); }
  /// Throws InputError naming the tensor where it is missing.
  const std::vector<std::uint64_t>& shape(const std::string& name) const { return at(name).place.shape; }

  /// For F32, F16, BF16 or F64, all finite.
  std::vector<double> numbers(const std::string& name) const {
    const Place& place = at(name);
    const Tensor tensor = read_tensor(place.file, place.place);
    auto numbers = floating_numbers(tensor);
    if (!numbers)
      throw InputError(place.file, fmt::format("tensor {} holds {}; only unquantised weights can be audited",
                                               in_quotes(name), tensor.dtype));
    for (const double number : *numbers)
      if (!std::isfinite(number))
        throw InputError(place.file, fmt::format("tensor {} holds a number that is not finite", in_quotes(name)));
    return *std::move(numbers);
  }

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [name, place] : places_) sum += place.place.bytes;
    return sum;
  }

 private:
  struct Place {
    std::string file;
    TensorPlace place;
  };
  const Place& at(const std::string& name) const {
    const auto found = places_.find(name);
    if (found == places_.end())
      throw InputError(folder_, fmt::format("it has no tensor {}, which its config asks for", in_quotes(name)));
    return found->second;
  }

  std::string folder_;
  std::map<std::string, Place> places_;
};

const nlohmann::json* member_of(const nlohmann::json& config, const char* name) {
  const auto found = config.find(name);
  return found == config.end() ? nullptr : &*found;
}

// One architecture: how the weights of a recurrent layer bound what an input can make its
// transition matrices do. Inputs of a layer are normalised, x = g ∘ v with |v|₂ ≤ √d, so that |w·x| ≤ √d |g ∘ w|₂.

struct AuditInput {
  const nlohmann::json& config;
  const CheckpointTensors& tensors;  ///< empty: by the config alone
  bool negative = false;             ///< β is doubled
  std::string where;

  /// Members of the config with the library's default. Throw InputError naming one of another type; null is one, but
  /// for counts: None is no limit, or false, and no default.
  std::uint64_t count(const char* name, std::uint64_t standard) const {
    const nlohmann::json* const value = member_of(config, name);
    if (value == nullptr || value->is_null()) return standard;  // as the classes have it for counts
    if (!value->is_number_unsigned() || *value > (1u << 24)) refuse(name, "is not a count up to 2^24");
    return value->get<std::uint64_t>();
  }

  double real(const char* name, double standard) const {
    const nlohmann::json* const value = member_of(config, name);
    if (value == nullptr) return standard;
    if (!value->is_number()) refuse(name, "is not a number");
    return value->get<double>();
  }

  bool flag(const char* name, bool standard) const {
    const nlohmann::json* const value = member_of(config, name);
    if (value == nullptr) return standard;
    if (!value->is_boolean()) refuse(name, "is not true or false");
    return value->get<bool>();
  }

  [[noreturn]] void refuse(const char* name, const std::string& why) const {
    throw InputError((std::filesystem::path(where) / "config.json").string(), fmt::format("\"{}\" {}", name, why));
  }
};

struct AuditRule {
  std::string_view model_type, name, source;
  std::string_view negative_flag;  ///< the member that doubles β; empty: the class reads none
  bool is_negative = false;        ///< without the member
  bool is_diagonal = false;        ///< every transition matrix is diagonal and real
  bool (*is_recurrent)(const AuditInput&, std::uint64_t layer);
  std::vector<HeadRange> (*heads)(const AuditInput&, std::uint64_t layer);
};

// ---- What rules are made of

double sigmoid_of(double x) { return 1 / (1 + stated::exp(-x)); }
double softplus_of(double x) { return x > 40 ? x : stated::log1p(stated::exp(x)); }

/// e^A · softplus(centre ± bound): the rates of a decay that is exp(−e^A softplus(u)).
HeadRange softplus_rates(double a_log, double centre, double bound) {
  const double a = stated::exp(a_log);
  return {a * softplus_of(centre - bound), a * softplus_of(centre + bound), 0, kNoBound};
}

/// The widest of all.
HeadRange united(const HeadRange& a, const HeadRange& b) {
  return {std::min(a.slowest, b.slowest), std::max(a.fastest, b.fastest), std::min(a.lowest, b.lowest),
          std::min(a.flip, b.flip)};
}

/// With the delta rule's I − β k kᵀ, |k| = 1, β = c σ(u), |u| ≤ bound, c = 1 or 2.
HeadRange with_delta(HeadRange head, double bound, bool doubled) {
  const double most = sigmoid_of(bound);
  if (!doubled) {  // 1 − β > 0, and the least where the decay is fastest
    head.lowest = head.fastest == kNoBound ? 0 : stated::exp(-head.fastest) * sigmoid_of(-bound);
    return head;
  }
  // 1 − 2σ(u) = −tanh(u/2), of which the logarithm is taken without cancellation.
  head.lowest = -stated::exp(-head.slowest) * (2 * most - 1);
  head.flip = bound == kNoBound ? head.slowest : head.slowest - stated::log1p(-2 * sigmoid_of(-bound));
  return head;
}

/// Throws InputError unless there are so many numbers.
std::vector<double> numbers_of(const AuditInput& input, const std::string& name, std::uint64_t count) {
  std::vector<double> numbers = input.tensors.numbers(name);
  if (numbers.size() != count)
    throw InputError(input.where, fmt::format("tensor \"{}\" has {}, and the others ask for {}", name,
                                              counted(numbers.size(), "number"), count));
  return numbers;
}

/// The numbers of a norm's weights, plus `offset`.
std::vector<double> gain_of(const AuditInput& input, const std::string& name, double offset = 0) {
  std::vector<double> gain = input.tensors.numbers(name);
  for (double& number : gain) number += offset;
  return gain;
}

/// √d |gain ∘ row|₂ for every row of a matrix with d columns; throws where the shapes do not fit.
std::vector<double> row_bounds(const AuditInput& input, const std::string& matrix, const std::vector<double>& gain) {
  const std::vector<std::uint64_t> shape = input.tensors.shape(matrix);
  if (shape.size() != 2 || shape[1] != gain.size())
    throw InputError(input.where, fmt::format("tensor \"{}\" has not two dimensions, the second of {}, as its norm has",
                                              matrix, gain.size()));
  const std::vector<double> numbers = input.tensors.numbers(matrix);
  std::vector<double> bounds;
  for (std::size_t row = 0; row < shape[0]; ++row) {
    double sum = 0;
    for (std::size_t j = 0; j < gain.size(); ++j) {
      const double entry = gain[j] * numbers[row * gain.size() + j];
      sum += entry * entry;
    }
    bounds.push_back(std::sqrt(sum * static_cast<double>(gain.size())));
  }
  return bounds;
}

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

/// `layer_types`, or every `period`-th layer attends.
bool is_linear_layer(const AuditInput& input, std::uint64_t layer, std::uint64_t period) {
  const auto types = input.config.find("layer_types");
  if (types == input.config.end() || types->is_null()) return (layer + 1) % std::max<std::uint64_t>(period, 1) != 0;
  if (!types->is_array() || layer >= types->size()) input.refuse("layer_types", "does not name every layer");
  return (*types)[layer] == "linear_attention";
}

bool is_fourth_free(const AuditInput& input, std::uint64_t layer) { return is_linear_layer(input, layer, 4); }

bool is_outside_interval(const AuditInput& input, std::uint64_t layer) {
  return is_linear_layer(input, layer, input.count("full_attention_interval", 4));
}

bool is_outside_group(const AuditInput& input, std::uint64_t layer) {
  return is_linear_layer(input, layer, input.count("layer_group_size", 6));
}

/// A member of "linear_attn_config", where published configs of KDA have their sizes; nullptr without one.
const nlohmann::json* of_linear_attention(const nlohmann::json& config, const char* name) {
  const auto own = config.find("linear_attn_config");
  return own == config.end() || !own->is_object() ? nullptr : member_of(*own, name);
}

/// `layer_types`, or the list of the published configs, where layers are counted from 1.
bool is_kimi_layer(const AuditInput& input, std::uint64_t layer) {
  const nlohmann::json* const listed = of_linear_attention(input.config, "kda_layers");
  if (listed != nullptr) return is_listed(*listed, layer + 1);
  if (!input.config.contains("layer_types")) input.refuse("linear_attn_config", "does not name the layers of KDA");
  return is_fourth_free(input, layer);
}

// ---- What their heads permit

/// Decays from e^−fastest to 1.
std::vector<HeadRange> config_only(std::uint64_t heads, double fastest, bool doubled) {
  return std::vector<HeadRange>(heads, with_delta({0, fastest, 0, kNoBound}, kNoBound, doubled));
}

/// "model.layers.3.", below the names that wrappers for pictures put before it.
std::string prefix_of(const AuditInput& input, std::uint64_t layer) {
  for (const char* wrapper : {"model.language_model.", "language_model.model."})
    if (std::string at = fmt::format("{}layers.{}.", wrapper, layer); input.tensors.has(at + "input_layernorm.weight"))
      return at;
  return fmt::format("model.layers.{}.", layer);
}

/// Bounds of a matrix's products with vectors of which every number is within its own bound.
std::vector<double> through(const AuditInput& input, const std::string& matrix, std::size_t rows,
                            const std::vector<double>& within) {
  const std::vector<double> numbers = numbers_of(input, matrix, rows * within.size());
  std::vector<double> bounds(rows, 0);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    bounds[i / within.size()] += std::abs(numbers[i]) * within[i % within.size()];
  return bounds;
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
  if (input.tensors.empty()) return config_only(heads, 0, input.negative);
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

/// The same of gates that have a matrix each; `norm` and `mixer` as a layer names them.
std::vector<HeadRange> gated_delta(const AuditInput& input, std::uint64_t layer, std::uint64_t heads, const char* norm,
                                   const char* mixer, const char* a = "a_proj.weight", const char* b = "b_proj.weight",
                                   double offset = 0) {
  if (input.tensors.empty()) return config_only(heads, kNoBound, input.negative);
  const std::string prefix = prefix_of(input, layer), at = prefix + mixer;
  const std::vector<double> gain = gain_of(input, prefix + norm, offset);
  return gated_delta(input, row_bounds(input, at + a, gain), row_bounds(input, at + b, gain), at);
}

std::vector<HeadRange> gated_delta_net(const AuditInput& input, std::uint64_t layer) {
  return gated_delta(input, layer, input.count("num_v_heads", input.count("num_heads", 6)), "attn_norm.weight",
                     "attn.");
}

std::vector<HeadRange> olmo_hybrid(const AuditInput& input, std::uint64_t layer) {
  return gated_delta(input, layer, input.count("linear_num_value_heads", input.count("num_attention_heads", 30)),
                     "input_layernorm.weight", "linear_attn.");
}

/// Norms multiply by 1 + their weight.
std::vector<HeadRange> qwen3_5(const AuditInput& input, std::uint64_t layer) {
  return gated_delta(input, layer, input.count("linear_num_value_heads", 32), "input_layernorm.weight", "linear_attn.",
                     "in_proj_a.weight", "in_proj_b.weight", 1);
}

/// The rows of b and a stand together in groups, one a key head; norms multiply by 1 + their weight.
std::vector<HeadRange> qwen3_next(const AuditInput& input, std::uint64_t layer) {
  const std::uint64_t heads = input.count("linear_num_value_heads", 32), keys = input.count("linear_num_key_heads", 16);
  if (keys == 0 || heads % keys != 0) input.refuse("linear_num_key_heads", "does not divide linear_num_value_heads");
  if (input.tensors.empty()) return config_only(heads, kNoBound, false);
  const std::string prefix = fmt::format("model.layers.{}.", layer), mixer = prefix + "linear_attn.";
  const std::vector<double> all =
      row_bounds(input, mixer + "in_proj_ba.weight", gain_of(input, prefix + "input_layernorm.weight", 1));
  if (all.size() != 2 * heads) throw InputError(input.where, "in_proj_ba has not two rows for every value head");
  std::vector<double> a, b;
  const std::uint64_t group = heads / keys;
  for (std::uint64_t row = 0; row < all.size(); ++row) (row / group % 2 == 0 ? b : a).push_back(all[row]);
  return gated_delta(input, a, b, mixer);
}

/// The names of KDA's forget gate, whose logits are F x or F₂ F₁ x.
struct ForgetGate {
  std::string first, second;         ///< of one matrix: no second
  double most = kNoBound;            ///< the bounded gate's greatest rate
  bool is_per_channel_beta = false;  ///< GDN-2: I − k (b ∘ k)ᵀ
  bool is_padded = false;            ///< A_log may have more numbers than heads
};

/// Rates of a decay that is exp(−m σ(e^A u)), or without a bound m exp(−e^A softplus(u)); |u − centre| ≤ bound.
HeadRange gate_rates(double most, double a_log, double centre, double bound) {
  if (most == kNoBound) return softplus_rates(a_log, centre, bound);
  const double a = stated::exp(a_log);
  return {most * sigmoid_of(a * (centre - bound)), most * sigmoid_of(a * (centre + bound)), 0, kNoBound};
}

/// The greatest rate that a gate's lower bound, a logarithm, leaves; kNoBound for null.
double greatest_rate(const AuditInput& input, const nlohmann::json* bound, const char* name, double standard) {
  if (bound == nullptr) return standard;
  if (bound->is_null()) return kNoBound;
  if (!bound->is_number() || !(bound->get<double>() < 0)) input.refuse(name, "is not a number below 0");
  return -bound->get<double>();
}

/// Decays of every channel by itself. GDN-2's I − k (b ∘ k)ᵀ is similar to I − v vᵀ, v = √b ∘ k, by a diagonal matrix,
/// which commutes with the decays: its eigenvalues are bounded by the greatest b as KDA's are by β.
std::vector<HeadRange> kda(const AuditInput& input, const std::string& norm, const std::string& mixer,
                           const ForgetGate& gate) {
  const std::vector<double> gain = gain_of(input, norm), b_bounds = row_bounds(input, mixer + "b_proj.weight", gain),
                            bias = input.tensors.numbers(mixer + "dt_bias");
  std::vector<double> bounds = row_bounds(input, gate.first, gain), a_log{0};
  if (!gate.second.empty()) bounds = through(input, gate.second, bias.size(), bounds);
  if (gate.most == kNoBound || input.tensors.has(mixer + "A_log")) a_log = input.tensors.numbers(mixer + "A_log");
  const std::size_t channels = bias.size(), heads = gate.is_per_channel_beta ? a_log.size() : b_bounds.size();
  if (heads == 0 || bounds.size() != channels || channels % heads != 0 || b_bounds.size() % heads != 0)
    throw InputError(input.where, "its channels are no multiple of its heads");
  const bool is_own = a_log.size() == heads;
  if (!is_own && a_log.size() != 1 && !(gate.is_padded && a_log.size() > heads))
    throw InputError(input.where, fmt::format("tensor \"{}A_log\" has {}, and there are {}", mixer,
                                              counted(a_log.size(), "number"), counted(heads, "head")));
  const auto [least, most] = std::ranges::minmax(a_log);
  std::vector<HeadRange> ranges;
  for (std::size_t h = 0; h < heads; ++h) {
    HeadRange head{kNoBound, 0, 0, kNoBound};
    for (std::size_t c = h * channels / heads; c < (h + 1) * channels / heads; ++c)
      for (const double a : {is_own ? a_log[h] : least, is_own ? a_log[h] : most})
        head = united(head, gate_rates(gate.most, a, bias[c], bounds[c]));
    const auto own = b_bounds.begin() + static_cast<std::ptrdiff_t>(h * b_bounds.size() / heads);
    ranges.push_back(with_delta(
        head, *std::max_element(own, own + static_cast<std::ptrdiff_t>(b_bounds.size() / heads)), input.negative));
  }
  return ranges;
}

std::vector<HeadRange> fla_kda(const AuditInput& input, std::uint64_t layer, double most, bool is_per_channel_beta) {
  const std::string prefix = prefix_of(input, layer), mixer = prefix + "attn.";
  return kda(input, prefix + "attn_norm.weight", mixer,
             {mixer + "f_proj.0.weight", mixer + "f_proj.1.weight", most, is_per_channel_beta, false});
}

std::vector<HeadRange> kda_of_fla(const AuditInput& input, std::uint64_t layer) {
  const double most = greatest_rate(input, member_of(input.config, "lower_bound"), "lower_bound", kNoBound);
  if (most == kNoBound && input.flag("safe_gate", false)) input.refuse("safe_gate", "is set without a lower_bound");
  if (input.tensors.empty())
    return config_only(input.count("num_v_heads", input.count("num_heads", 16)), most, input.negative);
  return fla_kda(input, layer, most, false);
}

std::vector<HeadRange> gdn2(const AuditInput& input, std::uint64_t layer) {
  if (input.tensors.empty()) return config_only(input.count("num_heads", 16), kNoBound, input.negative);
  return fla_kda(input, layer, kNoBound, true);
}

/// KDA as transformers and Kimi K3's runtimes name it; `most` as of a gate whose config has no lower bound.
std::vector<HeadRange> kda_of_kimi(const AuditInput& input, std::uint64_t layer, double most, bool is_padded) {
  if (input.tensors.empty()) {
    const std::uint64_t heads = input.count("linear_num_heads", 32);
    if (of_linear_attention(input.config, "num_heads") == nullptr) return config_only(heads, most, false);
    const AuditInput own{input.config["linear_attn_config"], input.tensors, false, input.where};
    return config_only(own.count("num_heads", heads), most, false);
  }
  const std::string prefix = prefix_of(input, layer), mixer = prefix + "self_attn.";
  return kda(input, prefix + "input_layernorm.weight", mixer,
             {mixer + "f_a_proj.weight", mixer + "f_b_proj.weight", most, false, is_padded});
}

std::vector<HeadRange> kimi_linear(const AuditInput& input, std::uint64_t layer) {
  return kda_of_kimi(input, layer, kNoBound, false);
}

std::vector<HeadRange> kimi_k3(const AuditInput& input, std::uint64_t layer) {
  const nlohmann::json* const bound = of_linear_attention(input.config, "gate_lower_bound");
  return kda_of_kimi(input, layer, greatest_rate(input, bound, "gate_lower_bound", kNoBound), true);
}

/// `linear_lower_bound`, or `linear_attn_config`, whose null is −5 unless "safe_gate" is false.
std::vector<HeadRange> glm5_next(const AuditInput& input, std::uint64_t layer) {
  constexpr double kStandard = 5;
  double most = greatest_rate(input, member_of(input.config, "linear_lower_bound"), "linear_lower_bound", kStandard);
  if (input.config.contains("linear_attn_config")) {
    most = greatest_rate(input, of_linear_attention(input.config, "gate_lower_bound"), "gate_lower_bound", most);
    const nlohmann::json* const safe = of_linear_attention(input.config, "safe_gate");
    if (most == kNoBound && (safe == nullptr || *safe != false)) most = kStandard;
  }
  if (input.tensors.empty() && of_linear_attention(input.config, "num_heads") == nullptr)
    return config_only(input.count("linear_num_heads", 64), most, false);
  return kda_of_kimi(input, layer, most, false);
}

std::vector<HeadRange> bailing_hybrid(const AuditInput& input, std::uint64_t layer) {
  const double most = input.flag("kda_safe_gate", true)
                          ? greatest_rate(input, member_of(input.config, "kda_lower_bound"), "kda_lower_bound", 5)
                          : kNoBound;
  if (input.tensors.empty()) return config_only(input.count("num_attention_heads", 32), most, false);
  const std::string prefix = prefix_of(input, layer), mixer = prefix + "attention.";
  return kda(input, prefix + "input_layernorm.weight", mixer, {mixer + "f_proj.weight", "", most, false, false});
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

bool is_every_layer(const AuditInput&, std::uint64_t) { return true; }

/// exp(−dt e^A), dt = softplus(w·x + b) of its own rows of in_proj, within time_step_limit.
std::vector<HeadRange> mamba2(const AuditInput& input, std::uint64_t layer) {
  if (input.tensors.empty()) return config_only(input.count("num_heads", 128), kNoBound, false);
  const std::string prefix = fmt::format("backbone.layers.{}.", layer), mixer = prefix + "mixer.";
  const std::vector<double> bias = input.tensors.numbers(mixer + "dt_bias"),
                            a_log = numbers_of(input, mixer + "A_log", bias.size());
  const std::vector<double> rows = row_bounds(input, mixer + "in_proj.weight", gain_of(input, prefix + "norm.weight"));
  if (rows.size() < bias.size()) throw InputError(input.where, "in_proj has fewer rows than heads");
  std::vector<double> own(bias.size(), 0);
  if (input.tensors.has(mixer + "in_proj.bias")) {
    const std::vector<double> all = numbers_of(input, mixer + "in_proj.bias", rows.size());
    std::copy(all.end() - static_cast<std::ptrdiff_t>(own.size()), all.end(), own.begin());
  }
  double least = 0, most = kNoBound;
  if (const auto limit = input.config.find("time_step_limit"); limit != input.config.end() && limit->is_array()) {
    if (limit->size() != 2 || !(*limit)[0].is_number()) input.refuse("time_step_limit", "is not two numbers");
    least = (*limit)[0].get<double>();
    if ((*limit)[1].is_number()) most = (*limit)[1].get<double>();
  }
  std::vector<HeadRange> ranges;
  for (std::size_t h = 0; h < bias.size(); ++h) {
    const double bound = rows[rows.size() - bias.size() + h], a = stated::exp(a_log[h]);
    const HeadRange dt = softplus_rates(0, bias[h] + own[h], bound);
    ranges.push_back({a * std::clamp(dt.slowest, least, most), a * std::clamp(dt.fastest, least, most), 0, kNoBound});
  }
  return ranges;
}

/// exp(−dt e^A) of every channel and state; dt = softplus(W (X u) + b) of u, the SiLU of a convolution of the input.
std::vector<HeadRange> mamba(const AuditInput& input, std::uint64_t layer) {
  if (input.tensors.empty()) return config_only(1, kNoBound, false);
  const std::string prefix = fmt::format("backbone.layers.{}.", layer), mixer = prefix + "mixer.";
  const std::vector<double> bias = input.tensors.numbers(mixer + "dt_proj.bias");
  const std::size_t channels = bias.size();
  const std::vector<double> rows = row_bounds(input, mixer + "in_proj.weight", gain_of(input, prefix + "norm.weight"));
  if (channels == 0 || rows.size() != 2 * channels) throw InputError(input.where, "in_proj has not two rows a channel");
  const std::vector<double> taps = input.tensors.numbers(mixer + "conv1d.weight");
  std::vector<double> conv_bias(channels, 0), in_bias(rows.size(), 0), u(channels);
  if (input.tensors.has(mixer + "conv1d.bias")) conv_bias = numbers_of(input, mixer + "conv1d.bias", channels);
  if (input.tensors.has(mixer + "in_proj.bias")) in_bias = numbers_of(input, mixer + "in_proj.bias", rows.size());
  const std::size_t width = taps.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (std::size_t k = 0; k < width; ++k) sum += std::abs(taps[c * width + k]);
    constexpr double kLobe = 0.2785;  // the least of SiLU is above its negative
    u[c] = std::max(kLobe, sum * (rows[c] + std::abs(in_bias[c])) + std::abs(conv_bias[c]));
  }
  const std::vector<std::uint64_t>& shape = input.tensors.shape(mixer + "dt_proj.weight");
  const std::vector<double> x = input.tensors.numbers(mixer + "x_proj.weight"),
                            a_log = input.tensors.numbers(mixer + "A_log");
  const std::size_t rank = shape.empty() ? 0 : shape.back(), states = a_log.size() / channels;
  if (x.size() < rank * channels) throw InputError(input.where, "x_proj has fewer rows than dt_proj has columns");
  std::vector<double> inner(rank, 0);
  for (std::size_t k = 0; k < rank; ++k)
    for (std::size_t c = 0; c < channels; ++c) inner[k] += std::abs(x[k * channels + c]) * u[c];
  const std::vector<double> bounds = through(input, mixer + "dt_proj.weight", channels, inner);
  HeadRange all{kNoBound, 0, 0, kNoBound};
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t n = 0; n < states; ++n)
      all = united(all, softplus_rates(a_log[c * states + n], bias[c], bounds[c]));
  return {all};
}

/// σ(G₂ G₁ x + b)^(1/16).
std::vector<HeadRange> gla(const AuditInput& input, std::uint64_t layer) {
  const std::uint64_t heads = input.count("num_heads", 4);
  const double normaliser = input.real("gate_logit_normalizer", 16);
  if (heads == 0 || !(normaliser > 0)) input.refuse("num_heads", "or \"gate_logit_normalizer\" is 0");
  if (input.tensors.empty()) return config_only(heads, kNoBound, false);
  const std::string prefix = fmt::format("model.layers.{}.", layer), gate = prefix + "attn.gk_proj.";
  const std::vector<double> bias = input.tensors.numbers(gate + "1.bias"),
                            inner = row_bounds(input, gate + "0.weight", gain_of(input, prefix + "attn_norm.weight")),
                            bounds = through(input, gate + "1.weight", bias.size(), inner);
  std::vector<HeadRange> ranges;
  for (std::uint64_t h = 0; h < heads; ++h) {
    HeadRange head{kNoBound, 0, 0, kNoBound};
    for (std::size_t c = h * bias.size() / heads; c < (h + 1) * bias.size() / heads; ++c)
      head = united(head, {softplus_of(-bias[c] - bounds[c]) / normaliser,
                           softplus_of(-bias[c] + bounds[c]) / normaliser, 0, kNoBound});
    ranges.push_back(head);
  }
  return ranges;
}

/// 1 − 2^(−5−h), whatever the input and the weights.
std::vector<HeadRange> retnet(const AuditInput& input, std::uint64_t) {
  std::vector<HeadRange> ranges;
  const std::uint64_t heads = std::min<std::uint64_t>(input.count("num_heads", 8), 1000);
  for (std::uint64_t h = 0; h < heads; ++h) {
    const double rate = -stated::log1p(-std::ldexp(1, -5 - static_cast<int>(h)));
    ranges.push_back({rate, rate, 0, kNoBound});
  }
  return ranges;
}

/// mLSTM's forget gate σ(u), |u| ≤ gate_soft_cap.
std::vector<HeadRange> xlstm(const AuditInput& input, std::uint64_t) {
  const double cap = input.real("gate_soft_cap", 15);
  return std::vector<HeadRange>(input.count("num_heads", 8), {softplus_of(-cap), softplus_of(cap), 0, kNoBound});
}

constexpr std::uint64_t kLargestConfig = 1 << 24;

/// First those whose matrices are a decay times a Householder-like one, then diagonal ones with entries in (0, 1).
const std::vector<AuditRule>& all_rules() {
  static const std::vector<AuditRule> rules{
      {"delta_net", "DeltaNet", "flash-linear-attention, fla/layers/delta_net.py", "allow_neg_eigval", false, false,
       is_no_attention_of_fla, delta_net},
      {"gated_deltanet", "Gated DeltaNet", "flash-linear-attention, fla/layers/gated_deltanet.py", "allow_neg_eigval",
       false, false, is_no_attention_of_fla, gated_delta_net},
      {"kda", "Kimi Delta Attention", "flash-linear-attention, fla/layers/kda.py", "allow_neg_eigval", false, false,
       is_no_attention_of_fla, kda_of_fla},
      {"gdn2", "Gated DeltaNet 2", "flash-linear-attention, fla/layers/gdn2.py", "allow_neg_eigval", false, false,
       is_no_attention_of_fla, gdn2},
      {"kimi_linear", "Kimi Delta Attention", "transformers, modeling_kimi_linear.py", "", false, false, is_kimi_layer,
       kimi_linear},
      {"kimi_k3", "Kimi Delta Attention", "flash-linear-attention, fla/ops/kda/gate.py", "", false, false,
       is_kimi_layer, kimi_k3},
      {"glm5_next", "Kimi Delta Attention", "transformers, modeling_glm5_next.py", "", false, false, is_fourth_free,
       glm5_next},
      {"glm5_next_text", "Kimi Delta Attention", "transformers, modeling_glm5_next.py", "", false, false,
       is_fourth_free, glm5_next},
      {"bailing_hybrid", "Kimi Delta Attention", "transformers, modeling_bailing_hybrid.py", "", false, false,
       is_outside_group, bailing_hybrid},
      {"qwen3_next", "Gated DeltaNet", "transformers, modeling_qwen3_next.py", "", false, false, is_outside_interval,
       qwen3_next},
      {"qwen3_5", "Gated DeltaNet", "transformers, modeling_qwen3_5.py", "", false, false, is_outside_interval,
       qwen3_5},
      {"qwen3_5_text", "Gated DeltaNet", "transformers, modeling_qwen3_5.py", "", false, false, is_outside_interval,
       qwen3_5},
      {"olmo_hybrid", "Gated DeltaNet", "transformers, modeling_olmo_hybrid.py", "linear_allow_neg_eigval", true, false,
       is_outside_interval, olmo_hybrid},
      {"rwkv7", "RWKV-7", "flash-linear-attention, fla/layers/rwkv7.py", "", false, false, is_no_attention_of_fla,
       rwkv7},
      {"mamba", "Mamba", "transformers, modeling_mamba.py", "", false, true, is_every_layer, mamba},
      {"mamba2", "Mamba-2", "transformers, modeling_mamba2.py", "", false, true, is_every_layer, mamba2},
      {"gla", "Gated linear attention", "flash-linear-attention, fla/layers/gla.py", "", false, true, is_every_layer,
       gla},
      {"retnet", "RetNet", "flash-linear-attention, fla/layers/multiscale_retention.py", "", false, true,
       is_every_layer, retnet},
      {"xlstm", "mLSTM", "transformers, modeling_xlstm.py", "", false, true, is_every_layer, xlstm}};
  return rules;
}

const AuditRule& rule_of(const nlohmann::json& config, const std::string& where) {
  const auto type = config.find("model_type");
  const std::string name = type != config.end() && type->is_string() ? type->get<std::string>() : "";
  for (const AuditRule& rule : all_rules())
    if (rule.model_type == name) return rule;
  throw InputError(where, fmt::format("\"model_type\" is {}; known are {}", in_quotes(name),
                                      fmt::join(audited_model_types(), ", ")));
}

bool is_true(const nlohmann::json& config, std::string_view name) {
  const auto found = config.find(name);
  return found != config.end() && found->is_boolean() && found->get<bool>();
}

void tell_flags(Audit& audit, const AuditRule& rule, const nlohmann::json& config) {
  for (const char* flag : {"allow_neg_eigval", "linear_allow_neg_eigval"})
    if (is_true(config, flag) && rule.negative_flag != flag)
      audit.flags.push_back(
          fmt::format("\"{}\" is set, and this class does not read it: eigenvalues stay as below", flag));
  if (const nlohmann::json* const bound = of_linear_attention(config, "gate_lower_bound");
      rule.model_type == "kimi_linear" && bound != nullptr && !bound->is_null())
    audit.flags.emplace_back(
        "\"gate_lower_bound\" is set, and transformers' class does not read it: its decays are those below, down to 0; "
        "a "
        "runtime that reads it computes other decays from the same weights");
  if (rule.model_type == "delta_net" && is_true(config, "allow_neg_eigval"))
    audit.flags.emplace_back(
        "\"allow_neg_eigval\" of a DeltaNet config was ignored by flash-linear-attention until April 2026 (its issue "
        "832): a model trained before that has eigenvalues in [0, 1], whatever its config says");
}

/// Python writes infinity as `Infinity`, which is no JSON; as a limit it is one that no double passes.
std::string without_infinities(std::string text) {
  constexpr std::string_view kInfinity = "Infinity", kMax = "1.7e308";
  bool is_in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_in_text && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      is_in_text = !is_in_text;
    else if (!is_in_text && std::string_view(text).substr(i).starts_with(kInfinity))
      text.replace(i, kInfinity.size(), kMax);
  }
  return text;
}

/// The claims that are proved of every input.
void tell_never(Audit& audit, const AuditRule& rule) {
  if (audit.recurrent.empty()) return;
  if (rule.is_diagonal)
    audit.never.push_back(fmt::format(
        "counting one letter among others modulo {}, in words of every length, in any rounding, token by token: "
        "{} factor of a state is {}, and rounding keeps the order of numbers (docs/MATH.md §4, Monotone steps)",
        audit.all.lowest >= 0 ? "2, its parity, or any other number" : "a number that is no power of two",
        audit.all.lowest >= 0 ? "no" : "every", audit.all.lowest >= 0 ? "negative" : "real"));
  else if (audit.all.lowest >= 0)
    audit.never.emplace_back(
        "parity of words of every length, where matrices are multiplied exactly: no eigenvalue is negative or complex "
        "(Grazzi et al. 2025, Theorem 1); steps that round are not covered (docs/MATH.md §4, Monotone steps)");
}

double tokens_for(double halvings, double rate) {
  return rate <= 0 ? kNoBound : std::ceil(halvings * 0x1.62e42fefa39efp-1 / rate);
}

/// "fp32: 721072, fp16: 85164; in bf16 it rounds to 1": how long from a format's greatest number to its least normal
/// one.
std::string range_in_words(double rate, const char* one) {
  struct Format {
    const char* name;
    int digits, binades;
  };
  std::string lasts, rounds;
  for (const Format& format : {Format{"fp32", 24, 254}, {"bf16", 8, 254}, {"fp16", 11, 30}}) {
    std::string& list = -std::expm1(-rate) <= std::ldexp(1, -format.digits - 1) ? rounds : lasts;
    if (!list.empty()) list += ", ";
    list += &list == &rounds ? format.name
                             : fmt::format("{} in {}", tokens_text(tokens_for(format.binades, rate)), format.name);
  }
  if (!lasts.empty()) lasts = ", and from the greatest number of a format to its least normal one it takes " + lasts;
  return lasts + (rounds.empty() ? "" : fmt::format("; it rounds to {} in {}", one, rounds));
}

/// How fast states shrink; what of it can still be read is a matter of the read-out.
void tell_fading(Audit& audit) {
  if (audit.recurrent.empty()) return;
  if (audit.all.slowest > 0)
    audit.fades.push_back(fmt::format(
        "a state that is not written again, as no decay reaches 1: over the reals at most 2^-24 of it is left after {} "
        "tokens{}. That does not limit what can be read: norms and large weights tell it apart until it is 0, and a decay "
        "above 1/2, rounded to nearest with subnormal numbers, never takes it to 0",
        tokens_text(horizon(audit.all.slowest)), range_in_words(audit.all.slowest, "1")));
  if (audit.all.flip > 0 && audit.all.flip < kNoBound)
    audit.fades.push_back(fmt::format(
        "a sign that changes with every token, as the most negative eigenvalue is {}: over the reals at most 2^-24 of "
        "such a part of a state is left after {} tokens{}",
        lowest_text(audit.all), tokens_text(horizon(audit.all.flip)), range_in_words(audit.all.flip, "−1")));
}

}  // namespace

std::vector<std::string> audited_model_types() {
  std::vector<std::string> names;
  for (const AuditRule& rule : all_rules()) names.emplace_back(rule.model_type);
  return names;
}

double horizon(double rate) { return tokens_for(24, rate); }

std::string tokens_text(double tokens) {
  return tokens < 1e15 ? with_thousands(static_cast<std::uint64_t>(tokens)) : fmt::format("{:.3g}", tokens);
}

std::string lowest_text(const HeadRange& range) {
  if (range.flip <= 0) return "at least −1";
  if (range.flip < 1e-3) return fmt::format("−1 + {:.3g}", -std::expm1(-range.flip));
  return fmt::format("{}{:.4g}", range.lowest < 0 ? "−" : "", std::abs(range.lowest));
}

Audit audit_checkpoint(const std::string& folder) {
  const FloatEnvironment environment;
  const std::string path = (std::filesystem::path(folder) / "config.json").string();
  if (std::error_code error; !std::filesystem::is_regular_file(path, error))
    throw InputError(folder, "has no config.json; an audit takes the folder of a published model");
  nlohmann::json config = parse_strict_json(without_infinities(read_text_file(path, kLargestConfig)), path);
  if (!config.is_object()) throw InputError(path, "not a JSON object");
  const AuditRule& rule = rule_of(config, path);
  if (const auto text = config.find("text_config"); text != config.end() && text->is_object())
    config = nlohmann::json(*text);  // a wrapper for pictures
  refuse_adapter(folder);
  const CheckpointTensors tensors(folder);
  AuditInput input{config, tensors, false, folder};
  if (!rule.negative_flag.empty())
    input.negative = input.flag(std::string(rule.negative_flag).c_str(), rule.is_negative);
  Audit audit{std::string(rule.model_type),
              std::string(rule.name),
              std::string(rule.source),
              !tensors.empty(),
              input.count("num_hidden_layers", 0),
              tensors.bytes(),
              {},
              {kNoBound, 0, 1, kNoBound},
              {},
              {},
              {}};
  if (audit.layers == 0) input.refuse("num_hidden_layers", "is missing");
  for (std::uint64_t layer = 0; layer < audit.layers; ++layer) {
    if (!rule.is_recurrent(input, layer)) continue;
    AuditedLayer made{layer, rule.heads(input, layer), {kNoBound, 0, 1, kNoBound}};
    for (const HeadRange& head : made.heads) made.all = united(made.all, head);
    audit.all = united(audit.all, made.all);
    audit.recurrent.push_back(std::move(made));
  }
  tell_flags(audit, rule, config);
  tell_never(audit, rule);
  tell_fading(audit);
  return audit;
}

AuditComparison compare_audits(const Audit& first, const Audit& second) {
  AuditComparison made;
  const auto same_places = [](const AuditedLayer& a, const AuditedLayer& b) {
    return a.index == b.index && a.heads.size() == b.heads.size();
  };
  made.is_same_shape = std::ranges::equal(first.recurrent, second.recurrent, same_places);
  if (!made.is_same_shape) return made;
  for (std::size_t i = 0; i < first.recurrent.size(); ++i)
    for (std::size_t h = 0; h < first.recurrent[i].heads.size(); ++h) {
      ++made.heads;
      const HeadRange &a = first.recurrent[i].heads[h], &b = second.recurrent[i].heads[h];
      if (a == b) continue;
      if (made.differing++ == 0) made.head = {first.recurrent[i].index, h, a, b};
    }
  return made;
}

}  // namespace krohn
