#include "krohn/simulate/audit/checkpoint_tensors.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/constructions/files/tensor_values.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"

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

}  // namespace

CheckpointTensors::CheckpointTensors(const std::string& folder) : folder_(folder) {
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

const CheckpointTensors::Place& CheckpointTensors::at(const std::string& name) const {
  const auto found = places_.find(name);
  if (found == places_.end())
    throw InputError(folder_, fmt::format("it has no tensor {}, which its config asks for", in_quotes(name)));
  return found->second;
}

const std::vector<std::uint64_t>& CheckpointTensors::shape(const std::string& name) const {
  return at(name).place.shape;
}

std::vector<double> CheckpointTensors::numbers(const std::string& name) const {
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

std::uint64_t CheckpointTensors::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [name, place] : places_) sum += place.place.bytes;
  return sum;
}

}  // namespace krohn
