// simulate/closing/cells/saturate_cells.h — trained nonlinear cells of one layer, RNN by tanh, GRU or LSTM, rounded to
// cells whose units saturate.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// Why cells of this shape are not rounded on this task; "" where they are. Past 8,000 steps between places, states ·
/// letters², they are not: the units' weights take minutes then.
std::string why_no_cells_round(const SequenceModel<float>& model, const Task& task);

struct SaturatedUnits {
  std::unique_ptr<SequenceModel<float>> model;  ///< null where there is none
  std::string why_not;                          ///< why there is none, and what may help
  std::size_t kept = 0, silenced = 0;           ///< units
  double share = 0;           ///< of all letters and kept units: how often the trained one held the other sign
  std::vector<bool> is_free;  ///< parameters of the read-out, which may be trained further
};

/// Only what was learned is rounded: the trained model gives at least 99 % of the answers along the walk
/// (simulate/closing/cells/cell_walk.h), whose words may be longer than those of training. The code of a place is the
/// sign that each trained unit mostly holds there, and its weights are moved until signs alone keep every gate at every
/// step on the side where the trained one was: of RNN and GRU what is remembered is ±1, of an LSTM c = ±1, written or
/// kept and never added to. Where some units have no such weights, a quarter of them loses something, those that lack
/// at most points: a GRU's reset, then all gates, so that every letter writes, then the unit; the others begin again
/// with what is left. All is multiplied by 256 at last, so that tanh is ±1 and σ 0 or 1. The embedding stays as it is.
/// What this does to words that the walk did not show is for a proof to say.
SaturatedUnits saturate_cells(const SequenceModel<float>& model, const Task& task);

}  // namespace krohn
