// simulate/closing/close_model.h — training that ends in a proof: a trained model is rounded to one of the same
// architecture whose states are finitely many, and that one is proved.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/train/trainer.h"

namespace krohn {

struct LearnedStates;

/// A model of the same architecture and read-out whose recurrence is rounded to exact numbers, or why there is none.
/// A proof has to say whether it is right.
struct Closing {
  std::unique_ptr<SequenceModel<float>> model;  ///< null where nothing could be rounded
  std::string what;                             ///< the rounded parts, or the reason why none were
  std::shared_ptr<const LearnedStates> seen;    ///< of a linear recurrence: what was rounded
  double moved = 0;           ///< the farthest that a number of the recurrence was moved by rounding, in its basis
  double share = 0;           ///< of what is by classes of states, which moves no number: how far off these were
  std::uint64_t dropped = 0;  ///< blocks, heads or units of cells that nothing rounds, silenced
  std::uint64_t kept = 0;     ///< those that do
  /// Those with a coordinate (close_linear.h), vertex (close_reflections.h) or sign (saturate_cells.h) for
  /// each.
  std::uint64_t by_states = 0;
  std::uint64_t readout_steps = 0;  ///< of gradient descent on what reads the rounded states

  /// True if `moved` tells anything: what is by states gets other numbers, and none is moved.
  bool moves_numbers() const { return by_states < kept; }
};

/// Why no model of this shape is ever rounded, whatever its parameters; "" where they decide. Cells that are trained to
/// contract may be proved all the same, as they are.
std::string why_never_rounded(const SequenceModel<float>& model, const Task& task);

/// The evidence against a proof, which does not rule one out, for a run that ended without one. "" where there is none.
std::string what_stands_against(const SequenceModel<float>& model, const Task& task);

/// A closing, and what `verify` (simulate/prove/verify.h) says of its model in fp32, letter after letter.
struct ProvedClosing {
  Closing closing;
  Certificate certificate;  ///< open where there is no model
  std::string as_trained;   ///< why a cell was not proved with the numbers that it was trained to

  bool is_proved() const { return closing.model != nullptr && certificate.is<Proved>(); }
  /// Why it is not, for people.
  std::string why_not() const;
};

/// A copy of a cell with the numbers that it was trained to, where these are proved; otherwise no model. Only cells
/// that forget disturbances reach few memories: with others the search ends after 20,000 pairs.
ProvedClosing prove_as_trained(const SequenceModel<float>& model, const Task& task, const TrainOptions& training);

/// Rounds the model by what its family allows: close_linear, or close_reflections or saturate_cells, behind which the
/// read-out is trained on as `training` says, for 1,000 steps at most, until the proof succeeds; where it does not
/// behind roots of reflections, behind simplices. Nothing is taken from a construction; the task says which words there
/// are and what is answered. Cells are also proved as they are trained: first where they learn to contract, otherwise
/// last.
ProvedClosing close_and_prove(const SequenceModel<float>& model, const Task& task, const TrainOptions& training);

/// Steps of Adam at the rate of `options`, on its batches, that move only parameters for which `is_free` holds (as long
/// as the parameters), until `is_done` says so: it is asked first, and after every hundred steps whose last batch was
/// answered correctly. Returns the number of steps; `most` where it never was done.
std::uint64_t refine_readout(SequenceModel<float>& model, const Task& task, const TrainOptions& options,
                             const std::vector<bool>& is_free, std::uint64_t most,
                             const std::function<bool()>& is_done);

}  // namespace krohn
