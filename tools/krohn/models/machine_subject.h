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

/// A machine, or a network in an arithmetic: whatever follows an automaton that can be asked for.
struct LearnedSubject {
  MachineSubject machine;
  std::optional<Network> network;  ///< instead
  ArithmeticName arithmetic;       ///< of it

  /// The automaton of its file or its task, and that in words.
  Dfa automaton() const;
  const char* name_of_automaton() const;
  /// The automaton that it follows, within a share of the time; `what` is done, in the words of a Progress.
  Extraction extract(ExtractOptions options, double share_of_time, const char* what = "reading letters") const;
  StateCentres centres(const Dfa& learned) const;
};

/// For `verb`, which says in which format a checkpoint is read where that is not as it is loaded. A machine is read in
/// `precision`, a network in any arithmetic of that name. Throws InputError for what is none of both.
LearnedSubject load_learned(const std::string& name, const std::string& verb, const LanguageOptions& options,
                            const std::string& precision);

/// The widest that the model is read in.
Precision widest_precision(const std::string& name);

}  // namespace krohn
