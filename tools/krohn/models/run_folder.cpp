#include "tools/krohn/models/run_folder.h"

#include <filesystem>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/subject.h"

namespace krohn {

namespace fs = std::filesystem;

std::string file_of_run(const std::string& name) {
  const fs::path parameters = fs::path(name) / "parameters.safetensors";
  return fs::is_regular_file(parameters) ? parameters.string() : name;
}

std::vector<std::string_view> files_beside_parameters() {
  std::vector<std::string_view> files = kFilesOfModels;
  for (const char* file : {"network.safetensors", "run.json"}) files.emplace_back(file);
  return files;
}

bool is_trained_model(const std::string& name) {
  if (!is_model_name(name) || !fs::is_regular_file(name)) return false;
  const TensorFile file = read_safetensors(name);
  const auto format = file.metadata.find("format");
  return format != file.metadata.end() && format->second == "krohn.model";
}

TrainedSubject load_trained_subject(const std::string& name, const LanguageOptions& options) {
  TrainedModel trained = load_model(name);
  auto task = make_task(trained.task, options);
  return {name, std::move(trained), std::move(task)};
}

}  // namespace krohn
