#include "krohn/constructions/checkpoints/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"

namespace krohn {

const FamilyTraits& traits_of(CheckpointFamily family) {
  static constexpr FamilyTraits kTraits[] = {
      {"delta_net", "DeltaNetForCausalLM", Decay::kNone, OutputGate::kNone, false, false, true, false, false},
      {"gated_deltaproduct", "GatedDeltaProductForCausalLM", Decay::kNone, OutputGate::kNone, false, false, true, false,
       false},
      {"gated_deltanet", "GatedDeltaNetForCausalLM", Decay::kHead, OutputGate::kSilu, false, false, true, false, false},
      {"kda", "KDAForCausalLM", Decay::kChannel, OutputGate::kSigmoid, true, false, true, false, false},
      {"gdn2", "GDN2ForCausalLM", Decay::kChannel, OutputGate::kSigmoid, true, true, true, false, false},
      {"olmo_hybrid", "OlmoHybridForCausalLM", Decay::kHead, OutputGate::kSilu, false, false, true, true, false},
      {"qwen3_next", "Qwen3NextForCausalLM", Decay::kHead, OutputGate::kSilu, false, false, false, true, true},
      {"kimi_linear", "KimiLinearForCausalLM", Decay::kChannel, OutputGate::kSigmoid, true, false, false, true, false,
       true},
      {"glm5_next", "Glm5NextForConditionalGeneration", Decay::kChannel, OutputGate::kSigmoid, true, false, false, true,
       false, true}};
  return kTraits[static_cast<std::size_t>(family)];
}

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kConfigFile[] = "config.json", kWeightsFile[] = "model.safetensors", kAutomatonFile[] = "automaton.json",
               kTokensFile[] = "tokens.json", kIndexFile[] = "model.safetensors.index.json";
constexpr std::string_view kBfloat16 = "bfloat16";
constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;

CheckpointConfig read_config(const std::string& folder) {
  const std::string path = (fs::path(folder) / kConfigFile).string();
  return parse_config(read_text_file(path, kMaxJsonBytes), path);
}

/// {"letters": [{"letter": …, "token": …}, …], "begin": … or null, "states": [{"state": …, "token": …, "output": …},
/// …]}, the states also with "as_input", a letter, where their tokens are read as letters
std::string tokens_text(const Checkpoint& checkpoint) {
  const Dfa& automaton = *checkpoint.automaton;
  const TokenTable& table = checkpoint.tokens;
  nlohmann::ordered_json tokens{{"letters", json::array()}, {"begin", nullptr}, {"states", json::array()}};
  for (Letter letter = 0; letter < automaton.letters(); ++letter)
    tokens["letters"].push_back({{"letter", automaton.alphabet().name(letter)}, {"token", table.of_letter[letter]}});
  if (table.begin) tokens["begin"] = *table.begin;
  for (State state = 0; state < automaton.states(); ++state) {
    if (table.of_state[state] == TokenTable::kNone) continue;
    nlohmann::ordered_json row{{"state", state},
                               {"token", table.of_state[state]},
                               {"output", automaton.output_names()[automaton.output(state)]}};
    if (!table.as_input.empty()) row["as_input"] = automaton.alphabet().name(table.as_input[state]);
    tokens["states"].push_back(std::move(row));
  }
  return tokens.dump(2) + "\n";
}

json parse_object(const std::string& path) {
  json object = parse_strict_json(read_text_file(path, kMaxJsonBytes), path);
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
      assign(table.of_letter[*letter], token(row), "letter", automaton_.alphabet().name(*letter));
    }
    for (Letter letter = 0; letter < automaton_.letters(); ++letter)
      if (table.of_letter[letter] == TokenTable::kNone)
        throw InputError(path_, fmt::format("letter {} has no token", in_quotes(automaton_.alphabet().name(letter))));
    table.of_state.assign(automaton_.states(), TokenTable::kNone);
    for (const json& row : rows("states")) {
      const State state = state_of(row);
      assign(table.of_state[state], token(row), "state", automaton_.state_name(state));
      require_output(state, row);
    }
    for (const State state : tracked_states(automaton_).states)
      if (table.of_state[state] == TokenTable::kNone)
        throw InputError(path_, fmt::format("state {} has no token", in_quotes(automaton_.state_name(state))));
    require_one_output_each(table);
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
    const std::string& name = found->get_ref<const std::string&>();
    const auto letter = automaton_.alphabet().find(std::string_view(name));
    return letter && automaton_.alphabet().name(*letter) == name ? letter : std::nullopt;  // no class that holds it
  }
  State state_of(const json& row) const {
    const auto found = row.find("state");
    if (found == row.end() || !found->is_number_unsigned() || *found >= automaton_.states())
      throw InputError(path_, fmt::format("an entry of \"states\" names no state below {}", automaton_.states()));
    return found->get<State>();
  }
  void assign(std::uint32_t& place, std::uint32_t token, const char* what, const std::string& name) const {
    if (place != TokenTable::kNone) throw InputError(path_, fmt::format("{} {} has two tokens", what, in_quotes(name)));
    place = token;
  }
  /// Requires the file's facts about a state to be the automaton's: states have no other name in common.
  void require_output(State state, const json& row) const {
    const std::string& name = automaton_.output_names()[automaton_.output(state)];
    const auto said = row.find("output");
    if (said != row.end() && *said != name)
      throw InputError(
          path_, fmt::format("state {} has the output {} here and {} in the automaton", state,
                             said->is_string() ? in_quotes(said->get<std::string>()) : said->dump(), in_quotes(name)));
  }
  /// A token that stood for two outputs would be right after words of either.
  void require_one_output_each(const TokenTable& table) const {
    std::map<std::uint32_t, Output> output_of;
    for (State state = 0; state < automaton_.states(); ++state) {
      if (table.of_state[state] == TokenTable::kNone) continue;
      const auto [known, fresh] = output_of.try_emplace(table.of_state[state], automaton_.output(state));
      if (known->second != automaton_.output(state))
        throw InputError(path_, fmt::format("token {} stands for two outputs, {} and {}", known->first,
                                            in_quotes(automaton_.output_names()[known->second]),
                                            in_quotes(automaton_.output_names()[automaton_.output(state)])));
    }
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

/// Tensor ↦ shard.
std::map<std::string, std::string> read_index(const std::string& index_path) {
  const json index = parse_object(index_path);
  if (!index.contains("weight_map") || !index["weight_map"].is_object())
    throw InputError(index_path, "\"weight_map\" is not an object of tensor names and files");
  std::map<std::string, std::string> shard_of;
  for (const auto& [name, shard] : index["weight_map"].items()) {
    if (!shard.is_string() || fs::path(shard.get<std::string>()).has_parent_path())
      throw InputError(index_path, fmt::format("the file of tensor {} is not a name in this folder", in_quotes(name)));
    shard_of[name] = shard.get<std::string>();
  }
  return shard_of;
}

std::set<std::string> shards_of(const std::map<std::string, std::string>& index) {
  std::set<std::string> shards;
  for (const auto& [name, shard] : index) shards.insert(shard);
  return shards;
}

TensorFile read_shards(const std::string& folder, const std::string& index_path) {
  const std::map<std::string, std::string> shard_of = read_index(index_path);
  TensorFile all;
  for (const std::string& shard : shards_of(shard_of)) {
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

[[noreturn]] void refuse_without_weights(const fs::path& base) {
  for (const auto& entry : fs::directory_iterator(base))
    if (entry.path().extension() == ".bin" || entry.path().extension() == ".pt" || entry.path().extension() == ".pth")
      throw InputError(entry.path().string(),
                       "pickled weights are programs, and krohn does not run them; in Python, "
                       "`model.save_pretrained(folder, safe_serialization=True)` writes model.safetensors");
  throw InputError(base.string(), fmt::format("has neither {} nor {}", kWeightsFile, kIndexFile));
}

}  // namespace

TensorFile checkpoint_weights(const std::string& folder) {
  refuse_adapter(folder);
  const fs::path base(folder);
  if (fs::exists(base / kWeightsFile)) return read_safetensors((base / kWeightsFile).string());
  if (fs::exists(base / kIndexFile)) return read_shards(folder, (base / kIndexFile).string());
  refuse_without_weights(base);
}

std::vector<std::string> checkpoint_weight_files(const std::string& folder) {
  const fs::path base(folder);
  if (fs::exists(base / kWeightsFile)) return {(base / kWeightsFile).string()};
  if (!fs::exists(base / kIndexFile)) refuse_without_weights(base);
  std::vector<std::string> files{(base / kIndexFile).string()};
  for (const std::string& shard : shards_of(read_index(files.front()))) files.push_back((base / shard).string());
  return files;
}

std::string arithmetic_of_config(const std::string& folder) {
  return read_config(folder).dtype == kBfloat16 ? "bf16" : "fp32";
}

std::string loaded_otherwise(const Checkpoint& checkpoint, const std::string& precision) {
  const std::map<std::string_view, std::string_view> types{
      {"F32", "float32"}, {"BF16", kBfloat16}, {"F16", "float16"}, {"F64", "float64"}};
  std::set<std::string_view> loaded;
  if (!checkpoint.config.dtype.empty())
    loaded.insert(checkpoint.config.dtype);
  else
    for (const auto& [name, tensor] : checkpoint.tensors.tensors)
      if (const auto type = types.find(tensor.dtype); type != types.end()) loaded.insert(type->second);
  const std::string own = precision == "bf16" ? std::string(kBfloat16) : precision == "fp32" ? "float32" : precision;
  if (loaded.empty() || (loaded.size() == 1 && *loaded.begin() == own)) return "";
  return fmt::format(", but {} it in {}, about which nothing is claimed",
                     checkpoint.config.dtype.empty() ? "its tensors load" : "its config loads",
                     fmt::join(loaded, " or "));
}

void require_automaton(const Checkpoint& checkpoint) {
  if (!checkpoint.automaton)
    throw InputError(
        "this checkpoint says nothing about the automaton that it should track: put automaton.json and tokens.json "
        "beside its config.json");
}

std::vector<std::pair<std::string, std::string>> checkpoint_files(const Checkpoint& checkpoint) {
  require_tensors(checkpoint.config, checkpoint.tensors, kWeightsFile);
  TensorFile tensors = with_file_names(checkpoint.config, checkpoint.tensors);
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
  Checkpoint checkpoint;
  checkpoint.config = read_config(folder);
  checkpoint.tensors = checkpoint_weights(folder);
  checkpoint.parts = join_householders(checkpoint.tensors, checkpoint.config.householders, folder);
  checkpoint.config.has_expert_names = has_expert_names(checkpoint.config, checkpoint.tensors);
  checkpoint.tensors = with_own_names(checkpoint.config, std::move(checkpoint.tensors), folder);
  require_tensors(checkpoint.config, checkpoint.tensors, folder);
  checkpoint.automaton = std::move(automaton);
  if (!checkpoint.automaton && fs::exists(base / kAutomatonFile))
    checkpoint.automaton = read_automaton_file((base / kAutomatonFile).string());
  if (checkpoint.automaton)
    checkpoint.tokens =
        TokensReader((base / kTokensFile).string(), *checkpoint.automaton, checkpoint.config.vocabulary).read();
  return checkpoint;
}

void refuse_adapter(const std::string& folder) {
  const fs::path adapter = fs::path(folder) / "adapter_config.json";
  if (std::error_code error; fs::exists(adapter, error))
    throw InputError(adapter.string(),
                     "an adapter of PEFT, which from_pretrained adds to the weights beside it; merge it (in Python, "
                     "`model.merge_and_unload().save_pretrained(folder)`), or remove it");
}

bool is_checkpoint_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error) && fs::exists(fs::path(path) / kConfigFile, error);
}

namespace {

constexpr std::string_view kWeight = ".weight";

/// "model.layers.0.attn.k_projs.2.weight": part 2 of "model.layers.0.attn.k_proj.weight".
struct PartName {
  std::string whole;
  std::uint32_t part = 0;
};

std::optional<PartName> part_name(std::string_view name) {
  for (const std::string_view list : {".k_projs.", ".v_projs.", ".b_projs.", ".k_conv1ds.", ".v_conv1ds."}) {
    const std::size_t at = name.find(list);
    if (at == std::string_view::npos || !name.ends_with(kWeight)) continue;
    const std::size_t first = at + list.size(), last = name.size() - kWeight.size();
    if (first >= last) continue;
    PartName result{std::string(name.substr(0, first - 2)) + std::string(kWeight), 0};
    const auto [end, error] = std::from_chars(name.data() + first, name.data() + last, result.part);
    if (error == std::errc() && end == name.data() + last) return result;
  }
  return std::nullopt;
}

}  // namespace

HouseholderParts join_householders(TensorFile& file, std::uint32_t householders, const std::string& where) {
  std::map<std::string, std::map<std::uint32_t, std::string>> wholes;
  for (const auto& [name, tensor] : file.tensors)
    if (const auto found = part_name(name)) wholes[found->whole][found->part] = name;
  HouseholderParts result;
  for (const auto& [whole, parts] : wholes) {
    if (parts.size() != householders || parts.rbegin()->first + 1 != householders)
      throw InputError(where, fmt::format("\"{}\" is in {} parts up to number {}, and there are {} Householders", whole,
                                          parts.size(), parts.rbegin()->first, householders));
    if (file.tensors.contains(whole))
      throw InputError(where, fmt::format("tensor \"{}\" is there both whole and in parts", whole));
    Tensor joined;
    for (const auto& [part, name] : parts) {
      result[whole].push_back(name);
      Tensor tensor = std::move(file.tensors.extract(name).mapped());
      if (part == 0) {
        joined = std::move(tensor);
        continue;
      }
      const bool is_alike = tensor.dtype == joined.dtype && tensor.shape.size() == joined.shape.size() &&
                            !tensor.shape.empty() && tensor.bytes.size() * part == joined.bytes.size() &&
                            std::equal(tensor.shape.begin() + 1, tensor.shape.end(), joined.shape.begin() + 1);
      if (!is_alike) throw InputError(where, fmt::format("tensor \"{}\" is unlike the parts before it", name));
      joined.shape[0] += tensor.shape[0];
      joined.bytes.insert(joined.bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
    }
    file.tensors.emplace(whole, std::move(joined));
  }
  return result;
}

TensorFile part_householders(TensorFile file, const HouseholderParts& parts) {
  for (const auto& [whole, names] : parts) {
    Tensor joined = std::move(file.tensors.extract(whole).mapped());
    joined.shape[0] /= names.size();
    const std::size_t size = joined.bytes.size() / names.size();
    for (std::size_t part = 0; part < names.size(); ++part) {
      const auto first = joined.bytes.begin() + static_cast<std::ptrdiff_t>(part * size);
      file.tensors[names[part]] = {joined.dtype, joined.shape, {first, first + static_cast<std::ptrdiff_t>(size)}};
    }
  }
  return file;
}

}  // namespace krohn
