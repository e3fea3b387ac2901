#include "tools/krohn/models/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/constructions/checkpoints/gated_checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/files/npz.h"
#include "krohn/constructions/files/onnx.h"
#include "krohn/constructions/files/recurrence_file.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/atomic_folder.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/near_miss.h"
#include "network_module.h"
#include "tools/krohn/models/cell_target.h"
#include "tools/krohn/models/refused_target.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/page.h"
#include "tools/krohn/usual_name.h"

namespace krohn {
namespace {

namespace fs = std::filesystem;

constexpr char kKrohn[] = "krohn", kTorch[] = "torch", kOnnx[] = "onnx", kNumpy[] = "numpy";

/// Language models of other libraries: what they are called here.
struct CheckpointTarget {
  const char* name;
  CheckpointFamily family;
};
constexpr CheckpointTarget kCheckpointTargets[] = {{"fla-deltanet", CheckpointFamily::kDeltaNet},
                                                   {"fla-gated-deltaproduct", CheckpointFamily::kGatedDeltaProduct},
                                                   {"fla-gated-deltanet", CheckpointFamily::kGatedDeltaNet},
                                                   {"fla-kda", CheckpointFamily::kKda},
                                                   {"fla-gdn2", CheckpointFamily::kGdn2},
                                                   {"olmo-hybrid", CheckpointFamily::kOlmoHybrid},
                                                   {"qwen3-next", CheckpointFamily::kQwen3Next}};

const CheckpointTarget* checkpoint_target(const std::string& target) {
  const auto found = std::ranges::find(kCheckpointTargets, target, &CheckpointTarget::name);
  return found == std::end(kCheckpointTargets) ? nullptr : &*found;
}

bool is_recurrence_target(const std::string& target) {
  return std::ranges::find(recurrence_families(), target) != recurrence_families().end();
}

/// What a target's file is named like; empty for folders.
std::string extension_of(const std::string& target) {
  if (target == kKrohn || is_recurrence_target(target)) return ".safetensors";
  if (target == kOnnx) return ".onnx";
  if (target == kNumpy) return ".npz";
  return "";
}

void report(const Checkpoint& checkpoint, const std::string& language, const std::string& target,
            const std::string& folder) {
  const CheckpointConfig& config = checkpoint.config;
  fmt::print("{}: {} in the weights of {}\n", visible(folder), visible(language), target);
  fmt::print("  {}, hidden size {}, {} of {}×{}, {} per token, {}\n", counted(config.layers, "layer"),
             config.hidden_size, counted(config.heads, "head"), config.key_dim, config.value_dim,
             counted(config.householders, "Householder"), counted(config.vocabulary, "token"));
  fmt::print("  after token {} and a word, the arg max of the next token is the automaton's state (tokens.json)\n",
             *checkpoint.tokens.begin);
}

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names{kKrohn, kTorch, kOnnx, kNumpy};
  for (const CheckpointTarget& target : kCheckpointTargets) names.emplace_back(target.name);
  names.insert(names.end(), recurrence_families().begin(), recurrence_families().end());
  names.insert(names.end(), cell_targets().begin(), cell_targets().end());
  return names;
}

std::string parse_target(const std::string& text) {
  const std::vector<std::string> names = target_names();
  for (const std::string& name : {text, usual_name(text)})
    if (std::ranges::count(names, name) > 0) return name;
  const std::string usual = usual_name(text);
  if (const std::string_view reason = refusal_of_target(usual); !reason.empty())
    throw InputError("--target " + usual, fmt::format("no, because {}", reason));
  const std::string hint = did_you_mean(text, names);
  throw InputError("--target", hint.empty() ? fmt::format("there is no {}; the values are {}", in_quotes(text),
                                                          fmt::join(names, ", "))
                                            : fmt::format("there is no {}.{}", in_quotes(text), hint));
}

std::vector<std::string> target_constructions(const std::string& target) {
  return is_recurrence_target(target) ? constructions_for(target) : std::vector<std::string>();
}

const std::vector<std::string>& cell_targets() {
  static const std::vector<std::string> names{"torch-rnn",   "torch-rnn-relu",      "torch-gru",         "torch-lstm",
                                              "xlstm-slstm", "transformers-mamba2", "transformers-mlstm"};
  return names;
}

bool is_cell_target(const std::string& target) { return std::ranges::count(cell_targets(), target) > 0; }

bool is_checkpoint_target(const std::string& target) { return checkpoint_target(target) != nullptr; }

bool is_folder_target(const std::string& target) { return extension_of(target).empty(); }

void check_output_name(const std::string& target, const std::string& output) {
  const std::string extension = extension_of(target), given = fs::path(output).extension().string();
  if (extension.empty() && given != ".safetensors" && given != ".onnx" && given != ".npz") return;
  if (extension.empty()) throw InputError(output, fmt::format("the target {} is a folder; name one", target));
  if (given == extension) return;
  throw InputError(
      output, fmt::format("the target {} is written as a {} file; name it so, or choose another --target of {}", target,
                          extension, fmt::join(target_names(), ", ")));
}

void write_network(const Network& network, const std::string& target, const std::string& output) {
  if (target == kOnnx) return write_file(output, format_onnx(network));
  if (target == kNumpy) return write_file(output, format_npz(to_tensors(network)));
  if (target == kKrohn) return save_network(network, output);
  if (is_recurrence_target(target)) return write_safetensors(to_recurrence(network, target), output);
  const std::vector<std::pair<std::string, std::string>> files{
      {"krohn_network.py", kNetworkModule}, {"model.safetensors", format_safetensors(to_tensors(network))}};
  write_folder(output, files, kFilesOfModels);
}

std::string torch_module(const Network& network) {
  const std::string load = R"(

def load():
    """The network of these weights."""
    import base64, os, tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        with open(path, "wb") as file:
            file.write(base64.b64decode(WEIGHTS))
        return ExactLRNN.from_file(path)
)";
  return fmt::format("{}\n\nWEIGHTS = \"{}\"  # model.safetensors in base64\n{}", kNetworkModule,
                     base64(format_safetensors(to_tensors(network))), load);
}

Checkpoint build_checkpoint(const Dfa& automaton, const std::string& target) {
  const CheckpointFamily family = checkpoint_target(target)->family;
  if (family == CheckpointFamily::kDeltaNet) return delta_net_checkpoint(automaton);
  if (family == CheckpointFamily::kGatedDeltaProduct) return gated_delta_product_checkpoint(automaton);
  return gated_checkpoint(automaton, family);
}

void compile_checkpoint(const Dfa& automaton, const std::string& language, const std::string& target,
                        const std::string& folder, bool json) {
  const Checkpoint checkpoint = build_checkpoint(automaton, target);
  save_checkpoint(checkpoint, folder);
  if (!json) return report(checkpoint, language, target, folder);
  const CheckpointConfig& config = checkpoint.config;
  print_json({{"language", language},
              {"target", target},
              {"output", folder},
              {"states", automaton.states()},
              {"letters", automaton.letters()},
              {"layers", config.layers},
              {"hidden_size", config.hidden_size},
              {"heads", config.heads},
              {"key_dim", config.key_dim},
              {"value_dim", config.value_dim},
              {"householders", config.householders},
              {"vocabulary", config.vocabulary},
              {"begin_token", *checkpoint.tokens.begin}});
}

}  // namespace krohn
