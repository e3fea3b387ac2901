#include "krohn/constructions/checkpoints/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/actions/tracked_states.h"
#include "krohn/constructions/checkpoints/checkpoint_config.h"
#include "krohn/constructions/checkpoints/older_checkpoint.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/constructions/files/tensor_values.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/atomic_folder.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"

namespace krohn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kConfigFile[] = "config.json", kWeightsFile[] = "model.safetensors", kAutomatonFile[] = "automaton.json",
               kTokensFile[] = "tokens.json", kIndexFile[] = "model.safetensors.index.json";
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;

/// Every tensor of the config's model with its shape.
std::map<std::string, Shape> expected_shapes(const CheckpointConfig& config) {
  const std::uint64_t d = config.hidden_size, inner = config.intermediate_size, n = config.householders;
  const std::uint64_t keys = std::uint64_t{config.heads} * config.key_dim;
  const std::uint64_t values = std::uint64_t{config.heads} * config.value_dim;
  std::map<std::string, Shape> shapes{{"model.embeddings.weight", {config.vocabulary, d}},
                                      {"model.norm.weight", {d}},
                                      {"lm_head.weight", {config.vocabulary, d}}};
  for (std::uint32_t layer = 0; layer < config.layers; ++layer) {
    const std::string prefix = fmt::format("model.layers.{}.", layer);
    const auto add = [&](const char* name, Shape shape) { shapes.emplace(prefix + name, std::move(shape)); };
    add("attn_norm.weight", {d});
    add("attn.q_proj.weight", {keys, d});
    add("attn.k_proj.weight", {n * keys, d});
    add("attn.v_proj.weight", {n * values, d});
    add("attn.b_proj.weight", {n * config.heads, d});
    add("attn.o_norm.weight", {config.value_dim});
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

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

/// All tensors that the config asks for, no others, each of its shape and of a floating-point type.
void require_tensors(const CheckpointConfig& config, const TensorFile& file, const std::string& where) {
  if (config.layers > file.tensors.size())
    throw InputError(
        where, fmt::format("{} tensors, and {} asks for {} layers", file.tensors.size(), kConfigFile, config.layers));
  const std::map<std::string, Shape> shapes = expected_shapes(config);
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

/// {"letters": [{"letter": …, "token": …}, …], "begin": … or null, "states": [{"state": …, "token": …, "output": …},
/// …]}
std::string tokens_text(const Checkpoint& checkpoint) {
  const Dfa& automaton = *checkpoint.automaton;
  const TokenTable& table = checkpoint.tokens;
  nlohmann::ordered_json tokens{{"letters", json::array()}, {"begin", nullptr}, {"states", json::array()}};
  for (Letter letter = 0; letter < automaton.letters(); ++letter)
    tokens["letters"].push_back({{"letter", automaton.alphabet().name(letter)}, {"token", table.of_letter[letter]}});
  if (table.begin) tokens["begin"] = *table.begin;
  for (State state = 0; state < automaton.states(); ++state)
    if (table.of_state[state] != TokenTable::kNone)
      tokens["states"].push_back({{"state", state},
                                  {"token", table.of_state[state]},
                                  {"output", automaton.output_names()[automaton.output(state)]}});
  return tokens.dump(2) + "\n";
}

json parse_object(const std::string& path) {
  json object = parse_strict_json(read_text_file(path, kMaxTextBytes), path);
  if (object.is_object()) return object;
  throw InputError(path, "not a JSON object");
}

/// tokens.json for this automaton: a token below `vocabulary` for every letter and every reachable state.
class TokensReader {
 public:
  TokensReader(std::string path, const Dfa& automaton, std::uint32_t vocabulary)
      : path_(std::move(path)), automaton_(automaton), vocabulary_(vocabulary), object_(parse_object(path_)) {}

  TokenTable read() const {
    TokenTable table;
    table.of_letter.assign(automaton_.letters(), TokenTable::kNone);
    for (const json& row : rows("letters")) {
      const auto letter = letter_of(row);
      if (!letter)
        throw InputError(path_, fmt::format("the automaton has no letter {}",
                                            in_quotes(row.value("letter", json()).dump(-1, ' ', true))));
      table.of_letter[*letter] = token(row);
    }
    for (Letter letter = 0; letter < automaton_.letters(); ++letter)
      if (table.of_letter[letter] == TokenTable::kNone)
        throw InputError(path_, fmt::format("letter {} has no token", in_quotes(automaton_.alphabet().name(letter))));
    table.of_state.assign(automaton_.states(), TokenTable::kNone);
    for (const json& row : rows("states")) table.of_state[state_of(row)] = token(row);
    for (const State state : tracked_states(automaton_).states)
      if (table.of_state[state] == TokenTable::kNone)
        throw InputError(path_, fmt::format("state {} has no token", in_quotes(automaton_.state_name(state))));
    if (object_.contains("begin") && !object_["begin"].is_null()) table.begin = token({{"token", object_["begin"]}});
    return table;
  }

 private:
  const json& rows(const char* name) const {
    if (!object_.contains(name) || !object_[name].is_array())
      throw InputError(path_, fmt::format("\"{}\" is not a list", name));
    for (const json& row : object_[name])
      if (!row.is_object()) throw InputError(path_, fmt::format("\"{}\" holds something that is not an object", name));
    return object_[name];
  }
  std::optional<Letter> letter_of(const json& row) const {
    const auto found = row.find("letter");
    if (found == row.end() || !found->is_string()) return std::nullopt;
    return automaton_.alphabet().find(std::string_view(found->get_ref<const std::string&>()));
  }
  State state_of(const json& row) const {
    const auto found = row.find("state");
    if (found == row.end() || !found->is_number_unsigned() || *found >= automaton_.states())
      throw InputError(path_, fmt::format("an entry of \"states\" names no state below {}", automaton_.states()));
    return found->get<State>();
  }
  std::uint32_t token(const json& row) const {
    const auto found = row.find("token");
    if (found == row.end() || !found->is_number_unsigned() || *found >= vocabulary_)
      throw InputError(path_, fmt::format("an entry names no token below {}, the size of the vocabulary", vocabulary_));
    return found->get<std::uint32_t>();
  }

  std::string path_;
  const Dfa& automaton_;
  std::uint32_t vocabulary_;
  json object_;
};

TensorFile read_shards(const std::string& folder, const std::string& index_path) {
  const json index = parse_object(index_path);
  if (!index.contains("weight_map") || !index["weight_map"].is_object())
    throw InputError(index_path, "\"weight_map\" is not an object of tensor names and files");
  std::map<std::string, std::string> shard_of;
  std::set<std::string> shards;
  for (const auto& [name, shard] : index["weight_map"].items()) {
    if (!shard.is_string() || fs::path(shard.get<std::string>()).has_parent_path())
      throw InputError(index_path, fmt::format("the file of tensor {} is not a name in this folder", in_quotes(name)));
    shard_of[name] = shard.get<std::string>();
    shards.insert(shard_of[name]);
  }
  TensorFile all;
  for (const std::string& shard : shards) {
    TensorFile part = read_safetensors((fs::path(folder) / shard).string());
    for (auto& [name, tensor] : part.tensors) {
      const auto expected = shard_of.find(name);
      if (expected == shard_of.end() || expected->second != shard)
        throw InputError(index_path,
                         fmt::format("tensor {} is in {}, against the index", in_quotes(name), in_quotes(shard)));
      all.tensors.emplace(name, std::move(tensor));
    }
  }
  for (const auto& [name, shard] : shard_of)
    if (!all.tensors.contains(name))
      throw InputError(index_path,
                       fmt::format("tensor {} is not in {}, against the index", in_quotes(name), in_quotes(shard)));
  return all;
}

TensorFile read_weights(const std::string& folder) {
  const fs::path base(folder);
  if (fs::exists(base / kWeightsFile)) return read_safetensors((base / kWeightsFile).string());
  if (fs::exists(base / kIndexFile)) return read_shards(folder, (base / kIndexFile).string());
  for (const auto& entry : fs::directory_iterator(base))
    if (entry.path().extension() == ".bin" || entry.path().extension() == ".pt" || entry.path().extension() == ".pth")
      throw InputError(entry.path().string(),
                       "pickled weights are programs, and krohn does not run them; in Python, "
                       "`model.save_pretrained(folder, safe_serialization=True)` writes model.safetensors");
  throw InputError(folder, fmt::format("has neither {} nor {}", kWeightsFile, kIndexFile));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> checkpoint_files(const Checkpoint& checkpoint) {
  require_tensors(checkpoint.config, checkpoint.tensors, kWeightsFile);
  TensorFile tensors = checkpoint.tensors;
  tensors.metadata["format"] = "pt";  // transformers refuses files without it
  std::vector<std::pair<std::string, std::string>> files{{kWeightsFile, format_safetensors(tensors)}};
  if (checkpoint.automaton) {
    files.emplace_back(kAutomatonFile, write_automaton(*checkpoint.automaton, FileFormat::kJson));
    files.emplace_back(kTokensFile, tokens_text(checkpoint));
  }
  files.emplace_back(kConfigFile, format_config(checkpoint.config));
  return files;
}

const std::vector<std::string_view> kFilesOfModels{kConfigFile, kWeightsFile, kAutomatonFile, kTokensFile,
                                                   "krohn_network.py"};

void save_checkpoint(const Checkpoint& checkpoint, const std::string& folder) {
  write_folder(folder, checkpoint_files(checkpoint), kFilesOfModels);
}

Checkpoint load_checkpoint(const std::string& folder, std::optional<Dfa> automaton) {
  const FloatEnvironment environment;
  const fs::path base(folder);
  const std::string config_path = (base / kConfigFile).string();
  Checkpoint checkpoint;
  checkpoint.config = parse_config(read_text_file(config_path, kMaxTextBytes), config_path);
  checkpoint.tensors = read_weights(folder);
  join_householders(checkpoint.tensors, checkpoint.config.householders, folder);
  require_tensors(checkpoint.config, checkpoint.tensors, folder);
  checkpoint.automaton = std::move(automaton);
  if (!checkpoint.automaton && fs::exists(base / kAutomatonFile))
    checkpoint.automaton = read_automaton_file((base / kAutomatonFile).string());
  if (checkpoint.automaton)
    checkpoint.tokens =
        TokensReader((base / kTokensFile).string(), *checkpoint.automaton, checkpoint.config.vocabulary).read();
  return checkpoint;
}

bool is_checkpoint_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error) && fs::exists(fs::path(path) / kConfigFile, error);
}

}  // namespace krohn
