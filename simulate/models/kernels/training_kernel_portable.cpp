#include "krohn/simulate/models/kernels/training_kernel_bodies.h"

namespace krohn {

TrainingKernels<float> portable_training_kernels() { return kernels<float, 4, 4>(); }
TrainingKernels<double> portable_double_training_kernels() { return kernels<double, 2, 4>(); }

}  // namespace krohn
