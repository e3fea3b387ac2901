// Compiled with AVX2 and F16C; run only where the processor has it.
#ifdef __x86_64__
#include "krohn/simulate/evaluate/lanes/lane_kernel_body.h"

namespace krohn {

LaneKernels avx2_lane_kernels() { return kernels_of_this_unit(); }

}  // namespace krohn
#endif
