// The kernels of gpu/networks/ordered_chunks.cuh and gpu/networks/ordered_positions.cuh.

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/networks/ordered_chunks.cuh"

namespace krohn {

#define KROHN_KERNELS(D)                                          \
  template void cuda_launch(const MakeChunks<D>&, std::uint64_t); \
  template void cuda_launch(const ReadChunks<D>&, std::uint64_t); \
  template void cuda_launch_teams(const ChainChunks<D>&, std::uint64_t);
KROHN_FOR_EVERY_DEVICE_ARITHMETIC(KROHN_KERNELS)
template void cuda_launch(const CopyRows<float>&, std::uint64_t);
template void cuda_launch(const CopyRows<double>&, std::uint64_t);
template void cuda_launch(const CopyRows<std::uint32_t>&, std::uint64_t);
template void cuda_launch(const WriteStates&, std::uint64_t);
template void cuda_launch(const WriteLetters&, std::uint64_t);
template void cuda_launch(const MakeContexts<float>&, std::uint64_t);
template void cuda_launch(const MakeContexts<double>&, std::uint64_t);
template void cuda_launch(const CompareNodes<float>&, std::uint64_t);
template void cuda_launch(const CompareNodes<double>&, std::uint64_t);

}  // namespace krohn
