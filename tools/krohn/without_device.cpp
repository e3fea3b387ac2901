// Compiled into the first command that tools/quickstart builds, in place of what runs on a device: the processor does
// everything, and says so to whoever insists on CUDA.

#include "krohn/gpu/automata/long_word.h"
#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_place.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

[[noreturn]] void refuse() { throw SystemError("CUDA: " + cuda_status()); }

}  // namespace

std::string cuda_status() {
  return "this first build of krohn runs on the processor alone. `cmake --build build` builds the rest; the whole "
         "command "
         "is then build/tools/krohn/krohn";
}
std::string device_name(bool) { return "the processor"; }
bool wants_cuda(std::string_view device) {
  if (device == "cuda") refuse();
  return false;
}

// Never called, since no device is ever wanted.

std::vector<std::uint64_t> cuda_final_state_counts(const Dfa&, const RandomSample&) { refuse(); }

SliceTables::SliceTables(const Dfa&) { refuse(); }
std::string SliceTables::description() const { refuse(); }
std::unique_ptr<SliceReader> cuda_slice_reader(const SliceTables&) { refuse(); }
State SlicedRunner::run(const RandomWord&, std::uint64_t, std::uint64_t, State) const { refuse(); }

class StoredWordRunner::Reader {};
StoredWordRunner::StoredWordRunner(Place, const Dfa&) { refuse(); }
StoredWordRunner::~StoredWordRunner() = default;
State StoredWordRunner::run(const PackedWord&, State) const { refuse(); }

Certificate DevicePlace::search_pairs(const Network&, const CertifyOptions&) const { refuse(); }
std::optional<RandomFailure> DevicePlace::first_failure(
    const ReadModel&, const RandomTest&, const std::function<void(std::uint64_t, std::uint64_t)>&) const {
  refuse();
}
SampleReport DevicePlace::sample_from(std::uint64_t, const Network&, ArithmeticName, const SampleOptions&) const {
  refuse();
}

}  // namespace krohn
