// simulate/closing/close_model.h — training that ends in a proof: a trained model is rounded to one of the same
// architecture whose states are finitely many, and that one is proved.
#pragma once

#include "krohn/simulate/closing/closing.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/train/trainer.h"

namespace krohn {

/// Why no model of this shape is ever rounded, whatever its parameters; "" where they decide.
std::string why_never_rounded(const SequenceModel<float>& model, const Task& task);

/// What speaks against a proof, though it does not rule one out: for a run that ended without. "" where nothing does.
std::string what_stands_against(const SequenceModel<float>& model, const Task& task);

/// A closing, and what `verify` (simulate/prove/verify.h) says of its model in fp32, letter after letter.
struct ProvedClosing {
  Closing closing;
  Certificate certificate;  ///< open where there is no model

  bool is_proved() const { return closing.model != nullptr && certificate.is<Proved>(); }
  /// Why it is not, for people.
  std::string why_not() const;
};

/// Rounds the model by what its family allows: close_linear, or close_reflections or saturate_cells, behind which the
/// read-out is trained on as `training` says, for 1,000 steps at most, until the proof succeeds; where it does not
/// behind roots of reflections, behind simplices. Nothing is taken from a construction; the task says which words there
/// are and what is answered.
ProvedClosing close_and_prove(const SequenceModel<float>& model, const Task& task, const TrainOptions& training);

}  // namespace krohn
