// Compiled with AVX2 and FMA; run only where the processor has them.
#ifdef __x86_64__
#include "krohn/simulate/operations/step_adjoint_body.h"

namespace krohn {

StepKernels avx2_step_kernels() { return kernels_here(); }

}  // namespace krohn
#endif
