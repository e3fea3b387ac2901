// Compiled with AVX2 and FMA; run only where the processor has them.
#ifdef __x86_64__
#include "krohn/simulate/models/kernels/training_kernel_bodies.h"

namespace krohn {

TrainingKernels<float> avx2_training_kernels() { return kernels<float, 8, 6>(); }

}  // namespace krohn
#endif
