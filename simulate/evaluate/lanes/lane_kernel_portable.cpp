#include "krohn/simulate/evaluate/lanes/lane_kernel_body.h"
#include "krohn/simulate/evaluate/lanes/lanes_portable.h"

namespace krohn {

LaneKernels portable_lane_kernels() {
  using Doubles = PortableLanes<double>;
  using Floats = PortableLanes<float>;
  return {&run_lane_program<Doubles, RoundNothing<Doubles>>,
          &run_lane_program<Floats, RoundNothing<Floats>>,
          &run_lane_program<Floats, RoundEach<Floats, ToFp16<Floats>>>,
          &run_lane_program<Floats, RoundEach<Floats, ToBf16<Floats>>>,
          &fill_random_lanes,
          &compare_lanes<Floats>};
}

}  // namespace krohn
