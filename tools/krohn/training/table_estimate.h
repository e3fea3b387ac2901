// tools/krohn/training/table_estimate.h — `krohn table --estimate`: the price of a table before its first run.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/simulate/train/tables/table_cell.h"

namespace krohn {

/// A cell with the number of its runs that are not kept.
struct AskedCell {
  const Experiment* cell;
  std::uint64_t runs, kept;
};

/// Where its runs would be trained.
struct EstimatePlace {
  unsigned threads = 1;         ///< of the processor: runs share them out
  bool insists = false;         ///< a cell that a device does not train is refused; else it is the processor's
  TrainSideBySide on_device{};  ///< empty: the processor
};

/// Trains a few steps of a run of every cell (of as many runs as would be side by side, on a device) and says what all
/// of them would take: {"cells": [{"row", "column", "place", "runs", "kept", "steps", "seconds_per_step", "hours",
/// "bytes"}, …], "runs", "steps", "hours", "bytes"}. Hours are of training, without measuring and examining, and if no
/// run ends early.
nlohmann::ordered_json table_estimate(std::span<const AskedCell> cells, const EstimatePlace& place);

/// The same for people.
void print_estimate(const nlohmann::ordered_json& estimate, const EstimatePlace& place);

}  // namespace krohn
