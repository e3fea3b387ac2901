// gpu/training/model_programs.h — a step of every family of models, recorded: loss and gradient, from values and
// batches.
#pragma once

#include "krohn/gpu/training/bilinear_training.cuh"
#include "krohn/gpu/training/step_program.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/dense_model.h"
#include "krohn/simulate/models/stacked_model.h"

namespace krohn {

void record_bilinear_model(StepProgram& program, const BilinearPlan& plan);
void record_stacked_model(StepProgram& program, const StackedShape& shape, std::uint32_t labels);
void record_dense_model(StepProgram& program, const DenseShape& shape, std::uint32_t labels);

/// For any of them. Numbers of the gradient that the recorded kernels do not make stay 0. Throws InputError naming the
/// family when it is none of these, Error when the model has tensors that its program does not know.
void record_model(StepProgram& program, const SequenceModel<float>& model);

// The places of the parameters of a bilinear model, for gpu/training/bilinear_training.cuh.

/// The parts of model.parameters(), in the order of its tensors: embedding, weights, left, right, bias, input_bias,
/// initial, readout, readout_bias. Throws Error when they are not as long as the parameters.
BilinearPlan plan_of(const BilinearModel<float>& model);

}  // namespace krohn
