// The kernel of gpu/training/linear_model_words.cuh.

#include <algorithm>

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/training/linear_model_words.cuh"

namespace krohn {
namespace {

constexpr unsigned kMaxThreads = 512;

__global__ void __launch_bounds__(kMaxThreads)
    read_linear_words(const __grid_constant__ LinearWords job, std::uint64_t words) {
  extern __shared__ __align__(16) unsigned char shared[];
  const LinearMemory memory(job.view, reinterpret_cast<std::uint32_t*>(shared));
  for (std::uint64_t word = blockIdx.x; word < words; word += gridDim.x)
    job.read_word(DeviceThreads{blockDim.x}, memory, word);
}

}  // namespace

void cuda_read_linear_words(const LinearWords& job, std::uint64_t words) {
  const std::uint32_t rows = std::max(job.view.hidden, job.view.labels);
  const unsigned threads = std::min((rows + 31) / 32 * 32, kMaxThreads);
  read_linear_words<<<blocks_for(words, 1), threads, LinearMemory::bytes(job.view)>>>(job, words);
  check_launch();
}

}  // namespace krohn
