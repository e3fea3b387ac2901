// Compiled with AVX-512; run only where the processor has it.
#ifdef __x86_64__
#include "krohn/simulate/models/kernels/training_kernel_bodies.h"

namespace krohn {

TrainingKernels<float> avx512_training_kernels() { return kernels<float, 16, 8>(); }

}  // namespace krohn
#endif
