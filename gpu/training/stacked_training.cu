// The kernels of stacked models and of the dense baseline: what their stages (gpu/training/step_program.h) start.

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/training/block_scan.cuh"
#include "krohn/gpu/training/diagonal_scan.cuh"
#include "krohn/gpu/training/product_job.cuh"
#include "krohn/gpu/training/reflection_scan.cuh"
#include "krohn/gpu/training/row_jobs.cuh"

namespace krohn {

template void cuda_launch(const EachNumber<TakeLetters>&, std::uint64_t);
template void cuda_launch(const EachNumber<TakeTargets>&, std::uint64_t);
template void cuda_launch(const EachNumber<PutTargets>&, std::uint64_t);
template void cuda_launch(const EachNumber<CopyNumbers>&, std::uint64_t);
template void cuda_launch(const EachNumber<AddToSource>&, std::uint64_t);
template void cuda_launch(const EachNumber<Activate>&, std::uint64_t);
template void cuda_launch(const EachNumber<ActivateAdjoint>&, std::uint64_t);
template void cuda_launch(const EachNumber<Gate>&, std::uint64_t);
template void cuda_launch(const EachNumber<GateAdjoint>&, std::uint64_t);
template void cuda_launch(const EachNumber<Convolve>&, std::uint64_t);
template void cuda_launch(const EachNumber<ConvolveAdjoint>&, std::uint64_t);
template void cuda_launch(const EachNumber<MakeReady>&, std::uint64_t);
template void cuda_launch(const EachNumber<MakeReadyAdjoint>&, std::uint64_t);
template void cuda_launch(const EachNumber<MakeSteps>&, std::uint64_t);
template void cuda_launch(const EachNumber<SelectedAdjoint>&, std::uint64_t);
template void cuda_launch(const EachNumber<MakeBlockOuter>&, std::uint64_t);
template void cuda_launch(const AddPartsJob&, std::uint64_t);

template void cuda_launch_teams(const ProductJob&, std::uint64_t);
template void cuda_launch_teams(const RowSums<RmsNorm>&, std::uint64_t);
template void cuda_launch_teams(const RowSums<RmsNormAdjoint>&, std::uint64_t);
template void cuda_launch_teams(const RowSums<UnitNorm>&, std::uint64_t);
template void cuda_launch_teams(const RowSums<UnitNormAdjoint>&, std::uint64_t);
template void cuda_launch_teams(const RowSums<Project>&, std::uint64_t);
template void cuda_launch_teams(const RowSums<ProjectAdjoint>&, std::uint64_t);
template void cuda_launch_teams(const RowSums<DivideColumns>&, std::uint64_t);
template void cuda_launch_teams(const RowSums<DivideColumnsAdjoint>&, std::uint64_t);
template void cuda_launch_teams(const ColumnSums<RecheckedTerm>&, std::uint64_t);
template void cuda_launch_teams(const ColumnSums<GainTerm>&, std::uint64_t);
template void cuda_launch_teams(const ColumnSums<TapTerm>&, std::uint64_t);
template void cuda_launch_teams(const ColumnSums<BlockOuter>&, std::uint64_t);
template void cuda_launch_teams(const DenseOuter&, std::uint64_t);
template void cuda_launch_teams(const ReflectionForward&, std::uint64_t);
template void cuda_launch_teams(const ReflectionAdjoint&, std::uint64_t);
template void cuda_launch_teams(const DiagonalForward&, std::uint64_t);
template void cuda_launch_teams(const DiagonalScanAdjoint&, std::uint64_t);
template void cuda_launch_teams(const BlockForward&, std::uint64_t);
template void cuda_launch_teams(const BlockAdjoint&, std::uint64_t);
template void cuda_launch_teams(const DenseRun<false>&, std::uint64_t);
template void cuda_launch_teams(const DenseRun<true>&, std::uint64_t);

}  // namespace krohn
