#include "krohn/simulate/closing/certified_cells.h"

#include <utility>

namespace krohn {
namespace {

/// Small first weights, smoothed targets and a falling rate: what leaves a recurrence near its automaton (docs/MATH.md
/// §8).
TrainOptions steady(LengthRange lengths, double rate, std::uint64_t steps) {
  TrainOptions options;
  options.lengths = lengths;
  options.smoothing = 0.1;
  options.stop_at = 0;
  options.optimiser.learning_rate = rate;
  options.optimiser.schedule = Schedule::kCosine;
  options.optimiser.steps = steps;
  return options;
}

TrainOptions of_reflections(LengthRange lengths, double rate, std::uint64_t steps) {
  TrainOptions options = steady(lengths, rate, steps);
  options.optimiser.clip = 1;
  options.optimiser.warm_up = steps / 15;
  options.validate_every = 1000;
  return options;
}

constexpr const char* kMachines[] = {"rsm:m=2,seed=1", "rsm:m=3,seed=1", "rsm:m=5,seed=1", "rsm:m=10,seed=1"};

/// A machine's first letter names its state: words of one letter have to be among the samples, or nothing says what
/// that letter does to the state before it.
constexpr LengthRange kOfMachines{1, 10};

void add_bilinear(std::vector<CertifiedCell>& cells) {
  const std::string small = "bilinear:full,hidden=16,inputs=16,spread=0.02",
                    wide = "bilinear:full,hidden=32,inputs=32,spread=0.02";
  for (const char* task : {"parity", "Z3", "Z5", "S3/swaps"})
    cells.push_back({"bilinear", task, small, steady({2, 10}, 3e-3, 3000), ""});
  cells.push_back({"bilinear", "Z12", wide, steady({2, 10}, 1e-3, 6000), ""});
  for (const char* task : kMachines) {
    const bool is_large = task == std::string("rsm:m=10,seed=1");
    cells.push_back({"bilinear", task, is_large ? wide : small,
                     steady(kOfMachines, is_large ? 1e-3 : 3e-3, is_large ? 6000 : 3000), ""});
  }
  cells.push_back(
      {"bilinear", "modarith5", "bilinear:full,hidden=64,inputs=16,spread=0.02", steady({1, 19}, 1e-3, 6000), ""});
  CertifiedCell s5{"bilinear", "S5/swaps", "bilinear:full,hidden=128,inputs=16,spread=0.02",
                   steady({2, 10}, 3e-3, 4000), ""};
  s5.training.smoothing = 0.5;
  s5.training.validate_every = 1000;
  cells.push_back(s5);
  cells.push_back(
      {"bilinear, rotations", "Z5", "bilinear:rotations,hidden=16,inputs=16", steady({2, 10}, 3e-3, 3000),
       "the cosine of a float other than 0 is transcendental, so that no rotation by a float has a finite order; only "
       "roundings could close it"});
}

void add_reflections(std::vector<CertifiedCell>& cells) {
  const std::string one = "deltaproduct:signed,plain,width=32,heads=1,keys=8,values=16,mlp=64",
                    two = "deltaproduct:signed,plain,reflections=2,width=32,heads=16,keys=8,values=4,mlp=64";
  // Several heads: one that learned no turn of the right kind is silenced, or unlearned.
  cells.push_back({"DeltaNet", "parity", "deltaproduct:signed,plain,width=16,heads=4,mlp=0",
                   of_reflections({2, 32}, 1e-2, 2000), ""});
  cells.push_back({"DeltaNet", "S3/swaps", one, of_reflections({2, 32}, 1e-2, 3000), ""});
  CertifiedCell s5{"DeltaNet", "S5/swaps", "deltaproduct:signed,plain,width=64,heads=2,keys=16,values=32,mlp=128",
                   of_reflections({2, 48}, 3e-3, 6000), ""};
  s5.training.words = 48;
  s5.training.validate_every = 2000;
  cells.push_back(s5);
  const char* const kOrders =
      "a key is a unit vector of dyadic numbers, so that the cosine between two is rational, and twice its angle is a "
      "turn of finite order for 0, ±1/2 and ±1 alone (Niven's theorem): a product of two reflections has order 1, 2, 3 "
      "or none";
  TrainOptions training = of_reflections({2, 40}, 1e-2, 3000);
  training.validate_every = 500;
  for (const char* task : {"Z3", "S3/swaps"}) cells.push_back({"DeltaProduct, 2", task, two, training, ""});
  training.optimiser.steps = 500;
  for (const char* task : {"Z5", "Z12"}) cells.push_back({"DeltaProduct, 2", task, two, training, kOrders});
  // Four vertices of a simplex take three reflections, five take four (simplex_heads.h); with one more all of the runs
  // that the recipe was looked for with end in a proof.
  TrainOptions simplex = of_reflections({2, 16}, 1e-2, 2000);
  simplex.validate_every = 500;
  for (const char* task : {"Z5", "Z12"})
    cells.push_back({"DeltaProduct, 5", task,
                     "deltaproduct:signed,plain,reflections=5,width=32,heads=16,keys=8,values=4,mlp=64", simplex, ""});
  // Whole groups that do not commute: three, four and five vertices.
  const std::string wide = "width=64,heads=16,keys=8,values=8,mlp=64";
  cells.push_back({"DeltaProduct, 2", "S3", two, simplex, ""});
  simplex.optimiser.steps = 3000;
  simplex.optimiser.warm_up = 200;
  simplex.optimiser.learning_rate = 5e-3;
  cells.push_back({"DeltaProduct, 3", "S4", "deltaproduct:signed,plain,reflections=3," + wide, simplex, ""});
  simplex.optimiser.learning_rate = 3e-3;
  cells.push_back({"DeltaProduct, 4", "A5/standard", "deltaproduct:signed,plain,reflections=4," + wide, simplex, ""});
  training.lengths = kOfMachines;
  training.optimiser.steps = 3000;
  for (const char* task : {"rsm:m=3,seed=1", "rsm:m=5,seed=1"})
    cells.push_back({"DeltaProduct, 2", task, two, training, ""});
  const std::string three = "deltaproduct:signed,plain,reflections=3,width=32,heads=8,keys=8,values=8,mlp=64";
  cells.push_back({"DeltaProduct, 3", "rsm:m=10,seed=1", three, training, ""});
  training.lengths = {1, 19};
  cells.push_back({"DeltaProduct, 3", "modarith5", three, training, ""});
  for (const char* task : {"rsm:m=2,seed=1", "rsm:m=3,seed=1", "rsm:m=5,seed=1"})
    cells.push_back({"DeltaNet", task, one, of_reflections(kOfMachines, 1e-2, 3000), ""});
}

void add_blocks(std::vector<CertifiedCell>& cells) {
  const std::string one = "fan:blocks=1,size=32,norm=1.2", paper = "fan:blocks=4,size=8,norm=1.2";
  for (const char* task : {"parity", "Z3", "Z5", "Z12", "S3/swaps"})
    cells.push_back({"Fan, one block", task, one, steady({2, 10}, 3e-3, 4000), ""});
  // As many coordinates as states: 120.
  cells.push_back({"Fan, one block", "S5/swaps", "fan:blocks=1,size=128,norm=1.2", steady({2, 10}, 3e-3, 4000), ""});
  for (const char* task : kMachines)
    cells.push_back({"Fan, one block", task, one, steady(kOfMachines, 3e-3, 4000), ""});
  cells.push_back({"Fan, one block", "sum5", one, steady({1, 20}, 3e-3, 4000), ""});
  // A word of one letter ends as it begins.
  cells.push_back({"Fan, one block", "evenpair5", one, steady({1, 20}, 3e-3, 4000), ""});
  cells.push_back({"Fan, one block", "modarith5", "fan:blocks=1,size=64,norm=1.2", steady({1, 19}, 3e-3, 6000), ""});
  for (const char* task : {"parity", "Z3", "sum5"})
    cells.push_back({"Fan, blocks of 8", task, paper, steady({2, 20}, 3e-3, 4000), ""});
}

void add_nonlinear(std::vector<CertifiedCell>& cells) {
  for (const auto& [family, cell] : {std::pair("RNN", "rnn"), std::pair("GRU", "gru"), std::pair("LSTM", "lstm")}) {
    const std::string model = std::string(cell) + ":hidden=64,inputs=16";
    const auto add = [&](const char* task, LengthRange lengths) {
      cells.push_back({family, task, model, steady(lengths, 3e-3, 3000), ""});
      cells.back().training.optimiser.clip = 1;
    };
    for (const char* task : {"parity", "Z3", "Z5", "Z12", "S3/swaps"}) add(task, {1, 10});
    for (const char* task : kMachines) add(task, kOfMachines);
    for (const char* task : {"sum5", "evenpair5"}) add(task, {1, 20});
    add("modarith5", {1, 19});
  }
}

}  // namespace

std::vector<CertifiedCell> certified_cells() {
  std::vector<CertifiedCell> cells;
  add_bilinear(cells);
  add_reflections(cells);
  add_blocks(cells);
  add_nonlinear(cells);
  return cells;
}

}  // namespace krohn
