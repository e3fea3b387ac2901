// gpu/device/device_kernels.cuh — the needs of every .cu file: the runtime's errors as krohn's, items as threads, and
// teams (gpu/device/team.h) as blocks of threads.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "krohn/gpu/device/place.h"
#include "krohn/gpu/device/team.h"
#include "krohn/groups/base/error.h"

namespace krohn {

/// Throws SystemError with what could not be done and why. After a failure inside a kernel the device's context is
/// lost, and nothing that it computed is used.
[[noreturn]] void throw_cuda_error(cudaError_t error, const char* action);

inline void check(cudaError_t error, const char* action) {
  if (error != cudaSuccess) throw_cuda_error(error, action);
}

/// After a launch: what was wrong with its arguments, or an earlier failure.
inline void check_launch() { check(cudaGetLastError(), "cannot start a kernel"); }

/// Throws SystemError when there is no device.
void require_device();

/// Where this thread's kernels go: the default stream, but while a graph is recorded.
cudaStream_t& launch_stream();

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "no device");
  check(cudaDeviceGetAttribute(&value, attribute, device), "cannot ask the device");
  return value;
}

/// Blocks of `threads` threads for `items` items, at most as many as a grid has; threads go over the rest in strides.
inline unsigned blocks_for(std::uint64_t items, unsigned threads) {
  const std::uint64_t blocks = (items + threads - 1) / threads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 0x7fffffffU ? 0x7fffffffU : blocks);
}

/// The first item of this thread, and how far it is to its next one.
__device__ inline std::uint64_t first_item() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::uint64_t item_stride() { return std::uint64_t{gridDim.x} * blockDim.x; }

inline constexpr unsigned kItemThreads = 256;

template <class Job>
__global__ void __launch_bounds__(kItemThreads) run_items(const __grid_constant__ Job job, std::uint64_t items) {
  for (std::uint64_t item = first_item(); item < items; item += item_stride()) job(item);
}

template <class Job>
void cuda_launch(const Job& job, std::uint64_t items) {
  if (items == 0) return;
  run_items<<<blocks_for(items, kItemThreads), kItemThreads, 0, launch_stream()>>>(job, items);
  check_launch();
}

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
