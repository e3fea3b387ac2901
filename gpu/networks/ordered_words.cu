// The kernels of gpu/networks/ordered_blocks.cuh.

#include "krohn/gpu/device/team_kernels.cuh"
#include "krohn/gpu/networks/ordered_blocks.cuh"

namespace krohn {

// Five lines for each arithmetic.
template void cuda_launch(const MakeTotals<DeviceFp64>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceFp64>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceFp64>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceFp64>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceFp64>&, std::uint64_t);

template void cuda_launch(const MakeTotals<DeviceFp32>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceFp32>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceFp32>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceFp32>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceFp32>&, std::uint64_t);

template void cuda_launch(const MakeTotals<DeviceFp16>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceFp16>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceFp16>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceFp16>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceFp16>&, std::uint64_t);

template void cuda_launch(const MakeTotals<DeviceBf16>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceBf16>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceBf16>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceBf16>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceBf16>&, std::uint64_t);

template void cuda_launch(const MakeTotals<DeviceFp16InFp32>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceFp16InFp32>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceFp16InFp32>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceFp16InFp32>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceFp16InFp32>&, std::uint64_t);

template void cuda_launch(const MakeTotals<DeviceBf16InFp32>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceBf16InFp32>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceBf16InFp32>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceBf16InFp32>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceBf16InFp32>&, std::uint64_t);

template void cuda_launch(const MakeTotals<DeviceFp64Fused>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceFp64Fused>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceFp64Fused>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceFp64Fused>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceFp64Fused>&, std::uint64_t);

template void cuda_launch(const MakeTotals<DeviceFp32Fused>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceFp32Fused>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceFp32Fused>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceFp32Fused>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceFp32Fused>&, std::uint64_t);

template void cuda_launch(const MakeTotals<DeviceFp16Fused>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceFp16Fused>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceFp16Fused>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceFp16Fused>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceFp16Fused>&, std::uint64_t);

template void cuda_launch(const MakeTotals<DeviceBf16Fused>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceBf16Fused>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceBf16Fused>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceBf16Fused>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceBf16Fused>&, std::uint64_t);

template void cuda_launch(const MakeTotals<DeviceTf32>&, std::uint64_t);
template void cuda_launch(const JoinTotals<DeviceTf32>&, std::uint64_t);
template void cuda_launch(const ApplyTotals<DeviceTf32>&, std::uint64_t);
template void cuda_launch_teams(const ChainTotals<DeviceTf32>&, std::uint64_t);
template void cuda_launch(const ReadBlocks<DeviceTf32>&, std::uint64_t);

}  // namespace krohn
