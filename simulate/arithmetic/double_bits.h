// simulate/arithmetic/double_bits.h — the bits of a double and back, on the processor and on CUDA devices.
#pragma once

#include <bit>
#include <cstdint>

#include "krohn/simulate/words/host_device.h"

namespace krohn {

KROHN_HOST_DEVICE inline std::uint64_t bits_of(double a) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint64_t>(__double_as_longlong(a));
#else
  return std::bit_cast<std::uint64_t>(a);
#endif
}

KROHN_HOST_DEVICE inline double double_of(std::uint64_t bits) {
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

}  // namespace krohn
