// gpu/training/bilinear_plan.h — where the parameters of a bilinear model lie, for gpu/training/bilinear_training.cuh.
#pragma once

#include "krohn/gpu/training/bilinear_training.cuh"
#include "krohn/simulate/models/bilinear_model.h"

namespace krohn {

/// The parts of model.parameters(), in the order of its tensors: embedding, weights, left, right, bias, input_bias,
/// initial, readout, readout_bias. Throws Error when they are not as long as the parameters.
BilinearPlan plan_of(const BilinearModel<float>& model);

}  // namespace krohn
