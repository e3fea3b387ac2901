// The kernel of gpu/checkpoints/checkpoint_words.cuh.

#include "krohn/gpu/checkpoints/checkpoint_words.cuh"
#include "krohn/gpu/device/device_kernels.cuh"

namespace krohn {
namespace {

constexpr unsigned kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    read_checkpoint_words(const __grid_constant__ CheckpointWords job, std::uint64_t words) {
  for (std::uint64_t word = blockIdx.x; word < words; word += gridDim.x)
    job.read_word(DeviceThreads{kThreads}, blockIdx.x, word);
}

}  // namespace

void cuda_read_checkpoint_words(const CheckpointWords& job, std::uint64_t words, std::uint32_t blocks) {
  read_checkpoint_words<<<blocks, kThreads>>>(job, words);
  check_launch();
}

}  // namespace krohn
