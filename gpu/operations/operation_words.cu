// The kernel of gpu/operations/operation_words.cuh.

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/operations/operation_words.cuh"

namespace krohn {
namespace {

/// Two blocks of so many threads share a multiprocessor: with more registers each, one block was slower by a third.
constexpr unsigned kMaxThreads = 512, kBlocks = 2;

template <class Real, bool kIsBf16>
__global__ void __launch_bounds__(kMaxThreads, kBlocks)
    read_operation_words(const __grid_constant__ OperationWords<Real, kIsBf16> job) {
  extern __shared__ __align__(16) unsigned char shared[];
  job.read_block(DeviceThreads{blockDim.x}, blockIdx.x, shared);
}

}  // namespace

std::size_t cuda_block_bytes() {
  return static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

template <class Real, bool kIsBf16>
void cuda_read_operation_words(const OperationWords<Real, kIsBf16>& job, std::uint64_t blocks, std::uint32_t threads) {
  const std::size_t bytes = job.bytes();
  check(cudaFuncSetAttribute(read_operation_words<Real, kIsBf16>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        "cannot give a block its memory");
  read_operation_words<Real, kIsBf16><<<static_cast<unsigned>(blocks), threads, bytes>>>(job);
  check_launch();
}

template void cuda_read_operation_words(const OperationWords<float, false>&, std::uint64_t, std::uint32_t);
template void cuda_read_operation_words(const OperationWords<float, true>&, std::uint64_t, std::uint32_t);
template void cuda_read_operation_words(const OperationWords<double, false>&, std::uint64_t, std::uint32_t);

}  // namespace krohn
