// The kernels of gpu/networks/pair_search.cuh.

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/networks/pair_search.cuh"

namespace krohn {

template void cuda_launch(const MakeSuccessors<DeviceFp64>&, std::uint64_t);
template void cuda_launch(const MakeSuccessors<DeviceFp32>&, std::uint64_t);
template void cuda_launch(const MakeSuccessors<DeviceFp16>&, std::uint64_t);
template void cuda_launch(const MakeSuccessors<DeviceBf16>&, std::uint64_t);
template void cuda_launch(const MakeSuccessors<DeviceFp16InFp32>&, std::uint64_t);
template void cuda_launch(const MakeSuccessors<DeviceBf16InFp32>&, std::uint64_t);
template void cuda_launch(const MakeSuccessors<DeviceFp64Fused>&, std::uint64_t);
template void cuda_launch(const MakeSuccessors<DeviceFp32Fused>&, std::uint64_t);
template void cuda_launch(const MakeSuccessors<DeviceFp16Fused>&, std::uint64_t);
template void cuda_launch(const MakeSuccessors<DeviceBf16Fused>&, std::uint64_t);
template void cuda_launch(const MakeSuccessors<DeviceTf32>&, std::uint64_t);
template void cuda_launch(const InsertCandidates&, std::uint64_t);
template void cuda_launch(const FindWinners&, std::uint64_t);
template void cuda_launch(const NumberWinners&, std::uint64_t);

}  // namespace krohn
