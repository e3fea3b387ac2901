// simulate/closing/certified_cells.h — the table of training to a proof: tasks by families of models, with the recipe
// of each.
#pragma once

#include <string>
#include <vector>

#include "krohn/simulate/train/trainer.h"

namespace krohn {

/// The procedure that closes a run: rounding, pulling, and when either is tried. To be raised whenever any of it
/// changes: a kept run that an older procedure ended is then made again, and does not count as one of this.
inline constexpr int kClosingProcedure = 3;

struct CertifiedCell {
  std::string family, task, model;
  TrainOptions training;
  std::string note;  ///< what the arithmetic forbids; empty: nothing
};

/// Recipes were looked for with seeds below 20 and from 1000 on.
std::vector<CertifiedCell> certified_cells();

}  // namespace krohn
