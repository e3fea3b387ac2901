// gpu/device/block_threads.cuh — the threads of a block that wait for each other, for functions that run on the
// processor and on CUDA devices: `each(body)` calls body(thread) for every thread and waits for all of them. What is
// written outside of it every thread of a device does for itself, and has to come to the same in all of them.
#pragma once

#include <cstdint>

#include "krohn/simulate/words/host_device.h"

namespace krohn {

/// A block on the processor: one thread after another, from the first or from the last.
struct HostThreads {
  std::uint32_t count = 1;
  bool backwards = false;

  template <class Body>
  void each(Body&& body) const {
    for (std::uint32_t thread = 0; thread < count; ++thread) body(backwards ? count - 1 - thread : thread);
  }
};

#ifdef __CUDACC__
/// A block of a device.
struct DeviceThreads {
  std::uint32_t count = 1;  ///< blockDim.x

  template <class Body>
  __device__ void each(Body&& body) const {
    body(threadIdx.x);
    __syncthreads();
  }
};
#endif

}  // namespace krohn
