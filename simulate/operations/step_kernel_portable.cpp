#include "krohn/simulate/operations/step_adjoint_body.h"

namespace krohn {

StepKernels portable_step_kernels() { return kernels_here(); }

}  // namespace krohn
