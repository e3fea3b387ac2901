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

template void cuda_launch(const BilinearJob<&BilinearTraining::make_given>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::make_matrix>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::make_addition>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::start_forward>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::make_logit>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::add_readout>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::start_adjoint>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::add_matrix>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::add_addition>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::add_given>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::add_factor>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::add_embedding>&, std::uint64_t);
template void cuda_launch(const BilinearJob<&BilinearTraining::add_vectors>&, std::uint64_t);

}  // namespace krohn
