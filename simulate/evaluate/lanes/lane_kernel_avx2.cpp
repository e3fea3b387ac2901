// Compiled with AVX2 and F16C; run only where the processor has it.
#ifdef __x86_64__
#include "krohn/simulate/evaluate/lanes/lane_kernel_body.h"
#include "krohn/simulate/evaluate/lanes/lanes_avx2.h"

namespace krohn {

LaneKernels avx2_lane_kernels() {
  return {&run_lane_program<Avx2Doubles, RoundNothing<Avx2Doubles>>,
          &run_lane_program<Avx2Floats, RoundNothing<Avx2Floats>>,
          &run_lane_program<Avx2Floats, RoundEach<Avx2Floats, ToFp16<Avx2Floats>>>,
          &run_lane_program<Avx2Floats, RoundEach<Avx2Floats, ToBf16<Avx2Floats>>>,
          &fill_random_lanes,
          &compare_lanes<Avx2Floats>};
}

}  // namespace krohn
#endif
