// gpu/device/threads.cuh — atomic operations of kernels, and the threads of a block that wait for each other, for
// functions that run on the processor and on CUDA devices.
#pragma once

#include <cstdint>

#include "krohn/simulate/words/host_device.h"

/// The first expression in code for a device, the second on the processor.
#ifdef __CUDA_ARCH__
#define KROHN_EITHER(device, processor) device
#else
#define KROHN_EITHER(device, processor) processor
#endif

namespace krohn {

// Atomic operations; on the processor, where items run one after another, plain ones.

/// *at ← min(*at, value).
KROHN_HOST_DEVICE inline void take_minimum(std::uint32_t* at, std::uint32_t value) {
  KROHN_EITHER(atomicMin(at, value), *at = value < *at ? value : *at);
}
KROHN_HOST_DEVICE inline void take_minimum(unsigned long long* at, unsigned long long value) {
  KROHN_EITHER(atomicMin(at, value), *at = value < *at ? value : *at);
}

/// *at ← *at + value.
KROHN_HOST_DEVICE inline void add_to(unsigned long long* at, unsigned long long value) {
  KROHN_EITHER(atomicAdd(at, value), *at += value);
}

/// Returns the old value of *at; where that is `expected`, *at ← value.
KROHN_HOST_DEVICE inline std::uint32_t compare_and_swap(std::uint32_t* at, std::uint32_t expected,
                                                        std::uint32_t value) {
#ifdef __CUDA_ARCH__
  return atomicCAS(at, expected, value);
#else
  const std::uint32_t before = *at;
  if (before == expected) *at = value;
  return before;
#endif
}

KROHN_HOST_DEVICE inline std::uint32_t count_bits(std::uint32_t bits) {
  return KROHN_EITHER(static_cast<std::uint32_t>(__popc(bits)), static_cast<std::uint32_t>(__builtin_popcount(bits)));
}

// The threads of a block: `each(body)` calls body(thread) for every thread and waits for all of them. What is written
// outside of it every thread of a device does for itself, and has to come to the same in all of them.

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
