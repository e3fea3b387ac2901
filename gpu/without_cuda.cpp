// Compiled without nvcc: says so to whoever asks for a device.

#include "krohn/gpu/automata/long_word.h"

#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/device/place.h"
#include "krohn/simulate/probe/probe_sums.h"

namespace krohn {
namespace {

[[noreturn]] void refuse() { throw NoDevice("CUDA: " + cuda_status()); }

}  // namespace

bool cuda_available() { return false; }

std::string cuda_status() {
  return "built without CUDA: no device or no nvcc was found when krohn was configured (-DKROHN_CUDA=ON asks for it)";
}

void take_device(unsigned) {}

double cuda_copy_rate() { refuse(); }
double shared_accesses_per_second() { refuse(); }

void* cuda_allocate(std::size_t) { refuse(); }
void cuda_free(void*) noexcept {}
void cuda_copy_in(void*, const void*, std::size_t) { refuse(); }
void cuda_copy_out(void*, const void*, std::size_t) { refuse(); }
void cuda_clear(void*, std::size_t) { refuse(); }
std::uint64_t cuda_free_bytes() { refuse(); }
std::uint64_t cuda_resident_threads() { refuse(); }

std::vector<Summer> device_summers() { refuse(); }

std::vector<std::uint64_t> cuda_final_state_counts(const Dfa&, const RandomSample&) { refuse(); }
std::unique_ptr<SliceReader> cuda_slice_reader(const SliceTables&) { refuse(); }

}  // namespace krohn
