// tools/krohn/first_command.cpp — compiled into the first command, which tools/quickstart builds, in place of what it
// is built without: the training of models and what reads trained ones, devices, jobs of many processes. Whoever asks
// for one is told so; without a device and alone the command works as ever.

#include "krohn/gpu/automata/long_word.h"
#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_place.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/models/models.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/models/asked_model.h"
#include "tools/krohn/models/model_in_motion.h"
#include "tools/krohn/models/target.h"
#include "tools/krohn/report/page_data.h"
#include "tools/krohn/training/training_job.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

const std::string kRest = "`cmake --build build` builds the rest; the whole command is then build/tools/krohn/krohn";

[[noreturn]] void refuse() {
  throw InputError("this first build of krohn is without training, trained models, checkpoints, audits and probes. " +
                   kRest);
}

[[noreturn]] void refuse_device() { throw SystemError("CUDA: " + cuda_status()); }

Work add_missing(Verb& verb) {
  verb.is_missing();
  return []() -> int { refuse(); };
}

}  // namespace

Work add_train(Verb& verb) { return add_missing(verb); }
Work add_audit(Verb& verb) { return add_missing(verb); }
Work add_probe(Verb& verb) { return add_missing(verb); }
Work add_import(Verb& verb) { return add_missing(verb); }
Work add_eval(Verb& verb) { return add_missing(verb); }
Work add_extract(Verb& verb) { return add_missing(verb); }
Work add_compare(Verb& verb) { return add_missing(verb); }
Work add_snap(Verb& verb) { return add_missing(verb); }
Work add_table(Verb& verb) { return add_missing(verb); }
Work add_kit(Verb& verb) { return add_missing(verb); }

int compile_cell(const Dfa&, const CellCompilation&) { refuse(); }
std::unique_ptr<AskedModel> load_asked_trained_model(const ModelOptions&) { refuse(); }
std::unique_ptr<AskedModel> load_asked_checkpoint(const ModelOptions&) { refuse(); }
std::unique_ptr<ModelInMotion> checkpoint_in_motion(Checkpoint, Precision) { refuse(); }
Findings run_findings(const RunQuestion&) { refuse(); }
std::string training_command(const nlohmann::ordered_json&, const std::string&) { refuse(); }
TrainedModel load_model(const std::string&) { refuse(); }
std::unique_ptr<ModelInMotion> trained_in_motion(TrainedSubject, Precision) { refuse(); }

// Devices: the processor does everything.

std::string cuda_status() { return "this first build of krohn runs on the processor alone. " + kRest; }
std::string device_name(bool) { return "the processor"; }
bool wants_cuda(std::string_view device) {
  if (device == "cuda") refuse_device();
  return false;
}

// Never called, since no device is ever wanted:
std::vector<std::uint64_t> cuda_final_state_counts(const Dfa&, const RandomSample&) { refuse_device(); }

SliceTables::SliceTables(const Dfa&) { refuse_device(); }
std::string SliceTables::description() const { refuse_device(); }
std::unique_ptr<SliceReader> cuda_slice_reader(const SliceTables&) { refuse_device(); }
State SlicedRunner::run(const RandomWord&, std::uint64_t, std::uint64_t, State) const { refuse_device(); }

class StoredWordRunner::Reader {};
StoredWordRunner::StoredWordRunner(Place, const Dfa&) { refuse_device(); }
StoredWordRunner::~StoredWordRunner() = default;
State StoredWordRunner::run(const PackedWord&, State) const { refuse_device(); }

Certificate DevicePlace::search_pairs(const Network&, const CertifyOptions&) const { refuse_device(); }
std::optional<RandomFailure> DevicePlace::first_failure(
    const ReadModel&, const RandomTest&, const std::function<void(std::uint64_t, std::uint64_t)>&) const {
  refuse_device();
}
WordReading DevicePlace::word_reading(const ReadModel&, unsigned) const { refuse_device(); }
SampleReport DevicePlace::sample_from(std::uint64_t, const Network&, ArithmeticName, const SampleOptions&) const {
  refuse_device();
}

// Jobs of many processes: this one is alone.

int run_as_job(const std::function<int()>& command) { return command(); }

bool has_ranks() { return false; }

std::unique_ptr<ProvingPlace> place_on_ranks(KeptSearch kept, bool) {
  if (!kept.folder.empty()) throw SystemError("--checkpoint: this first build of krohn keeps no searches. " + kRest);
  return nullptr;
}

RunSlice slices_on_ranks(const Dfa&, unsigned) { return {}; }

RankedWords words_on_ranks(const Dfa&, const Dfa&, std::uint64_t, std::uint64_t, std::uint64_t, unsigned) { return {}; }

Recheck recheck_by_ranks(const Certificate& certificate, const CheckedModel& model, const RecheckOptions& options) {
  return recheck(certificate, model, options);
}

void help_with_ranks_list(const std::string&, unsigned, const LineOf&) {}

bool has_helpers() { return false; }

void list_on_helpers(const std::string&, std::span<const std::uint64_t>, unsigned, const LineOf&,
                     const std::function<void(std::uint64_t, const std::string&)>&,
                     const std::function<void(std::uint64_t)>&) {}

}  // namespace krohn
