#include "krohn/simulate/evaluate/lanes/lane_kernel_body.h"

namespace krohn {

LaneKernels portable_lane_kernels() { return kernels_of_this_unit(); }

}  // namespace krohn
