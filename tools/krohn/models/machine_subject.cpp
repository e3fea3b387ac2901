#include "tools/krohn/models/machine_subject.h"

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/learned/checkpoint_machine.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"

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

LearnedSubject load_learned(const std::string& name, const std::string& verb, const LanguageOptions& options,
                            const std::string& precision) {
  if (!is_machine(name)) {
    require_model(name, verb);
    return {{}, load_network(name), ArithmeticName::parse(precision)};
  }
  MachineSubject machine = load_machine(name, options, parse_precision(precision));
  remark_on_arithmetic(name, precision, machine.otherwise);
  return {std::move(machine), std::nullopt, parse_precision(precision)};
}

Dfa LearnedSubject::automaton() const { return network ? network->automaton : input_machine(*machine.task).automaton; }

const char* LearnedSubject::name_of_automaton() const {
  return network                 ? "the automaton in the file"
         : machine.is_checkpoint ? "the automaton in the folder"
                                 : "the automaton of the task";
}

Extraction LearnedSubject::extract(ExtractOptions options, double share_of_time, const char* what) const {
  const TimeLimit most = TimeLimit::part(share_of_time);
  Progress progress(what);
  options.progress = [&progress](std::uint64_t letters) { progress.update(letters); };
  if (network) return extract_automaton(*network, arithmetic, options);
  return machine.is_checkpoint ? extract_checkpoint(*machine.machine, *machine.task, options)
                               : extract_trained(*machine.machine, *machine.task, options);
}

StateCentres LearnedSubject::centres(const Dfa& learned) const {
  return network ? state_centres(*network, learned, arithmetic)
                 : trained_centres(*machine.machine, *machine.task, learned);
}

Precision widest_precision(const std::string& name) {
  return is_checkpoint_folder(name) ? Precision::kFp32 : Precision::kFp64;
}

}  // namespace krohn
