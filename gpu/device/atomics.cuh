// gpu/device/atomics.cuh — the atomic operations of kernels; on the processor, where items run one after another, plain
// ones.
#pragma once

#include <cstdint>

#include "krohn/simulate/words/host_device.h"

namespace krohn {

/// *at ← min(*at, value).
KROHN_HOST_DEVICE inline void take_minimum(std::uint32_t* at, std::uint32_t value) {
#ifdef __CUDA_ARCH__
  atomicMin(at, value);
#else
  if (value < *at) *at = value;
#endif
}
KROHN_HOST_DEVICE inline void take_minimum(unsigned long long* at, unsigned long long value) {
#ifdef __CUDA_ARCH__
  atomicMin(at, value);
#else
  if (value < *at) *at = value;
#endif
}

/// *at ← *at + value.
KROHN_HOST_DEVICE inline void add_to(unsigned long long* at, unsigned long long value) {
#ifdef __CUDA_ARCH__
  atomicAdd(at, value);
#else
  *at += value;
#endif
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
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popc(bits));
#else
  return static_cast<std::uint32_t>(__builtin_popcount(bits));
#endif
}

}  // namespace krohn
