// tools/krohn/models/machine_subject.h — what `extract`, `snap` and `compare` are given of a model that reads letters.
#pragma once

#include <memory>
#include <string>

#include "krohn/automata/language.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// A model that reads letters, whoever wrote it: one of `krohn train`, or a checkpoint with its automaton.
struct MachineSubject {
  std::unique_ptr<Task> task;
  std::shared_ptr<const TrainedReader> machine;
  bool is_checkpoint = false;
  std::string otherwise = {};  ///< of a checkpoint: `loaded_otherwise`
};

/// True if `load_machine` takes it: a file for which `is_trained_model` holds, or the folder of a checkpoint.
bool is_machine(const std::string& name);

/// A trained model is read in fp32 or fp64, a checkpoint in fp32 or bf16. Throws InputError for others.
MachineSubject load_machine(const std::string& name, const LanguageOptions& options, Precision precision);

/// The automaton that it follows.
Extraction extract_machine(const MachineSubject& subject, const ExtractOptions& options);

/// The widest that the model is read in.
Precision widest_precision(const std::string& name);

}  // namespace krohn
