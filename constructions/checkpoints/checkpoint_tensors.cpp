#include "krohn/constructions/checkpoints/checkpoint_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

std::string layer_prefix(std::uint64_t layer) { return fmt::format("model.layers.{}.", layer); }

/// The names of the file begin with it.
std::string file_prefix(const CheckpointConfig& config) {
  return config.family == CheckpointFamily::kGlm5Next ? "model.language_model." : "model.";
}
std::string mlp_in_file(const CheckpointConfig& config) {
  return config.has_expert_names ? "block_sparse_moe." : "mlp.";
}
std::string layer_in_file(const CheckpointConfig& config, std::uint64_t layer) {
  return fmt::format("{}layers.{}.", file_prefix(config), layer);
}

/// Rows `first`, …, `first` + `count` − 1.
Tensor rows_of(const Tensor& tensor, std::uint64_t first, std::uint64_t count) {
  const std::size_t row = tensor.shape[0] == 0 ? 0 : tensor.bytes.size() / tensor.shape[0];
  Tensor part{tensor.dtype, tensor.shape, {}};
  part.shape[0] = count;
  const auto begin = tensor.bytes.begin() + static_cast<std::ptrdiff_t>(first * row);
  part.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(count * row));
  return part;
}

void append_rows(Tensor& whole, const Tensor& part) {
  if (whole.bytes.empty()) {
    whole = part;
    return;
  }
  whole.shape[0] += part.shape[0];
  whole.bytes.insert(whole.bytes.end(), part.bytes.begin(), part.bytes.end());
}

/// How the rows of one tensor of a file are dealt out to krohn's: so many to each in turn, again and again.
struct Packing {
  std::string whole;
  std::vector<std::pair<std::string, std::uint64_t>> parts;
  std::uint64_t rounds = 1;
  std::uint64_t rows() const {
    std::uint64_t sum = 0;
    for (const auto& [name, count] : parts) sum += count;
    return sum * rounds;
  }
};

std::vector<Packing> packings_of(const CheckpointConfig& config) {
  const std::uint64_t h = config.heads, k = config.key_dim, v = config.value_dim;
  if (traits_of(config.family).is_kimi) return {};
  std::vector<Packing> packings{
      {"linear_attn.conv1d.weight",
       {{"attn.q_conv1d.weight", h * k}, {"attn.k_conv1d.weight", h * k}, {"attn.v_conv1d.weight", h * v}}}};
  if (config.family == CheckpointFamily::kQwen3Next) {
    packings.push_back(
        {"linear_attn.in_proj_qkvz.weight",
         {{"attn.q_proj.weight", k}, {"attn.k_proj.weight", k}, {"attn.v_proj.weight", v}, {"attn.g_proj.weight", v}},
         h});
    packings.push_back({"linear_attn.in_proj_ba.weight", {{"attn.b_proj.weight", 1}, {"attn.a_proj.weight", 1}}, h});
  }
  return packings;
}

/// krohn's names and those of the file, for tensors that stand there as they are; of a layer, behind its prefix.
std::vector<std::pair<std::string, std::string>> names_of_layer(CheckpointConfig config) {
  const std::string mixer = traits_of(config.family).is_kimi ? "self_attn." : "linear_attn.";
  const bool is_qwen = config.family == CheckpointFamily::kQwen3Next;
  const std::pair<std::string, std::string> beginnings[] = {{"attn_norm.", "input_layernorm."},
                                                            {"mlp_norm.", "post_attention_layernorm."},
                                                            {"attn_hc.", "hc_attn_"},
                                                            {"mlp_hc.", "hc_ffn_"},
                                                            {"attn.f_proj.0", mixer + "f_a_proj"},
                                                            {"attn.f_proj.1", mixer + "f_b_proj"},
                                                            {"attn.g_proj.0", mixer + "g_a_proj"},
                                                            {"attn.g_proj.1", mixer + "g_b_proj"},
                                                            {"attn.o_norm", mixer + (is_qwen ? "norm" : "o_norm")},
                                                            {"attn.o_proj", mixer + (is_qwen ? "out_proj" : "o_proj")},
                                                            {"attn.", mixer},
                                                            {"mlp.", mlp_in_file(config)}};
  std::set<std::string> packed;
  for (const Packing& packing : packings_of(config))
    for (const auto& [name, rows] : packing.parts) packed.insert(name);
  std::vector<std::pair<std::string, std::string>> names;
  config.layers = 1;
  for (const auto& [whole, shape] : shapes_of(config)) {
    if (!whole.starts_with(layer_prefix(0))) continue;
    const std::string own = whole.substr(layer_prefix(0).size());
    if (packed.contains(own)) continue;
    std::string there = own;
    for (const auto& [from, to] : beginnings)
      if (there.starts_with(from)) there.replace(0, from.size(), to);
    names.emplace_back(own, there);
  }
  return names;
}

constexpr char kOwnEmbeddings[] = "model.embeddings.weight", kOwnNorm[] = "model.norm.weight",
               kHead[] = "lm_head.weight";

/// krohn's names of what lies outside the layers, and those of the file.
std::vector<std::pair<std::string, std::string>> names_outside(const CheckpointConfig& config) {
  return {{kOwnEmbeddings, file_prefix(config) + "embed_tokens.weight"},
          {kOwnNorm, file_prefix(config) + "norm.weight"},
          {kHead, kHead}};
}

constexpr char kTower[] = "model.visual.";

/// GLM-5.3-Flash sees, with a tower that no text asks: of one channel everywhere, and no blocks. Tensors by their rank.
constexpr std::pair<const char*, std::size_t> kTowerRanks[] = {{"patch_embed.proj.weight", 5},
                                                               {"patch_embed.proj.bias", 1},
                                                               {"post_layernorm.weight", 1},
                                                               // behind its blocks
                                                               {"downsample.weight", 4},
                                                               {"downsample.bias", 1},
                                                               {"merger.proj.weight", 2},
                                                               {"merger.gate_proj.weight", 2},
                                                               {"merger.up_proj.weight", 2},
                                                               {"merger.down_proj.weight", 2},
                                                               {"merger.post_projection_norm.weight", 1},
                                                               {"merger.post_projection_norm.bias", 1}};

/// An attention layer that adds nothing: norms as they begin, and zeros. One key head serves all queries; latent
/// attention has one head of one coordinate.
void add_silent_layer(const CheckpointConfig& config, const std::string& at, TensorFile& file) {
  const bool is_qwen = config.family == CheckpointFamily::kQwen3Next, is_glm = config.streams > 0;
  const std::uint64_t d = config.hidden_size, inner = config.intermediate_size;
  const std::uint64_t head = attention_head_dim(config);
  const auto add = [&](const std::string& name, const Shape& shape, float value = 0) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    file.tensors.emplace(at + name, make_tensor(std::vector<float>(count, value), shape));
  };
  add(mlp_in_file(config) + "gate_proj.weight", {inner, d});
  add(mlp_in_file(config) + "up_proj.weight", {inner, d});
  add(mlp_in_file(config) + "down_proj.weight", {d, inner});
  add("post_attention_layernorm.weight", {d}, is_qwen ? 0 : 1);
  const bool is_olmo = config.family == CheckpointFamily::kOlmoHybrid;
  add(is_olmo ? "post_feedforward_layernorm.weight" : "input_layernorm.weight", {d}, is_qwen ? 0 : 1);
  if (!traits_of(config.family).is_kimi) {
    add("self_attn.q_proj.weight", {is_qwen ? 2 * d : d, d});
    add("self_attn.k_proj.weight", {head, d});
    add("self_attn.v_proj.weight", {head, d});
    add("self_attn.o_proj.weight", {d, d});
    add("self_attn.q_norm.weight", {is_qwen ? head : d}, is_qwen ? 0 : 1);
    return add("self_attn.k_norm.weight", {head}, is_qwen ? 0 : 1);
  }
  add("self_attn.kv_a_proj_with_mqa.weight", {is_glm ? 1u : 2u, d});
  add("self_attn.kv_a_layernorm.weight", {1}, 1);
  add("self_attn.kv_b_proj.weight", {2, 1});
  add("self_attn.o_proj.weight", {d, 1});
  if (!is_glm) return add("self_attn.q_proj.weight", {2, d});
  for (const char* name :
       {"q_a_proj.weight", "indexer.weights_proj.weight", "indexer.wk.weight", "indexer.index_kpool_compress_gate"})
    add(std::string("self_attn.") + name, {1, d});
  for (const char* name : {"q_b_proj.weight", "indexer.wq_b.weight", "indexer.index_kpool_compress_ape"})
    add(std::string("self_attn.") + name, {1, 1});
  for (const char* name : {"q_a_layernorm.weight", "indexer.k_norm.weight", "indexer.k_norm.bias"})
    add(std::string("self_attn.") + name, {1});
  const std::vector<float> base = plain_connection(config.streams);
  for (const std::string connection : {"hc_attn_", "hc_ffn_"}) {
    add(connection + "fn", {base.size(), config.streams * d});
    add(connection + "scale", {3});
    file.tensors.emplace(at + connection + "base", make_tensor(base, {base.size()}));
  }
}

/// ±0 in every format.
bool is_all_zero(const Tensor& tensor) {
  const std::size_t size = element_bytes(tensor.dtype);
  for (std::size_t i = 0; i < tensor.bytes.size(); ++i) {
    const std::byte without_sign = i % size == size - 1 ? tensor.bytes[i] & std::byte{0x7f} : tensor.bytes[i];
    if (without_sign != std::byte{0}) return false;
  }
  return true;
}

bool is_norm(std::string_view name) { return name.ends_with("norm.weight"); }

/// True if zero times each of them is zero, whatever they are rounded to: exponents that are not the format's greatest.
bool is_tame(const Tensor& tensor) {
  const std::size_t size = element_bytes(tensor.dtype);
  const unsigned wide = tensor.dtype == "F16" ? 0x7b : 0x7e;  // sign aside, the first byte of 2^15 or 2^126
  for (std::size_t i = size - 1; i < tensor.bytes.size(); i += size)
    if (std::to_integer<unsigned>(tensor.bytes[i] & std::byte{0x7f}) >= (tensor.dtype == "F64" ? 0x47u : wide))
      return false;
  return true;
}

/// Takes an attention layer away, which adds exactly nothing when all but its norms is zero: scores are equal, values
/// and outputs zero, and a norm leaves them so, its ε not being zero. Connections have to leave the streams as they
/// are.
void remove_silent_layer(const CheckpointConfig& config, TensorFile& file, std::uint32_t layer,
                         const std::string& where) {
  const std::string at = layer_in_file(config, layer);
  const std::vector<float> plain = plain_connection(config.streams);
  TensorFile asked;
  add_silent_layer(config, at, asked);
  for (const auto& [name, tensor] : asked.tensors)
    if (!file.tensors.contains(name))
      throw InputError(
          where, fmt::format("tensor \"{}\" of a silent attention layer is missing: the library would draw it", name));
  const auto is_silent = [&](const std::string& name, const Tensor& tensor) {
    if (name.ends_with("_base")) return config.stream_epsilon == 0 && tensor == make_tensor(plain, {plain.size()});
    return is_norm(name) || name.ends_with("_scale") ? is_tame(tensor) : is_all_zero(tensor);
  };
  for (auto entry = file.tensors.lower_bound(at); entry != file.tensors.end() && entry->first.starts_with(at);) {
    const std::set<std::string> types{"F16", "BF16", "F32", "F64"};
    const bool is_understood = types.contains(entry->second.dtype);
    if (!is_understood || !is_silent(entry->first, entry->second))
      throw InputError(
          where,
          fmt::format("tensor {} of attention layer {} is not {}: what the layer adds depends on all tokens "
                      "before, so that no bounded memory decides how the model goes on; krohn reads hybrid "
                      "models whose attention layers are silent",
                      in_quotes(entry->first), layer, entry->first.ends_with("_base") ? "the identity" : "zero"));
    entry = file.tensors.erase(entry);
  }
}

}  // namespace

std::map<std::string, Shape> shapes_of(const CheckpointConfig& config) {
  const FamilyTraits& traits = traits_of(config.family);
  const std::uint64_t d = config.hidden_size, inner = config.intermediate_size, n = config.householders;
  const std::uint64_t h = config.heads, k = config.key_dim, v = config.value_dim, keys = h * k, values = h * v;
  std::map<std::string, Shape> shapes{
      {kOwnEmbeddings, {config.vocabulary, d}}, {kOwnNorm, {d}}, {kHead, {config.vocabulary, d}}};
  for (std::uint32_t layer = 0; layer < config.layers; ++layer) {
    const std::string prefix = layer_prefix(layer);
    const auto add = [&](const std::string& name, Shape shape) { shapes.emplace(prefix + name, std::move(shape)); };
    add("attn_norm.weight", {d});
    add("attn.q_proj.weight", {keys, d});
    add("attn.k_proj.weight", {n * keys, d});
    add("attn.v_proj.weight", {n * values, d});
    add("attn.b_proj.weight", {traits.channel_gates ? keys : n * h, d});
    if (traits.channel_gates) add("attn.w_proj.weight", {values, d});
    if (traits.decay == Decay::kHead) add("attn.a_proj.weight", {h, d});
    if (traits.decay == Decay::kChannel) {
      add("attn.f_proj.0.weight", {v, d});
      add("attn.f_proj.1.weight", {keys, v});
    }
    if (traits.decay != Decay::kNone) {
      add("attn.A_log", config.family == CheckpointFamily::kKimiLinear ? Shape{1, 1, h, 1} : Shape{h});
      add("attn.dt_bias", {traits.decay == Decay::kHead ? h : keys});
    }
    if (config.output_gate != OutputGate::kNone && !traits.low_rank_gates) add("attn.g_proj.weight", {values, d});
    if (config.output_gate != OutputGate::kNone && traits.low_rank_gates) {
      add("attn.g_proj.0.weight", {v, d});
      add("attn.g_proj.1.weight", {values, v});
      if (!traits.is_kimi) add("attn.g_proj.1.bias", {values});
    }
    for (const std::string connection : {"attn_hc.", "mlp_hc."}) {
      const std::uint64_t streams = config.streams, weights = (2 + streams) * streams;
      if (streams == 0) continue;
      add(connection + "fn", {weights, streams * d});
      add(connection + "base", {weights});
      add(connection + "scale", {3});
    }
    add("attn.o_norm.weight", {v});
    add("attn.o_proj.weight", {d, values});
    add("mlp_norm.weight", {d});
    add("mlp.gate_proj.weight", {inner, d});
    add("mlp.up_proj.weight", {inner, d});
    add("mlp.down_proj.weight", {d, inner});
    if (config.convolution_taps == 0) continue;
    add("attn.q_conv1d.weight", {keys, 1, config.convolution_taps});
    add("attn.k_conv1d.weight", {n * keys, 1, config.convolution_taps});
    add("attn.v_conv1d.weight", {n * values, 1, config.convolution_taps});
  }
  return shapes;
}

void require_tensors(const CheckpointConfig& config, const TensorFile& file, const std::string& where) {
  constexpr char kConfigFile[] = "config.json";
  if (config.layers > file.tensors.size())
    throw InputError(where, fmt::format("{}, and {} asks for {}", counted(file.tensors.size(), "tensor"), kConfigFile,
                                        counted(config.layers, "layer")));
  const std::map<std::string, Shape> shapes = shapes_of(config);
  for (const auto& [name, shape] : shapes) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end())
      throw InputError(where, fmt::format("tensor \"{}\" is missing; {} asks for it", name, kConfigFile));
    if (found->second.shape != shape)
      throw InputError(where, fmt::format("tensor \"{}\" has shape {}, and {} asks for {}", name,
                                          shape_text(found->second.shape), kConfigFile, shape_text(shape)));
    const std::set<std::string> types{"F16", "BF16", "F32", "F64"};
    if (!types.contains(found->second.dtype))
      throw InputError(where,
                       fmt::format("tensor \"{}\" holds {}, not floating-point numbers", name, found->second.dtype));
  }
  for (const auto& [name, tensor] : file.tensors)
    if (!shapes.contains(name))
      throw InputError(where,
                       fmt::format("tensor {} belongs to no layer that {} describes", in_quotes(name), kConfigFile));
}

bool is_kept_in_fp32(const CheckpointConfig& config, std::string_view name) {
  using Family = CheckpointFamily;
  if (name.ends_with("attn.o_norm.weight")) return config.output_gate == OutputGate::kNone;
  if (name.ends_with("dt_bias")) return traits_of(config.family).decay == Decay::kChannel;
  if (name.ends_with("A_log")) return config.family != Family::kQwen3Next && config.family != Family::kKimiLinear;
  return config.family == Family::kGlm5Next &&
         (name.ends_with("conv1d.weight") || name.ends_with("_hc.base") || name.ends_with("_hc.scale"));
}

std::vector<float> plain_connection(std::uint32_t streams) {
  std::vector<float> base((2 + std::size_t{streams}) * streams, -256);
  for (std::uint32_t i = 0; i < streams; ++i) {
    base[i] = i == 0 ? 64 : -128;
    base[streams + i] = 0;
    base[(2 + i) * std::size_t{streams} + i] = 0;
  }
  return base;
}

bool has_expert_names(const CheckpointConfig& config, const TensorFile& file) {
  return config.family == CheckpointFamily::kKimiLinear && std::ranges::any_of(file.tensors, [](const auto& entry) {
           return entry.first.find(".block_sparse_moe.") != std::string::npos;
         });
}

std::uint32_t attention_head_dim(const CheckpointConfig& config) { return std::min(config.hidden_size, 64u); }

TensorFile with_file_names(const CheckpointConfig& config, const TensorFile& own) {
  if (!traits_of(config.family).is_hybrid) return own;
  TensorFile file;
  file.metadata = own.metadata;
  for (const auto& [name, there] : names_outside(config)) file.tensors[there] = own.tensors.at(name);
  for (const auto& [name, rank] : kTowerRanks)
    if (config.family == CheckpointFamily::kGlm5Next)
      file.tensors.emplace(std::string(kTower) + name, make_tensor(std::vector<float>{0}, Shape(rank, 1)));
  for (std::uint32_t layer = 0, recurrent = 0; layer < config.all_layers; ++layer) {
    const std::string to = layer_in_file(config, layer), from = layer_prefix(recurrent);
    if (recurrent == config.layers || config.recurrent_layers[recurrent] != layer) {
      add_silent_layer(config, to, file);
      continue;
    }
    ++recurrent;
    for (const auto& [name, name_there] : names_of_layer(config))
      file.tensors[to + name_there] = own.tensors.at(from + name);
    for (const Packing& packing : packings_of(config)) {
      Tensor& whole = file.tensors[to + packing.whole];
      for (std::uint64_t round = 0; round < packing.rounds; ++round)
        for (const auto& [name, rows] : packing.parts)
          append_rows(whole, rows_of(own.tensors.at(from + name), round * rows, rows));
    }
  }
  return file;
}

PlaceInFile place_in_file(const CheckpointConfig& config, const std::string& name) {
  const std::uint64_t rows = shapes_of(config).at(name)[0];
  const PlaceInFile as_it_is{name, 0, rows, rows, 1, rows};
  if (!traits_of(config.family).is_hybrid) return as_it_is;
  for (const auto& [own, there] : names_outside(config))
    if (name == own) return {there, 0, rows, rows, 1, rows};
  for (std::uint32_t recurrent = 0; recurrent < config.layers; ++recurrent) {
    const std::string own = layer_prefix(recurrent), there = layer_in_file(config, config.recurrent_layers[recurrent]);
    if (!name.starts_with(own)) continue;
    const std::string part = name.substr(own.size());
    for (const auto& [here, name_there] : names_of_layer(config))
      if (part == here) return {there + name_there, 0, rows, rows, 1, rows};
    for (const Packing& packing : packings_of(config)) {
      std::uint64_t first = 0;
      for (const auto& [here, count] : packing.parts) {
        if (part == here)
          return {there + packing.whole, first, count, packing.rows() / packing.rounds, packing.rounds, packing.rows()};
        first += count;
      }
    }
  }
  return as_it_is;
}

TensorFile with_own_names(const CheckpointConfig& config, TensorFile file, const std::string& where) {
  if (!traits_of(config.family).is_hybrid) return file;
  TensorFile own;
  own.metadata = file.metadata;
  const auto move = [&](const std::string& from, const std::string& to) {
    if (auto node = file.tensors.extract(from)) own.tensors.emplace(to, std::move(node.mapped()));
  };
  for (const auto& [name, there] : names_outside(config)) move(there, name);
  if (config.family == CheckpointFamily::kGlm5Next)
    std::erase_if(file.tensors, [](const auto& entry) { return entry.first.starts_with(kTower); });
  for (std::uint32_t layer = 0, recurrent = 0; layer < config.all_layers; ++layer) {
    const std::string from = layer_in_file(config, layer), to = layer_prefix(recurrent);
    if (recurrent == config.layers || config.recurrent_layers[recurrent] != layer) {
      remove_silent_layer(config, file, layer, where);
      continue;
    }
    ++recurrent;
    for (const auto& [name, name_there] : names_of_layer(config)) move(from + name_there, to + name);
    for (const Packing& packing : packings_of(config)) {
      const auto node = file.tensors.extract(from + packing.whole);
      if (!node) throw InputError(where, fmt::format("tensor \"{}\" is missing", from + packing.whole));
      const Tensor& whole = node.mapped();
      if (whole.shape.size() < 2 || whole.shape[0] != packing.rows())
        throw InputError(where,
                         fmt::format("tensor \"{}\" has shape {}, and config.json asks for {}", from + packing.whole,
                                     shape_text(whole.shape), counted(packing.rows(), "row")));
      std::uint64_t at = 0;
      for (std::uint64_t round = 0; round < packing.rounds; ++round)
        for (const auto& [name, rows] : packing.parts) {
          append_rows(own.tensors[to + name], rows_of(whole, at, rows));
          at += rows;
        }
    }
  }
  if (!file.tensors.empty())
    throw InputError(where, fmt::format("tensor {} belongs to no layer that config.json describes",
                                        in_quotes(file.tensors.begin()->first)));
  return own;
}

}  // namespace krohn
