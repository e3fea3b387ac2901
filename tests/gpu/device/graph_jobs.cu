#include "krohn/gpu/device/device_kernels.cuh"
#include "tests/gpu/device/graph_jobs.cuh"

namespace krohn {

template void cuda_launch(const graph_jobs::AddFirst&, std::uint64_t);
template void cuda_launch_teams(const graph_jobs::Reverse&, std::uint64_t);

}  // namespace krohn
