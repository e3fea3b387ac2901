// The kernels of gpu/networks/pair_search.cuh.

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/networks/pair_search.cuh"

namespace krohn {

#define KROHN_KERNELS(D) template void cuda_launch(const MakeSuccessors<D>&, std::uint64_t);
KROHN_FOR_EVERY_DEVICE_ARITHMETIC(KROHN_KERNELS)
template void cuda_launch(const InsertCandidates&, std::uint64_t);
template void cuda_launch(const FindWinners&, std::uint64_t);
template void cuda_launch(const NumberWinners&, std::uint64_t);

}  // namespace krohn
