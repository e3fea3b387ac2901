// The kernels of gpu/networks/ordered_blocks.cuh.

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/networks/ordered_blocks.cuh"

namespace krohn {

#define KROHN_KERNELS(D)                                                 \
  template void cuda_launch(const MakeTotals<D>&, std::uint64_t);        \
  template void cuda_launch(const JoinTotals<D>&, std::uint64_t);        \
  template void cuda_launch(const ApplyTotals<D>&, std::uint64_t);       \
  template void cuda_launch_teams(const ChainTotals<D>&, std::uint64_t); \
  template void cuda_launch(const ReadBlocks<D>&, std::uint64_t);
KROHN_FOR_EVERY_DEVICE_ARITHMETIC(KROHN_KERNELS)

}  // namespace krohn
