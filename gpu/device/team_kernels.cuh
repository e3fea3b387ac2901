// gpu/device/team_kernels.cuh — teams (gpu/device/team.h) as blocks of threads, for the .cu files that start them.
#pragma once

#include <string>

#include "krohn/gpu/device/device_kernels.cuh"
#include "krohn/gpu/device/team.h"
#include "krohn/groups/base/error.h"

namespace krohn {

template <class Job>
constexpr unsigned most_team_threads() {
  if constexpr (requires { Job::kThreads; })
    return Job::kThreads;
  else
    return 1024;
}

template <class Job>
__global__ void __launch_bounds__(most_team_threads<Job>()) run_teams(const __grid_constant__ Job job) {
  extern __shared__ __align__(16) float team_numbers[];
  job(Team{team_numbers}, blockIdx.x);
}

template <class Job>
void cuda_launch_teams(const Job& job, std::uint64_t teams) {
  if (teams == 0) return;
  if (teams > 0x7fffffffU)
    throw SystemError("CUDA: " + std::to_string(teams) + " blocks are more than a grid has; take fewer models at once");
  const std::size_t bytes = job.team_numbers() * sizeof(float);
  if (bytes > 48 * 1024)  // what a kernel has without asking
    check(cudaFuncSetAttribute(run_teams<Job>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "cannot have that much shared memory");
  run_teams<<<static_cast<unsigned>(teams), job.threads(), bytes, launch_stream()>>>(job);
  check_launch();
}

}  // namespace krohn
