#include "krohn/simulate/models/model_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/models/models.h"

namespace krohn {
namespace {

constexpr std::uint32_t kMaxExtent = 1 << 20;

std::string text_of(const TensorFile& file, const char* key, const std::string& path) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw InputError(path, fmt::format("its metadata has no \"{}\"; `krohn train` writes models", key));
  return found->second;
}

std::uint32_t extent_of(const TensorFile& file, const char* key, const std::string& path) {
  const std::string text = text_of(file, key, path);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMaxExtent)
    throw InputError(path, fmt::format("metadata \"{}\" is not a number from 1 to {}", key, kMaxExtent));
  return value;
}

}  // namespace

namespace {

TensorFile file_of(const std::string& task, const SequenceModel<float>& model,
                   const std::map<std::string, std::string>& metadata) {
  TensorFile file = model.tensors();
  file.metadata = {{"format", "krohn.model"},
                   {"version", "1"},
                   {"task", task},
                   {"model", model.name()},
                   {"letters", std::to_string(model.letters())},
                   {"labels", std::to_string(model.labels())}};
  file.metadata.insert(metadata.begin(), metadata.end());
  return file;
}

}  // namespace

std::string format_model(const std::string& task, const SequenceModel<float>& model,
                         const std::map<std::string, std::string>& metadata) {
  return format_safetensors(file_of(task, model, metadata));
}

void save_model(const std::string& task, const SequenceModel<float>& model, const std::string& path,
                const std::map<std::string, std::string>& metadata) {
  write_safetensors(file_of(task, model, metadata), path);
}

TrainedModel load_model(const std::string& path) {
  const FloatEnvironment environment;
  const TensorFile file = read_safetensors(path);
  const std::string format = text_of(file, "format", path);
  if (format == "krohn.network")
    throw InputError(path,
                     "a network that `krohn compile` or `krohn snap` made; `krohn run` and `krohn verify` take it");
  if (format != "krohn.model" || text_of(file, "version", path) != "1")
    throw InputError(path, "not a trained model of version 1");
  TrainedModel trained{text_of(file, "task", path), file.metadata,
                       make_model<float>(text_of(file, "model", path), extent_of(file, "letters", path),
                                         extent_of(file, "labels", path), 0)};
  trained.model->load(file);
  for (const float number : trained.model->parameters())
    if (!std::isfinite(number)) throw InputError(path, "holds a number that is not finite");
  return trained;
}

}  // namespace krohn
