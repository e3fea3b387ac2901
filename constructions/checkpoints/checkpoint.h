// constructions/checkpoints/checkpoint.h — a causal language model of flash-linear-attention or transformers on disk: a
// folder with config.json and model.safetensors, as `from_pretrained` reads it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/files/safetensors.h"

namespace krohn {

/// The families of flash-linear-attention (versions 0.5 and 0.6), then those of transformers (versions 5.23 and 5.24).
enum class CheckpointFamily : std::uint8_t {
  kDeltaNet,
  kGatedDeltaProduct,
  kGatedDeltaNet,
  kKda,
  kGdn2,  ///< a layer of flash-linear-attention without a model; the blocks around it are those of KDA's
  kOlmoHybrid,
  kQwen3Next,
  kKimiLinear,
  kGlm5Next
};
inline constexpr std::array kCheckpointFamilies{CheckpointFamily::kDeltaNet,      CheckpointFamily::kGatedDeltaProduct,
                                                CheckpointFamily::kGatedDeltaNet, CheckpointFamily::kKda,
                                                CheckpointFamily::kGdn2,          CheckpointFamily::kOlmoHybrid,
                                                CheckpointFamily::kQwen3Next,     CheckpointFamily::kKimiLinear,
                                                CheckpointFamily::kGlm5Next};

/// The decay of the state before a token is written into it.
enum class Decay : std::uint8_t {
  kNone,
  kHead,    ///< a factor for every head
  kChannel  ///< a factor for every key coordinate of every head, from projections through `value_dim` numbers
};

/// The gate that multiplies a head's normalised output.
enum class OutputGate : std::uint8_t { kNone, kSilu, kSigmoid };

/// How the families differ.
struct FamilyTraits {
  std::string_view model_type, architecture;
  Decay decay;
  OutputGate gate;         ///< of the layer as it comes; gated DeltaNet can leave it out
  bool low_rank_gates;     ///< the output gate is projected through `value_dim` numbers, and has a bias unless is_kimi
  bool channel_gates;      ///< β for every key coordinate, and a factor for every value coordinate beside it
  bool can_reflect;        ///< β may be doubled
  bool is_hybrid;          ///< transformers': with attention layers
  bool has_centred_norms;  ///< norms multiply by 1 + weight
  bool is_kimi = false;    ///< transformers' KDA: values as wide as keys, norms rounded before their weight
};
const FamilyTraits& traits_of(CheckpointFamily family);

/// The recurrent layers of a checkpoint, all alike; their tensors are listed in checkpoint_parts.h.
struct CheckpointConfig {
  using Family = CheckpointFamily;
  Family family = Family::kDeltaNet;
  std::uint32_t hidden_size = 0;
  std::uint32_t layers = 1;  ///< recurrent ones
  std::uint32_t heads = 1;
  std::uint32_t key_dim = 1;    ///< of one head
  std::uint32_t value_dim = 1;  ///< of one head
  std::uint32_t householders = 1;
  std::uint32_t intermediate_size = 256;
  std::uint32_t vocabulary = 0;
  std::uint32_t convolution_taps = 0;  ///< 0: no short convolution
  bool negative_eigenvalues = true;    ///< β = 2·sigmoid instead of sigmoid
  bool silu_keys = false;              ///< SiLU on queries and keys; values always take it
  OutputGate output_gate = OutputGate::kNone;
  double norm_epsilon = 1e-6;
  double output_norm_epsilon = 1e-6;
  std::uint32_t begin_token = 0;
  /// "float32", "bfloat16", …: in which the libraries load and compute unless they are told another; empty: that of its
  /// tensors.
  std::string dtype = "float32";
  /// For a hybrid model: how many layers it has, and which of them are the recurrent ones. The others are attention
  /// layers of zeros, which add nothing.
  std::uint32_t all_layers = 0;
  std::vector<std::uint32_t> recurrent_layers;
  bool fused_norm = false;  ///< a layer's second norm is of its sum before that is rounded, as in a fused kernel
  /// The bound of KDA's bounded gate, whose decays are above e^bound: g = bound · σ(e^A_log (a + dt_bias)). 0:
  /// unbounded.
  double gate_lower_bound = 0;
  /// GLM-5.3-Flash: residual streams that hyper-connections mix, 0 for a plain residual; what is added to the weights
  /// of the mixing; and how often these are normalised.
  std::uint32_t streams = 0;
  double stream_epsilon = 0;
  std::uint32_t sinkhorn_rounds = 0;
  double swiglu_limit = 0;        ///< an MLP's gate is cut at it, what it multiplies at it and its negative; 0: never
  bool has_expert_names = false;  ///< the file calls MLPs block_sparse_moe, as transformers saves Kimi Linear's
  friend bool operator==(const CheckpointConfig&, const CheckpointConfig&) = default;
};

/// The meaning of a checkpoint's tokens for an automaton. Several states may share a token: then it stands for what
/// they have in common, such as being accepting.
struct TokenTable {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> of_letter;  ///< letter ↦ token
  std::vector<std::uint32_t> of_state;   ///< state ↦ the token that the model should give next; kNone: unreachable
  std::optional<std::uint32_t> begin;  ///< the token that begins every word; none: words begin with their first letter
  /// State ↦ the letter that its token is when it is read, so that a model that reads what it answered goes on from
  /// state to state. Empty: such tokens are nothing.
  std::vector<Letter> as_input;
  friend bool operator==(const TokenTable&, const TokenTable&) = default;
};

/// By the name of a tensor, those of the tensors that it stands for, one for each Householder.
using HouseholderParts = std::map<std::string, std::vector<std::string>>;

/// A checkpoint in memory, with the automaton that it should track when that is known.
struct Checkpoint {
  CheckpointConfig config;
  TensorFile tensors;  ///< under the names of checkpoint_parts.h
  std::optional<Dfa> automaton;
  TokenTable tokens;       ///< empty without an automaton
  HouseholderParts parts;  ///< the parts that its file stores separately for every Householder
};

/// The tensors of a folder as its files have them: model.safetensors, or the shards that its index names. Throws
/// InputError where there are none, or only pickled ones.
TensorFile checkpoint_weights(const std::string& folder);

/// The files that `checkpoint_weights` reads: one, or the index and the shards that it names. Throws the same.
std::vector<std::string> checkpoint_weight_files(const std::string& folder);

/// ", but its config loads it in float16, about which nothing is claimed" where the libraries, told nothing,
/// would compute in another format than `precision`, "fp32" or "bf16"; empty otherwise.
std::string loaded_otherwise(const Checkpoint& checkpoint, const std::string& precision);

/// The arithmetic of the two, fp32 and bf16, that a folder's config asks for: bf16 if its dtype is bfloat16.
std::string arithmetic_of_config(const std::string& folder);

/// Throws InputError where it does not say which automaton it should track.
void require_automaton(const Checkpoint& checkpoint);

/// The folder's files by name: config.json, model.safetensors, and with an automaton also automaton.json (krohn's own
/// format) and tokens.json, which says what each token means. Throws InputError when a tensor has a wrong shape.
std::vector<std::pair<std::string, std::string>> checkpoint_files(const Checkpoint& checkpoint);

/// The files of an old folder that must not remain beside other weights: those of models that krohn writes.
extern const std::vector<std::string_view> kFilesOfModels;

/// Writes the folder, or replaces it: whole or not at all, whenever the process is killed (groups/base/atomic_file.h).
/// Other files in it are kept. Throws SystemError.
void save_checkpoint(const Checkpoint& checkpoint, const std::string& folder);

/// Reads a folder: model.safetensors, or the shards that model.safetensors.index.json names. F32, BF16, F16 and F64
/// tensors of the config's shapes; those of older gated DeltaProduct checkpoints are joined. The
/// automaton is that of automaton.json, unless `automaton` is given; with either, tokens.json says what the tokens
/// mean. Throws InputError for what the emulation does not have (attention layers that are not zero, tied embeddings,
/// another model_type), for adapters beside the weights, for missing or additional tensors, and for folders with
/// pickled weights only, which are never loaded because loading runs code.
Checkpoint load_checkpoint(const std::string& folder, std::optional<Dfa> automaton = std::nullopt);

/// Throws InputError where the folder holds an adapter (PEFT), which `from_pretrained` adds to the weights.
void refuse_adapter(const std::string& folder);

/// True when `path` is a folder with a config.json.
bool is_checkpoint_folder(const std::string& path);

// Gated DeltaProduct checkpoints as the library wrote them before it
// kept all Householders of a layer in one tensor.

/// Joins what the older layers had apart for every Householder j, row after row, under the later name:
///   attn.{k,v,b}_projs.{j}.weight → attn.{k,v,b}_proj.weight     attn.{k,v}_conv1ds.{j}.weight →
///   attn.{k,v}_conv1d.weight
/// Returns what it joined, and leaves files without such names as they are. Throws InputError when a part is missing,
/// too many, or unlike the others.
HouseholderParts join_householders(TensorFile& file, std::uint32_t householders, const std::string& where);

/// The tensors as they were before they were joined.
TensorFile part_householders(TensorFile file, const HouseholderParts& parts);

}  // namespace krohn
