// The kernels of gpu/networks/ordered_chunks.cuh and gpu/networks/ordered_positions.cuh.

#include <algorithm>

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/networks/ordered_chunks.cuh"

namespace krohn {
namespace {

constexpr unsigned kMostThreads = 512;

template <class D>
__global__ void __launch_bounds__(kMostThreads) chain_chunks(const __grid_constant__ ChainChunks<D> job) {
  job.run(DeviceThreads{blockDim.x});
}

}  // namespace

template <class D>
void cuda_chain_chunks(const ChainChunks<D>& job) {
  const unsigned most = std::max(job.word.rows * job.word.columns, job.word.size());
  chain_chunks<D><<<1, std::min((most + 31) / 32 * 32, kMostThreads)>>>(job);
  check_launch();
}

// Three lines for each arithmetic.
template void cuda_launch(const MakeChunks<DeviceFp64>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp64>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceFp64>&);

template void cuda_launch(const MakeChunks<DeviceFp32>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp32>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceFp32>&);

template void cuda_launch(const MakeChunks<DeviceFp16>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp16>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceFp16>&);

template void cuda_launch(const MakeChunks<DeviceBf16>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceBf16>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceBf16>&);

template void cuda_launch(const MakeChunks<DeviceFp16InFp32>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp16InFp32>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceFp16InFp32>&);

template void cuda_launch(const MakeChunks<DeviceBf16InFp32>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceBf16InFp32>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceBf16InFp32>&);

template void cuda_launch(const MakeChunks<DeviceFp64Fused>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp64Fused>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceFp64Fused>&);

template void cuda_launch(const MakeChunks<DeviceFp32Fused>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp32Fused>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceFp32Fused>&);

template void cuda_launch(const MakeChunks<DeviceFp16Fused>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp16Fused>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceFp16Fused>&);

template void cuda_launch(const MakeChunks<DeviceBf16Fused>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceBf16Fused>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceBf16Fused>&);

template void cuda_launch(const MakeChunks<DeviceTf32>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceTf32>&, std::uint64_t);
template void cuda_chain_chunks(const ChainChunks<DeviceTf32>&);

template void cuda_launch(const WriteLetters&, std::uint64_t);
template void cuda_launch(const MakeContexts<float>&, std::uint64_t);
template void cuda_launch(const MakeContexts<double>&, std::uint64_t);
template void cuda_launch(const CompareNodes<float>&, std::uint64_t);
template void cuda_launch(const CompareNodes<double>&, std::uint64_t);

}  // namespace krohn
