// The kernels of gpu/bilinear_training.cuh.

#include "gpu/bilinear_training.cuh"
#include "gpu/device_kernels.cuh"

namespace krohn {
namespace {

constexpr unsigned kMostRows = 512;

/// A block reads one word: its threads take the rows, and wait for each other after every position.
template <bool kAdjoint>
__global__ void __launch_bounds__(kMostRows) run_over_time(const __grid_constant__ BilinearTraining training) {
  for (std::uint32_t i = 0; i < training.positions; ++i) {
    const std::uint32_t t = kAdjoint ? training.positions - 1 - i : i;
    for (std::uint32_t row = threadIdx.x; row < training.p.hidden; row += blockDim.x)
      kAdjoint ? training.step_adjoint(blockIdx.x, t, row) : training.step_forward(blockIdx.x, t, row);
    __syncthreads();
  }
}

}  // namespace

void cuda_run_over_time(const BilinearTraining& training, bool adjoint) {
  const unsigned threads = training.p.hidden < kMostRows ? (training.p.hidden + 31) / 32 * 32 : kMostRows;
  const unsigned blocks = training.models * training.words;
  if (adjoint)
    run_over_time<true><<<blocks, threads>>>(training);
  else
    run_over_time<false><<<blocks, threads>>>(training);
  check_launch();
}

template void cuda_launch(const TrainingJob<TrainingStage::kGiven>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kMatrix>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kAddition>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kStart>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kLogit>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kLoss>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kByReadout>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kByStates>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kByMatrix>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kByAddition>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kByGiven>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kByFactor>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kByWeights>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kByEmbeddingParts>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kByEmbedding>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kByVectors>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kSquares>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kNorm>&, std::uint64_t);
template void cuda_launch(const TrainingJob<TrainingStage::kMove>&, std::uint64_t);

}  // namespace krohn
