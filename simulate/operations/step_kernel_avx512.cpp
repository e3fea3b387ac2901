// Compiled with AVX-512; run only where the processor has them.
#ifdef __x86_64__
#include "krohn/simulate/operations/step_adjoint_body.h"

namespace krohn {

StepKernels avx512_step_kernels() { return kernels_here(); }

}  // namespace krohn
#endif
