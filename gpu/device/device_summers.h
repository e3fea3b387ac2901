// gpu/device/device_summers.h — what of a CUDA device there is to probe.
#pragma once

#include <vector>

#include "krohn/simulate/probe/probe_sums.h"

namespace krohn {

/// Loops of separate and of fused operations in fp64 and fp32, and tensor cores that take factors in fp16, bf16 and
/// tf32 and accumulate in fp32, each a kernel of its own. Throws NoDevice without a device.
std::vector<Summer> device_summers();

}  // namespace krohn
