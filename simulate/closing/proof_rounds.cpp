#include "krohn/simulate/closing/proof_rounds.h"

#include <fmt/format.h>

#include <Eigen/Core>

#include <algorithm>
#include <chrono>

#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/closing/integer_code.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLeastShare = 1e-3;  ///< parts of less than that of the greatest are noise
constexpr double kLearned = 0.5;      ///< of its length, by which a part that was learned may be off

/// For one letter and one block: A · from = to where the letter does what the automaton does. A column a point, 0 where
/// no move is known.
struct LetterMoves {
  MatrixXd from, to;
};

LetterMoves moves_by(std::size_t letter, const VectorXd& addition, const MatrixXd& means,
                     const std::vector<LearnedCode::Move>& moves) {
  LetterMoves found{MatrixXd::Zero(means.rows(), means.cols()), MatrixXd::Zero(means.rows(), means.cols())};
  for (const auto& move : moves)
    if (move.letter == letter) {
      found.from.col(move.from) = means.col(move.from);
      found.to.col(move.from) = means.col(move.to) - addition;
    }
  return found;
}

/// An orthonormal basis of a space of functions of the points in which the means split into parts: copies of a group's
/// representations, otherwise singular directions.
struct Parts {
  MatrixXd vectors;
  std::vector<GroupCopies::Copy> parts;
};

Parts parts_of(const MatrixXd& means, const std::vector<LearnedCode::Move>& moves, std::size_t letters) {
  if (const auto group = group_copies(means, moves, letters)) {
    Parts found{MatrixXd::Zero(means.cols(), group->vectors.cols()), group->copies};
    found.vectors(group->points, Eigen::all) = group->vectors;
    return found;
  }
  const SingularValues svd = thin_singular_values(means);
  Parts found{svd.right, {}};
  for (Index i = 0; i < svd.values.size(); ++i) found.parts.push_back({i, 1, svd.values(i)});
  return found;
}

/// A block of the recurrence: A and b by letter.
struct BlockLetters {
  std::vector<MatrixXd> matrices;
  std::vector<VectorXd> additions;
};

BlockLetters block_letters(const LinearModel& view, const std::vector<Letter>& inputs, Index first) {
  BlockLetters found;
  for (const Letter letter : inputs) {
    const MatrixXd map = block_map(view, letter, static_cast<std::size_t>(first));
    found.matrices.push_back(map.leftCols(map.rows()));
    found.additions.push_back(map.col(map.rows()));
  }
  return found;
}

/// The means in the parts that the letters move nearer to where they belong than to 0: those were learned, and what
/// training left over dies out.
MatrixXd without_noise(const MatrixXd& means, const BlockLetters& letters,
                       const std::vector<LearnedCode::Move>& moves) {
  const Parts all = parts_of(means, moves, letters.matrices.size());
  std::vector<MatrixXd> from, off;
  for (std::size_t i = 0; i < letters.matrices.size(); ++i) {
    const LetterMoves by = moves_by(i, letters.additions[i], means, moves);
    from.push_back(by.from);
    off.push_back(letters.matrices[i] * by.from - by.to);
  }
  MatrixXd kept(means.cols(), 0);
  for (const auto& [first, count, size] : all.parts) {
    if (size <= kLeastShare * all.parts.front().size) break;
    const MatrixXd part = all.vectors.middleCols(first, count);
    double wrong = 0, length = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      wrong += (off[i] * part).squaredNorm();
      length += (from[i] * part).squaredNorm();
    }
    if (wrong > kLearned * kLearned * length) continue;
    kept.conservativeResize(Eigen::NoChange, kept.cols() + count);
    kept.rightCols(count) = part;
  }
  return means * kept * kept.transpose();
}

/// The matrix of least norm that takes `from` to `to`, but in directions of `from` that the letter does not
/// move nearly there: it stays as it is in those, of which a division by their small length would make anything.
MatrixXd wanted_letter(const MatrixXd& letter, const LetterMoves& by) {
  constexpr double kRounding = 1e-9;  // singular values below that of the greatest are roundings
  const SingularValues svd = thin_singular_values(by.from);
  MatrixXd wanted = MatrixXd::Zero(letter.rows(), letter.cols());
  for (Index i = 0; i < svd.values.size(); ++i) {
    const double length = svd.values(i);
    if (length <= kRounding * svd.values(0)) break;
    const VectorXd direction = svd.left.col(i), made = letter * direction, right = by.to * svd.right.col(i) / length;
    wanted += ((made - right).norm() <= kLearned ? right : made) * direction.transpose();
  }
  return wanted;
}

}  // namespace

std::vector<float> pulled_letters(const SequenceModel<float>& model, const Task& task, const LearnedStates& seen,
                                  double share) {
  using Form = BilinearShape::Form;
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const FloatEnvironment environment;
  const auto* const bilinear = dynamic_cast<const BilinearModel<float>*>(&model);
  if (bilinear == nullptr) return {};
  const BilinearShape& shape = bilinear->shape();
  if (shape.form != Form::kFull && shape.form != Form::kBlocks) return {};
  const LinearModel view = *model.linear_view();
  const TaskAutomaton input = input_machine(task);
  if (!seen.means.allFinite()) return {};
  const Index size = view.block, numbers = static_cast<Index>(view.hidden) * size;
  MatrixXd change = MatrixXd::Zero(view.letters, numbers);  // a letter a row
  for (Index first = 0; first < static_cast<Index>(view.hidden); first += size) {
    const MatrixXd means = seen.means.middleRows(first, size);
    if (means.isZero()) continue;
    const BlockLetters letters = block_letters(view, input.inputs, first);
    const MatrixXd clean = without_noise(means, letters, seen.moves);
    if (clean.isZero()) continue;
    for (std::size_t i = 0; i < input.inputs.size(); ++i) {
      const LetterMoves by = moves_by(i, letters.additions[i], clean, seen.moves);
      if (by.from.isZero()) continue;
      const MatrixXd pull = share * (wanted_letter(letters.matrices[i], by) - letters.matrices[i]);
      change.row(input.inputs[i]).segment(first * size, size * size) = pull.reshaped<Eigen::RowMajor>().transpose();
    }
  }
  std::vector<float> parameters(model.parameters().begin(), model.parameters().end());
  const Eigen::Map<const Rows> embedding(parameters.data() + model.begin_of("embedding"), view.letters, shape.inputs);
  const MatrixXd by_weights = pseudo_inverse(embedding.cast<double>()) * change;
  if (!by_weights.allFinite()) return {};
  Eigen::Map<Rows>(parameters.data() + model.begin_of("weights"), shape.inputs, numbers) += by_weights.cast<float>();
  return parameters;
}

namespace {

bool is_answered(const BatchLoss& validation) {
  constexpr double kNearlyAll = 0.99;
  return static_cast<double>(validation.right) >= kNearlyAll * static_cast<double>(validation.targets);
}

}  // namespace

void ProofRounds::before_step(Trainer& trainer, const Task& task) {
  constexpr double kPull = 0.5;
  if (trainer.steps() == 0 || trainer.steps() % trainer.options().validate_every != 0) return;
  if (!is_answered(trainer.validation())) return;
  const auto settled = trainer.settled_copy();
  const SequenceModel<float>& model = settled ? *settled : trainer.model();
  // A cell that still learns to forget is not to be rounded before the end.
  attempt(trainer.options().contract > 0 ? prove_as_trained(model, task, trainer.options())
                                         : close_and_prove(model, task, trainer.options()));
  if (is_proved()) return;
  const auto& seen = last_->closing.seen;
  if (!seen) return;
  if (const auto pulled = pulled_letters(model, task, *seen, kPull); !pulled.empty()) trainer.go_on_from(0, pulled);
}

void ProofRounds::at_end(const Trainer& trainer, const Task& task) {
  const bool has_ended = trainer.state() == Trainer::State::kStopped || trainer.state() == Trainer::State::kFinished;
  if (!has_ended || is_proved()) return;
  if (is_answered(trainer.validation())) {
    attempt(close_and_prove(trainer.model(), task, trainer.options()));
    is_made_again_ = true;
  }
  if (!is_proved()) against_ = what_stands_against(trainer.model(), task);
}

void ProofRounds::attempt(ProvedClosing made) {
  last_ = std::move(made);
  ++count_;
  is_made_again_ = is_proved();
}

std::string ProofRounds::why_not() const {
  if (!ruled_out_.empty()) return ruled_out_;
  const std::string against = against_.empty() ? "" : "; " + against_;
  if (!last_) return "validation never answered 99 % correctly, so that nothing was rounded" + against;
  return is_proved() ? "" : last_->why_not() + against;
}

namespace {

/// For a run that ends without a proof: itself, and twice its options again.
constexpr std::uint64_t kMaxParts = 3;

}  // namespace

CertifiedRun train_to_proof(const Task& task, std::string_view model, const TrainOptions& options,
                            const std::function<void()>& on_step) {
  const auto start = std::chrono::steady_clock::now();
  CertifiedRun run;
  const auto untrained = make_model<float>(model, task, options.seed);
  if (std::string why = why_never_rounded(*untrained, task); !why.empty() && options.contract == 0) {
    run.record.rate = options.optimiser.learning_rate;
    run.record.seed = options.seed;
    run.record.end = "ruled out";
    run.rounds.rule_out(std::move(why));
    return run;
  }
  std::uint64_t steps = 0;
  std::vector<float> reached;
  for (std::uint64_t part = 0; part < kMaxParts; ++part) {
    TrainOptions own = options;
    own.seed += part << 32;  // another draw
    if (own.sample_seed) *own.sample_seed += part << 32;
    Trainer trainer(task, model, own, [&](SequenceModel<float>& begun) {
      if (part > 0) std::ranges::copy(reached, begun.parameters().begin());
    });
    while (trainer.state() == Trainer::State::kRunning) {
      run.rounds.before_step(trainer, task);
      if (run.rounds.is_proved()) break;
      trainer.step();
      if (on_step) on_step();
    }
    run.rounds.at_end(trainer, task);
    steps += trainer.steps();
    run.record = record_of(trainer, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (run.rounds.is_proved() || trainer.state() == Trainer::State::kDiverged) break;
    reached.assign(trainer.model().parameters().begin(), trainer.model().parameters().end());
  }
  run.record.seed = options.seed;
  run.record.steps = steps;
  return run;
}

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
  // Four vertices of a simplex take three reflections, five take four (close_reflections.h); with one more all of the
  // runs that the recipe was looked for with end in a proof.
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

struct Contracting {
  double decay = 0;  ///< of an LSTM's weights
  std::uint32_t units = 16;
  std::uint64_t steps = 3000;
};

/// Elman's cells learn a group that is not of order 2 on short words, at a smaller rate.
void add_contracting(std::vector<CertifiedCell>& cells, std::initializer_list<const char*> tasks,
                     const Contracting& how = {}) {
  for (const auto& [family, cell] : {std::pair("RNN", "rnn"), std::pair("GRU", "gru"), std::pair("LSTM", "lstm")})
    for (const char* task : tasks) {
      const std::string kind = cell;
      const bool is_slow =
          kind == "rnn" && (how.units > 16 || task == std::string("Z3") || task == std::string("S3/swaps"));
      TrainOptions training = is_slow ? steady({1, 10}, 3e-3, std::max<std::uint64_t>(6000, how.steps))
                                      : steady({1, 20}, kind == "gru" ? 5e-3 : 1e-2, how.steps);
      training.smoothing = 0;
      training.optimiser.clip = 1;
      training.optimiser.weight_decay = kind == "lstm" ? how.decay : 0;
      training.contract = 10;
      cells.push_back({std::string(family) + ", contracting", task,
                       fmt::format("{}:hidden={},inputs={}", cell, how.units, how.units), training, ""});
    }
}

}  // namespace

std::vector<CertifiedCell> certified_cells() {
  std::vector<CertifiedCell> cells;
  add_bilinear(cells);
  add_reflections(cells);
  add_blocks(cells);
  add_nonlinear(cells);
  add_contracting(cells, {"parity", "Z3", "S3/swaps", "regex:(a|b)*abb"});
  return cells;
}

std::vector<CertifiedCell> contracting_cells() {
  constexpr double kDecay = 0.3;  // a gate that shuts for good remembers one letter for ever: decay keeps it from that
  std::vector<CertifiedCell> cells;
  add_contracting(cells, {"parity", "Z3", "regex:(a|b)*abb", "tomita3", "tomita4", "tomita5", "tomita6", "tomita7"},
                  {.decay = kDecay});
  add_contracting(cells, {"Z5", "S3/swaps"}, {.decay = kDecay, .units = 32, .steps = 10'000});
  return cells;
}

}  // namespace krohn
