// The kernel behind cuda_final_state_counts. Tables that fit live in shared memory, and so do the counts of a block
// when they fit too; what does not fit stays in global memory, cached.

#include <cuda_runtime.h>

#include <algorithm>
#include <memory>

#include "gpu/final_states.h"
#include "gpu/run_random_word.cuh"
#include "groups/error.h"

namespace krohn {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kSharedBytes = 48 * 1024;  // what every device grants without asking

struct Job {
  const std::uint32_t* table;
  std::uint32_t letters, states, initial;
  std::uint64_t words, length, seed;
  unsigned long long* counts;
  bool table_in_shared, counts_in_shared;
};

__global__ void __launch_bounds__(kThreads) count_final_states(Job job) {
  extern __shared__ std::uint32_t shared[];
  const std::uint32_t cells = job.states * job.letters;
  std::uint32_t* block_counts = shared + (job.table_in_shared ? cells : 0);
  if (job.table_in_shared)
    for (std::uint32_t i = threadIdx.x; i < cells; i += blockDim.x) shared[i] = job.table[i];
  if (job.counts_in_shared)
    for (std::uint32_t i = threadIdx.x; i < job.states; i += blockDim.x) block_counts[i] = 0;
  __syncthreads();

  const std::uint32_t* table = job.table_in_shared ? shared : job.table;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t word = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; word < job.words; word += stride) {
    const std::uint32_t state =
        run_random_word(table, job.letters, job.initial, random_key(job.seed, word), job.length);
    if (job.counts_in_shared)
      atomicAdd(&block_counts[state], 1U);
    else
      atomicAdd(&job.counts[state], 1ULL);
  }
  if (!job.counts_in_shared) return;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < job.states; i += blockDim.x)
    if (block_counts[i] != 0) atomicAdd(&job.counts[i], static_cast<unsigned long long>(block_counts[i]));
}

void check(cudaError_t error, const char* action) {
  if (error != cudaSuccess) throw SystemError(std::string("CUDA: ") + action + ": " + cudaGetErrorString(error));
}

struct DeviceFree {
  void operator()(void* memory) const { cudaFree(memory); }
};

template <class T>
std::unique_ptr<T[], DeviceFree> device_array(std::size_t size) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, size * sizeof(T)), "cannot allocate");
  return std::unique_ptr<T[], DeviceFree>(static_cast<T*>(memory));
}

/// Enough blocks to fill the device; a block then makes several words, at most 2^32 − 1 so that its counts fit 32 bits.
unsigned block_count(std::uint64_t words) {
  int device = 0, processors = 0;
  check(cudaGetDevice(&device), "no device");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cannot ask the device");
  const std::uint64_t filling = static_cast<std::uint64_t>(processors) * (2048 / kThreads);
  const std::uint64_t needed = (words + kThreads - 1) / kThreads;
  const std::uint64_t least = words / UINT32_MAX + 1;
  return static_cast<unsigned>(std::max(least, std::min(needed, filling)));
}

}  // namespace

bool cuda_available() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

std::string cuda_status() {
  int devices = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess) return cudaGetErrorString(error);
  if (devices == 0) return "no CUDA device";
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "cannot ask the device");
  return properties.name;
}

std::vector<std::uint64_t> cuda_final_state_counts(const Dfa& dfa, const RandomSample& sample) {
  if (dfa.letters() == 0) throw InputError("a random word needs an alphabet of at least one letter");
  if (!cuda_available()) throw SystemError("CUDA: " + cuda_status());
  const std::size_t cells = dfa.table().size();
  const auto table = device_array<std::uint32_t>(cells);
  const auto counts = device_array<unsigned long long>(dfa.states());
  check(cudaMemcpy(table.get(), dfa.table().data(), cells * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
        "cannot copy the table");
  check(cudaMemset(counts.get(), 0, dfa.states() * sizeof(unsigned long long)), "cannot clear the counts");

  Job job{table.get(),   dfa.letters(), dfa.states(), dfa.initial(), sample.words,
          sample.length, sample.seed,   counts.get(), false,         false};
  std::size_t shared_bytes = 0;
  const auto place = [&shared_bytes](std::size_t bytes) {
    if (shared_bytes + bytes > kSharedBytes) return false;
    shared_bytes += bytes;
    return true;
  };
  job.table_in_shared = place(cells * sizeof(std::uint32_t));
  job.counts_in_shared = place(dfa.states() * sizeof(std::uint32_t));
  count_final_states<<<block_count(sample.words), kThreads, shared_bytes>>>(job);
  check(cudaGetLastError(), "cannot start the kernel");

  std::vector<unsigned long long> result(dfa.states());
  check(cudaMemcpy(result.data(), counts.get(), dfa.states() * sizeof(unsigned long long), cudaMemcpyDeviceToHost),
        "the kernel failed");
  return {result.begin(), result.end()};
}

}  // namespace krohn
