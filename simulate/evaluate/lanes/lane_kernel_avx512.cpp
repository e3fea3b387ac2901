// Compiled with AVX-512; run only where the processor has it.
#ifdef __x86_64__
#include "krohn/simulate/evaluate/lanes/lane_kernel_body.h"
#include "krohn/simulate/evaluate/lanes/lanes_avx512.h"

namespace krohn {

LaneKernels avx512_lane_kernels() {
  return {&run_lane_program<Avx512Doubles, RoundNothing<Avx512Doubles>>,
          &run_lane_program<Avx512Floats, RoundNothing<Avx512Floats>>,
          &run_lane_program<Avx512Floats, RoundEach<Avx512Floats, ToFp16<Avx512Floats>>>,
          &run_lane_program<Avx512Floats, RoundEach<Avx512Floats, ToBf16<Avx512Floats>>>,
          &fill_random_lanes,
          &compare_lanes<Avx512Floats>};
}

}  // namespace krohn
#endif
