// A checkpoint's folder: config.json, automaton.json and tokens.json, each ended by a NUL, then model.safetensors. It
// is refused with an error of ours, or the model runs and answers with as many logits as it has tokens.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "only_errors.h"

using namespace krohn;

namespace {

namespace fs = std::filesystem;

/// Larger models are right, and slow.
constexpr std::uint64_t kMaxNumbers = 1 << 16;

void run(const Checkpoint& checkpoint) {
  std::uint64_t numbers = 0;
  for (const auto& [name, tensor] : checkpoint.tensors.tensors) numbers += tensor.elements();
  const CheckpointConfig& c = checkpoint.config;
  if (numbers > kMaxNumbers || std::uint64_t{c.heads} * c.key_dim * c.value_dim * c.layers > kMaxNumbers) return;
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const CheckpointModel model(checkpoint, precision);
    CheckpointModel::Memory memory = model.start();
    if (model.step(0, memory).size() != c.vocabulary) std::abort();
    const std::vector<std::uint32_t> tokens{0, c.vocabulary - 1};
    if (model.read_chunk(tokens, memory).size() != tokens.size()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path folder = fs::temp_directory_path() / ("krohn-checkpoint-fuzz-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::string_view rest = fuzz::as_text(data, size);
  for (const char* name : {"config.json", "automaton.json", "tokens.json", "model.safetensors"}) {
    const std::size_t end = std::string_view(name) == "model.safetensors" ? rest.size() : rest.find('\0');
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    fs::remove(folder / name);
    if (part.empty() && std::string_view(name) != "config.json") continue;
    std::ofstream(folder / name, std::ios::binary) << part;
  }
  fuzz::only_errors([&] { run(load_checkpoint(folder.string())); });
  return 0;
}
