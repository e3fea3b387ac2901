// simulate/probe/processor_sums.h — what of this processor there is to probe.
#pragma once

#include <string>
#include <vector>

#include "krohn/simulate/probe/probe_sums.h"

namespace krohn {

/// Something that takes sums of products, and the format of its numbers.
struct Summer {
  std::string name;
  Precision format;
  SumOfProducts sum;
};

/// Loops of separate and of fused operations in fp64 and fp32, and the dot products of bf16 where the processor has
/// them (AVX512_BF16, which flushes subnormal numbers).
std::vector<Summer> processor_summers();

}  // namespace krohn
