// simulate/closing/closing.h — what was done to a trained model to make its states finitely many.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

struct LearnedStates;

/// A model of the same architecture and read-out whose recurrence is rounded to exact numbers, or why there is none.
/// Whether it is right is for a proof to say.
struct Closing {
  std::unique_ptr<SequenceModel<float>> model;  ///< null where nothing could be rounded
  std::string what;                             ///< what was rounded, or why not
  std::shared_ptr<const LearnedStates> seen;    ///< of a linear recurrence: what was rounded
  double moved = 0;           ///< the farthest that a number of the recurrence was moved by rounding, in its basis
  double share = 0;           ///< of what is by classes of states, which moves no number: how far off these were
  std::uint64_t dropped = 0;  ///< blocks, heads or units of cells that nothing rounds, silenced
  std::uint64_t kept = 0;     ///< those that do
  /// Of them: with a coordinate (state_code.h), vertex (simplex_heads.h) or sign (cells/saturate_cells.h) for each.
  std::uint64_t by_states = 0;
  std::uint64_t readout_steps = 0;  ///< of gradient descent on what reads the rounded states

  /// Whether `moved` tells anything: what is by states gets other numbers, and none is moved.
  bool moves_numbers() const { return by_states < kept; }
};

}  // namespace krohn
