// Compiled when nvcc was not found: says so to whoever asks for a device.

#include "gpu/final_states.h"
#include "groups/error.h"

namespace krohn {

bool cuda_available() { return false; }

std::string cuda_status() { return "built without CUDA: nvcc was not found when krohn was configured"; }

std::vector<std::uint64_t> cuda_final_state_counts(const Dfa&, const RandomSample&) {
  throw SystemError("CUDA: " + cuda_status());
}

}  // namespace krohn
