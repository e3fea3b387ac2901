#include <array>

#include "krohn/simulate/train/tables/tables_by_paper.h"

namespace krohn {
namespace {

struct FanTask {
  const char *row, *task;
  LengthRange lengths;
  std::uint64_t length;  ///< of the test
  double paper;          ///< scaled accuracy; the paper prints 1.00, 0.99 and 1.00 of all answers
  const char* model;     ///< as small runs hold it
  std::uint64_t steps;
  LengthRange validation;  ///< from which the best of the seeds is chosen: past the lengths of training
};

constexpr std::array<FanTask, 3> kTasks{{
    {"Sum(5)", "sum5", {1, 40}, 500, 1, "fan:norm=1.2,generator=64", 12'000, {100, 200}},
    {"EvenPair(5)", "evenpair5", {2, 40}, 500, 0.98, "fan:norm=1.2", 6'000, {100, 200}},
    {"ModArith(5)", "modarith5", {1, 39}, 499, 1, "fan:norm=1.2,layers=3,generator=64,mlp=0", 8'000, {399, 599}},
}};

}  // namespace

PaperTable fan2(TableScale scale, Recipe recipe) {
  const bool is_small = scale == TableScale::kSmall;
  PaperTable table{{},
                   "Scaled accuracy after training on up to 40 letters; the model chosen by validation alone",
                   "Fan et al. 2024, Table 2, their model",
                   {}};
  for (const FanTask& task : kTasks) {
    Experiment cell;
    cell.row = task.row;
    const bool is_deep = cell.row == "ModArith(5)";
    cell.column = is_deep ? "3 layers" : "1 layer";
    cell.task = task.task;
    cell.length = task.length;
    cell.words = 10'000;
    cell.paper = task.paper;
    cell.training.lengths = task.lengths;
    cell.training.optimiser.steps = is_small ? task.steps : 40'000;
    cell.training.stop_at = 0;
    cell.rates = {3e-3};
    if (recipe == Recipe::kSteady) {
      cell.model = task.model;
      cell.training.smoothing = 0.1;
      cell.training.optimiser.schedule = Schedule::kCosine;
      cell.training.validation_lengths = task.validation;
      cell.training.validate_every = 2'000;
      if (is_deep) cell.training.optimiser.warm_up = cell.training.optimiser.steps / 20;
    } else {
      cell.model = is_deep ? "fan:norm=1.2,layers=3" : "fan:norm=1.2";
    }
    if (is_deep) cell.training.optimiser.clip = 1;
    table.experiments.push_back(std::move(cell));
  }
  return table;
}

}  // namespace krohn
