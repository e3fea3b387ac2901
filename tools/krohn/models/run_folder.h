// tools/krohn/models/run_folder.h — what a verb is given of a trained model: the folder of a run, or a file in it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/constructions/network/precision.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/model_file.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// Of a folder that `krohn train` wrote, the trained model, "RUN/parameters.safetensors", whatever its family; any
/// other name as it is. "RUN/network.safetensors", its recurrence with another decoder (network_of), is asked for by
/// name.
std::string file_of_run(const std::string& name);

/// What may stand in an old folder and must not stay beside other parameters.
std::vector<std::string_view> files_beside_parameters();

/// Whether a .safetensors file holds the parameters of a model, rather than a network.
bool is_trained_model(const std::string& name);

struct TrainedSubject {
  std::string name;  ///< as the user wrote it
  TrainedModel trained;
  std::unique_ptr<Task> task;
};

TrainedSubject load_trained_subject(const std::string& name, const LanguageOptions& options);

/// A model that reads letters, whoever wrote it: one of `krohn train`, or a checkpoint with its automaton.
struct MachineSubject {
  std::unique_ptr<Task> task;
  std::unique_ptr<TrainedReader> machine;
};

/// Whether `load_machine` takes it: a file for which `is_trained_model` holds, or the folder of a checkpoint.
bool is_machine(const std::string& name);

/// A trained model is read in fp32 or fp64, a checkpoint in fp32 or bf16. Throws InputError for others.
MachineSubject load_machine(const std::string& name, const LanguageOptions& options, Precision precision);

/// The widest that the model is read in.
Precision widest_precision(const std::string& name);

}  // namespace krohn
