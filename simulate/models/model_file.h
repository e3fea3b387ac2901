// simulate/models/model_file.h — a trained model with the task that it was trained on, as a safetensors file.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

struct TrainedModel {
  std::string task;                             ///< its name; restored_task makes it
  std::map<std::string, std::string> metadata;  ///< all of the file
  std::unique_ptr<SequenceModel<float>> model;
};

/// Parameters by name, F32; metadata `format` = "krohn.model", `version` = "1", `task`, `model`, `letters`, `labels`,
/// and whatever else is given, of which `stored_task` (simulate/tasks/stored_task.h) is what tells the task for certain.
std::string format_model(const std::string& task, const SequenceModel<float>& model,
                         const std::map<std::string, std::string>& metadata = {});
void save_model(const std::string& task, const SequenceModel<float>& model, const std::string& path,
                const std::map<std::string, std::string>& metadata = {});

/// Throws InputError when it is no such file, or its tensors are not those of its model.
TrainedModel load_model(const std::string& path);

}  // namespace krohn
