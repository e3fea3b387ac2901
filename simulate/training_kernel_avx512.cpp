// Compiled with AVX-512; run only where the processor has it.
#ifdef __x86_64__
#include "simulate/training_kernel.h"

namespace krohn {

TrainingKernels<float> avx512_training_kernels() { return kernels<float, 16, 8>(); }

}  // namespace krohn
#endif
