// The kernels of gpu/networks/ordered_chunks.cuh and gpu/networks/ordered_positions.cuh.

#include "krohn/gpu/device/team_kernels.cuh"
#include "krohn/gpu/networks/ordered_chunks.cuh"

namespace krohn {

// Three lines for each arithmetic.
template void cuda_launch(const MakeChunks<DeviceFp64>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp64>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceFp64>&, std::uint64_t);

template void cuda_launch(const MakeChunks<DeviceFp32>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp32>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceFp32>&, std::uint64_t);

template void cuda_launch(const MakeChunks<DeviceFp16>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp16>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceFp16>&, std::uint64_t);

template void cuda_launch(const MakeChunks<DeviceBf16>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceBf16>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceBf16>&, std::uint64_t);

template void cuda_launch(const MakeChunks<DeviceFp16InFp32>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp16InFp32>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceFp16InFp32>&, std::uint64_t);

template void cuda_launch(const MakeChunks<DeviceBf16InFp32>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceBf16InFp32>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceBf16InFp32>&, std::uint64_t);

template void cuda_launch(const MakeChunks<DeviceFp64Fused>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp64Fused>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceFp64Fused>&, std::uint64_t);

template void cuda_launch(const MakeChunks<DeviceFp32Fused>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp32Fused>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceFp32Fused>&, std::uint64_t);

template void cuda_launch(const MakeChunks<DeviceFp16Fused>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceFp16Fused>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceFp16Fused>&, std::uint64_t);

template void cuda_launch(const MakeChunks<DeviceBf16Fused>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceBf16Fused>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceBf16Fused>&, std::uint64_t);

template void cuda_launch(const MakeChunks<DeviceTf32>&, std::uint64_t);
template void cuda_launch(const ReadChunks<DeviceTf32>&, std::uint64_t);
template void cuda_launch_teams(const ChainChunks<DeviceTf32>&, std::uint64_t);

template void cuda_launch(const WriteLetters&, std::uint64_t);
template void cuda_launch(const MakeContexts<float>&, std::uint64_t);
template void cuda_launch(const MakeContexts<double>&, std::uint64_t);
template void cuda_launch(const CompareNodes<float>&, std::uint64_t);
template void cuda_launch(const CompareNodes<double>&, std::uint64_t);

}  // namespace krohn
