// gpu/training/model_programs.h — a step of every family of models, recorded: loss and gradient, from values and
// batches; the stages of a mixer (simulate/models/mixers.h), up and down.
#pragma once

#include <memory>
#include <string>

#include "krohn/gpu/training/bilinear_training.cuh"
#include "krohn/gpu/training/step_program.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/dense_model.h"
#include "krohn/simulate/models/mixers.h"
#include "krohn/simulate/models/stacked_model.h"

namespace krohn {

/// Rows of a layer's input, and which one a token reads.
struct LayerRows {
  RowCount count;
  Source source;
};

class MixerProgram {
 public:
  virtual ~MixerProgram() = default;

  /// True if a token's row of the input must be its own, because tokens are mixed before the recurrence.
  virtual bool needs_own_rows() const { return false; }
  /// y = what the mixer makes of x, a row a token; plus the row of `addend` at the token's source, where there is one.
  virtual void run(StepProgram& program, const LayerRows& rows, Table x, Table addend, Table y) = 0;
  /// After `run`: the gradients by the weights, and by x, a row a source.
  virtual void run_adjoint(StepProgram& program, const LayerRows& rows, Table x, Table by_y, Table by_x) = 0;
};

/// `prefix` begins the names of the mixer's tensors.
std::unique_ptr<MixerProgram> mixer_program(StepProgram& program, const ReflectionShape& shape,
                                            const std::string& prefix);
std::unique_ptr<MixerProgram> mixer_program(StepProgram& program, const DiagonalShape& shape,
                                            const std::string& prefix);
std::unique_ptr<MixerProgram> mixer_program(StepProgram& program, const BlockShape& shape, const std::string& prefix);

/// A gradient by tokens as one by sources: where they are letters, the sum of those that read it.
Table by_sources(StepProgram& program, const LayerRows& rows, Table by_tokens, std::uint32_t columns);

/// The short convolution of the first columns of `raw`, with its adjoint.
class RecordedConvolution {
 public:
  RecordedConvolution(const Weights& taps) : taps_(taps) {}
  Table run(StepProgram& program, RowCount rows, Table raw);
  /// The gradients by the taps, and by raw's first columns.
  void run_adjoint(StepProgram& program, RowCount rows, Table by_mixed, Table by_raw) const;

 private:
  Weights taps_;
  Convolve forward_;
};

// Families of models.

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
