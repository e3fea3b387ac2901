#include "tools/krohn/models/machine_subject.h"

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/simulate/learned/checkpoint_machine.h"
#include "tools/krohn/models/run_folder.h"

namespace krohn {

bool is_machine(const std::string& name) { return is_checkpoint_folder(name) || is_trained_model(name); }

MachineSubject load_machine(const std::string& name, const LanguageOptions& options, Precision precision) {
  if (!is_checkpoint_folder(name)) {
    TrainedSubject subject = load_trained_subject(name, options);
    auto machine = trained_machine(*subject.trained.model, *subject.task, precision);
    return {std::move(subject.task), std::move(machine), false};
  }
  Checkpoint checkpoint = load_checkpoint(name);
  auto task = checkpoint_task(checkpoint);
  std::string otherwise = loaded_otherwise(checkpoint, to_string(precision));
  return {std::move(task), checkpoint_machine(std::move(checkpoint), precision), true, std::move(otherwise)};
}

Extraction extract_machine(const MachineSubject& subject, const ExtractOptions& options) {
  return subject.is_checkpoint ? extract_checkpoint(*subject.machine, *subject.task, options)
                               : extract_trained(*subject.machine, *subject.task, options);
}

Precision widest_precision(const std::string& name) {
  return is_checkpoint_folder(name) ? Precision::kFp32 : Precision::kFp64;
}

}  // namespace krohn
