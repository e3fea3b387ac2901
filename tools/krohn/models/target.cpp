#include "tools/krohn/models/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "network_module.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/options.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/page_data.h"

namespace krohn {

// Architectures that people ask for and krohn does not write, each with its
// reason.

/// Why there is no such --target, and what to take instead; empty for names that are not in the list.
std::string_view refusal_of_target(std::string_view name);

namespace {

struct Refusal {
  std::string_view names;  ///< between blanks
  std::string_view reason;
};

constexpr Refusal kRefusals[] = {
    {" mamba2 ",
     "it is written as one bare layer: the target transformers-mamba2, for automata whose letters keep all states or "
     "take all to one. Its decays lie between 0 and 1 and every number keeps its sign, so that it holds no group, not "
     "even parity; what several layers could hold, qwen3-next holds too"},
    {" gla simple-gla hgrn hgrn2 rwkv6 gsa ",
     "its decays lie between 0 and 1 and every number keeps its sign, so that it holds no group, not even parity; what "
     "it can hold, qwen3-next holds too: take that target"},
    {" kimi-k3 bailing-hybrid qwen3.5 qwen3.6 ",
     "krohn does not write it. Its β is at most 1, so that no eigenvalue of its recurrent layers is negative or "
     "complex and, where matrices are multiplied exactly, no word permutes states (docs/MATH.md §4, Steps without "
     "reflections). The targets kimi-linear, glm5-next and qwen3-next have the same bound, and are written for "
     "automata without groups; for those with groups take fla-kda, whose β goes up to 2"},
    {" retnet lightning lightning-attention ",
     "its decay is the same for all letters and below 1, so that what it has read fades, and krohn writes states that "
     "stay as they are. Take olmo-hybrid or qwen3-next"},
    {" s4 s4d s5 lru ",
     "its transition is the same for all letters, which only add to the state: over the reals none can reset it, or "
     "swap two states. The target mamba has transitions that letters choose"},
    {" mamba3 ",
     "its state turns, but its decay is below 1, so that what was written fades, and krohn writes states that stay as "
     "they are. Take the target mamba, or pd-ssm"},
    {" rwkv7 ",
     "no eigenvalue of its transitions is below e^-0.6065 - 1 = -0.4548, so that over the reals a flip decays; take "
     "olmo-hybrid or fla-gated-deltanet"},
    {" xlstm mlstm ",
     "it is written as one bare layer: the target transformers-mlstm, for automata whose letters keep all states or "
     "take all to one, exact in fp32 alone. No number changes its sign, so that it holds no group; what several layers "
     "could hold, qwen3-next holds too"},
    {" lstm gru rnn elman ", "PyTorch's cells are the targets torch-rnn, torch-rnn-relu, torch-gru and torch-lstm"},
    {" slstm ", "the layer of the package xlstm is the target xlstm-slstm"},
    {" transformer attention llama gpt2 olmo olmo3 qwen3 ",
     "attention looks at all tokens before, and no bounded memory decides how it goes on, so that nothing could be "
     "proved of words of every length; take olmo-hybrid, whose attention layers are silent"},
    {" precond-gated-deltanet precond-kda momentum-deltanet log-linear-mamba2 path-attention comba ",
     "krohn does not write this layer yet; fla-gated-deltanet and fla-kda are the nearest"},
    {" aussm ",
     "its eigenvalues are numbers of a circle, which round: of the rotations only those by quarters are exact; take "
     "pd-ssm"}};

}  // namespace

std::string_view refusal_of_target(std::string_view name) {
  if (name.empty() || name.find(' ') != std::string_view::npos) return {};
  const auto found = std::ranges::find_if(kRefusals, [name](const Refusal& refusal) {
    for (std::size_t at = refusal.names.find(name); at != std::string_view::npos; at = refusal.names.find(name, at + 1))
      if (refusal.names[at - 1] == ' ' && refusal.names[at + name.size()] == ' ') return true;
    return false;
  });
  return found == std::end(kRefusals) ? std::string_view() : found->reason;
}

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
                                                   {"qwen3-next", CheckpointFamily::kQwen3Next},
                                                   {"kimi-linear", CheckpointFamily::kKimiLinear},
                                                   {"glm5-next", CheckpointFamily::kGlm5Next}};

const CheckpointTarget* checkpoint_target(const std::string& target) {
  const auto found = std::ranges::find(kCheckpointTargets, target, &CheckpointTarget::name);
  return found == std::end(kCheckpointTargets) ? nullptr : &*found;
}

bool is_recurrence_target(const std::string& target) {
  return std::ranges::find(recurrence_families(), target) != recurrence_families().end();
}

/// The extension of a target's file; empty for folders.
std::string extension_of(const std::string& target) {
  if (target == kKrohn || is_recurrence_target(target)) return ".safetensors";
  if (target == kOnnx) return ".onnx";
  if (target == kNumpy) return ".npz";
  return "";
}

void report(const Checkpoint& checkpoint, const std::string& language, const std::string& target,
            const std::string& folder) {
  const CheckpointConfig& config = checkpoint.config;
  fmt::print("{}: {} in the weights of {}\n", visible(folder), title(language), target);
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
