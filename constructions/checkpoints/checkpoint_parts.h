// constructions/checkpoints/checkpoint_parts.h — the parts of a checkpoint: its config.json, and the layout and names
// of its tensors.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint.h"

namespace krohn {

/// The limit of every width, count and real number of a config.
inline constexpr std::uint32_t kMaxExtent = 1u << 20;

/// Members of one JSON object. Views it.
class ConfigMembers {
 public:
  ConfigMembers(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {}

  /// True if it is there and not null, which the libraries have for a count, a list or an object that is left out.
  bool has(const char* name) const;
  /// True if it is there.
  bool is_given(const char* name) const;
  /// Each throws InputError naming the member when it is of another kind or out of range. A flag, a number or a name
  /// that is null is refused: in Python None is no default, but false, or no limit, or an error.
  std::uint32_t count(const char* name, std::uint32_t standard, std::uint32_t least = 1) const;
  bool flag(const char* name, bool standard) const;
  double real(const char* name, double standard, double least = 0) const;
  std::string text(const char* name, const char* standard) const;
  std::vector<std::string> texts(const char* name) const;
  bool is_empty(const char* name) const { return object_[name].empty(); }

  /// Refuses whatever differs from the one value that the emulation has.
  void require(const char* name, bool supported, const std::string& what) const;
  /// Refuses every member that nobody asked for, that is not known to be harmless in any library, nor in this one.
  void require_no_others(std::span<const std::string_view> harmless) const;
  [[noreturn]] void fail(const char* name, const std::string& what) const;

 private:
  const nlohmann::json& object_;
  std::string where_;
  mutable std::set<std::string, std::less<>> asked_;
};

/// For the norms of Olmo Hybrid's heads, whatever the config says.
inline constexpr double kOlmoOutputEpsilon = 1e-5;

/// The members of config.json. Attention layers are named, though they are silent: the library's caches want one.
std::string format_hybrid_config(const CheckpointConfig& config);

/// `config` has the family, and what all families have. Throws as parse_config. Members of
/// attention layers are let pass.
CheckpointConfig parse_hybrid_config(const ConfigMembers& members, CheckpointConfig config);

/// The text of config.json, with every member that the library reads.
std::string format_config(const CheckpointConfig& config);

/// The inverse, with the library's defaults for members that are absent or null, and without regard to members known
/// not to change the logits. Throws InputError naming the member that is out of range, asks for a layer that krohn does
/// not have, or is not known: what a library added, a checkpoint may depend on.
CheckpointConfig parse_config(std::string_view text, const std::string& where);

// The tensors of a checkpoint: krohn's names for them, which are those
// of flash-linear-attention, and the names, places and packings that the other library's files have.
//
// Shapes, with d = hidden_size, H = heads, K = key_dim, V = value_dim, n = householders, I = intermediate_size:
//   model.embeddings.weight [vocabulary, d]   model.norm.weight [d]   lm_head.weight [vocabulary, d]
//   model.layers.{i}.attn_norm.weight, mlp_norm.weight [d]   mlp.gate_proj, up_proj [I, d]   mlp.down_proj [d, I]
//   attn.q_proj [H·K, d]   attn.k_proj [n·H·K, d]   attn.v_proj [n·H·V, d]   attn.b_proj [n·H, d]
//   attn.o_norm [V]   attn.o_proj [d, H·V]   attn.{q,k,v}_conv1d [rows, 1, taps] when `convolution_taps` > 0
// a decay per head: attn.a_proj [H, d]   attn.A_log, dt_bias [H]
// a decay per channel: attn.f_proj.0 [V, d]   attn.f_proj.1 [H·K, V]   attn.A_log [H], or [1, 1, H, 1] in Kimi Linear
// and attn.dt_bias [H·K]
// an output gate: attn.g_proj [H·V, d], or of low rank attn.g_proj.0 [V, d], attn.g_proj.1 [H·V, V] and, but for
// transformers' KDA, its bias [H·V]
// gates per channel (GDN-2): attn.b_proj [H·K, d]   attn.w_proj [H·V, d]
// s streams, for each of attn_hc and mlp_hc: fn [(2 + s)·s, s·d]   base [(2 + s)·s]   scale [3]
// The rows of k, v and b are ordered (householder, head, coordinate). Only g_proj.1 has a bias.

/// Every tensor of the config's model with its shape, under krohn's names.
std::map<std::string, std::vector<std::uint64_t>> shapes_of(const CheckpointConfig& config);

/// All tensors that the config asks for, no others, each of its shape and of a floating-point type. Throws InputError
/// naming the first that is not so.
void require_tensors(const CheckpointConfig& config, const TensorFile& file, const std::string& where);

/// True if the library leaves the tensor in fp32 where it loads a model in bf16: by a list of the class, or because a
/// layer makes it in fp32.
bool is_kept_in_fp32(const CheckpointConfig& config, std::string_view name);

/// The base of a hyper-connection that leaves s equal streams as they are and adds the block's answer to each: with fn
/// all zeros the block reads stream 0, whose weight is σ(64) = 1 beside σ(−128) = 0, the answer's weights are 2σ(0) =
/// 1, and the softmax of rows 0, −256, … is the identity matrix, which Sinkhorn's normalisation keeps.
std::vector<float> plain_connection(std::uint32_t streams);

/// For the attention layers that krohn writes: a power of two up to 64.
std::uint32_t attention_head_dim(const CheckpointConfig& config);

/// The names in the library's file: a hybrid model's recurrent layers are `linear_attn`, their three convolutions are
/// one tensor, Qwen3-Next's projections are two, head by head; and the other layers are there, all zeros.
TensorFile with_file_names(const CheckpointConfig& config, const TensorFile& own);

/// Where a tensor of krohn's names stands in the file: rows `first` + i · `stride` to `first` + i · `stride` + `rows` −
/// 1 of a tensor of `of` rows, for i = 0, …, `rounds` − 1.
struct PlaceInFile {
  std::string name;
  std::uint64_t first = 0, rows = 0, stride = 0, rounds = 1, of = 0;
};
/// `name`: of a tensor of the config's model.
PlaceInFile place_in_file(const CheckpointConfig& config, const std::string& name);

/// True for Kimi Linear's names of MLPs as transformers saves them.
bool has_expert_names(const CheckpointConfig& config, const TensorFile& file);

/// The way back. Throws InputError when a layer that is not recurrent holds anything but zeros besides its norms: what
/// it would add depends on all tokens before; and for tensors that are missing or belong nowhere.
TensorFile with_own_names(const CheckpointConfig& config, TensorFile file, const std::string& where);

}  // namespace krohn
