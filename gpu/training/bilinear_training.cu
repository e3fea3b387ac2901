// The kernels of gpu/training/bilinear_training.cuh, and those with which every model's step ends.

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/training/bilinear_training.cuh"
#include "krohn/gpu/training/training_steps.cuh"

namespace krohn {

template void cuda_launch_teams(const LossJob&, std::uint64_t);
template void cuda_launch(const ClearJob&, std::uint64_t);
template void cuda_launch_teams(const AddSquares&, std::uint64_t);
template void cuda_launch_teams(const FindNorm&, std::uint64_t);
template void cuda_launch(const MoveParameters&, std::uint64_t);

template void cuda_launch_teams(const BilinearScan<false>&, std::uint64_t);
template void cuda_launch_teams(const BilinearScan<true>&, std::uint64_t);
template void cuda_launch_teams(const BilinearByWeights&, std::uint64_t);
template void cuda_launch_teams(const BilinearEmbeddingParts&, std::uint64_t);

template void cuda_launch(const BilinearJob<BilinearStage::kGiven>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kMatrix>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kAddition>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kStart>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kLogit>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kByReadout>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kByStates>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kByMatrix>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kByAddition>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kByGiven>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kByFactor>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kByEmbedding>&, std::uint64_t);
template void cuda_launch(const BilinearJob<BilinearStage::kByVectors>&, std::uint64_t);

}  // namespace krohn
