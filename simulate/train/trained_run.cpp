#include "krohn/simulate/train/trained_run.h"

#include <fmt/format.h>
#include <Eigen/Core>

#include <cmath>
#include <filesystem>
#include <set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"

namespace krohn {
namespace {

template <class Number>
Number number_of(const TensorFile& file, const char* key, const std::string& path) {
  const auto value = number_in<Number>(file.text(key));
  if (!value)
    throw InputError(path, fmt::format("its metadata \"{}\" is not a number; delete it, and it is trained again", key));
  return *value;
}

constexpr char kPlace[] = "place", kDevice[] = "device";

bool is_of_device(const TensorFile& file) { return file.text(kPlace) == kDevice; }

}  // namespace

RunRecord record_of(const Trainer& trainer, double seconds) {
  const BatchLoss& validation = trainer.validation();
  return {trainer.options().optimiser.learning_rate,
          trainer.options().seed,
          trainer.steps(),
          to_string(trainer.state()),
          validation.loss,
          validation.right,
          validation.targets,
          seconds};
}

OpenRun::OpenRun(const Task& task, std::string_view model, const TrainOptions& options, std::string checkpoint,
                 std::size_t beside, bool on_device)
    : trainer_(task, model, options), checkpoint_(std::move(checkpoint)), beside_(beside), on_device_(on_device) {
  if (!checkpoint_.empty() && std::filesystem::exists(checkpoint_)) {
    const TensorFile kept = read_safetensors(checkpoint_);
    before_ = number_of<double>(kept, "seconds", checkpoint_);
    on_device_ = on_device_ || is_of_device(kept);
    try {
      trainer_.resume(kept);
    } catch (const InputError& error) {
      throw InputError(checkpoint_, error.what());
    }
  }
  start_ = saved_ = std::chrono::steady_clock::now();
}

double OpenRun::seconds() const {
  const std::chrono::duration<double> here = std::chrono::steady_clock::now() - start_;
  return before_ + here.count() / static_cast<double>(beside_);
}

void OpenRun::save() {
  if (checkpoint_.empty() || trainer_.state() != Trainer::State::kRunning) return;
  TensorFile file = trainer_.checkpoint();
  file.metadata["seconds"] = fmt::format("{}", seconds());
  if (on_device_) file.metadata[kPlace] = kDevice;
  write_safetensors(file, checkpoint_);
  saved_ = std::chrono::steady_clock::now();
}

void OpenRun::save_now_and_then() {
  if (std::chrono::steady_clock::now() - saved_ > std::chrono::minutes(1)) save();
}

TrainedRun OpenRun::take() {
  TrainedRun run;
  run.record = record_of(trainer_, seconds());
  run.record.on_device = on_device_;
  run.model = trainer_.take_model();
  return run;
}

TrainedRun train_run(const Task& task, std::string_view model, const TrainOptions& options,
                     const std::function<void()>& on_step, const std::string& checkpoint) {
  OpenRun run(task, model, options, checkpoint);
  try {
    while (run.trainer().state() == Trainer::State::kRunning) {
      run.trainer().step();
      if (on_step) on_step();
      run.save_now_and_then();
    }
  } catch (...) {
    run.save();
    throw;
  }
  return run.take();
}

void save_trained_run(const TrainedRun& run, const std::string& task, const std::string& description,
                      const std::string& path) {
  const RunRecord& record = run.record;
  std::map<std::string, std::string> metadata{{"trained", description},
                                              {"rate", fmt::format("{}", record.rate)},
                                              {"seed", std::to_string(record.seed)},
                                              {"steps", std::to_string(record.steps)},
                                              {"end", record.end},
                                              {"validation_loss", fmt::format("{}", record.validation_loss)},
                                              {"right", std::to_string(record.right)},
                                              {"targets", std::to_string(record.targets)},
                                              {"seconds", fmt::format("{}", record.seconds)}};
  if (record.on_device) metadata[kPlace] = kDevice;
  save_model(task, *run.model, path, metadata);
}

TrainedRun load_trained_run(const std::string& description, const std::string& path) {
  const TensorFile file = read_safetensors(path);
  const std::string trained = file.text("trained");
  if (trained != description)
    throw InputError(
        path, fmt::format("holds another model (\"{}\", not \"{}\"); choose another folder", trained, description));
  return {
      {number_of<double>(file, "rate", path), number_of<std::uint64_t>(file, "seed", path),
       number_of<std::uint64_t>(file, "steps", path), file.text("end"),
       number_of<double>(file, "validation_loss", path), number_of<std::uint64_t>(file, "right", path),
       number_of<std::uint64_t>(file, "targets", path), number_of<double>(file, "seconds", path), is_of_device(file)},
      load_model(path).model};
}

namespace {

/// h ↦ A h + b of one letter, dense, in double.
struct AffineMap {
  Eigen::MatrixXd a;
  Eigen::VectorXd b;
};

AffineMap affine_map(const LinearModel& view, Letter letter) {
  const std::size_t hidden = view.hidden, block = view.block;
  AffineMap map{Eigen::MatrixXd::Zero(hidden, hidden), Eigen::VectorXd::Zero(hidden)};
  for (std::size_t row = 0; row < hidden; ++row)
    for (std::size_t column = 0; column < block; ++column)
      map.a(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(row / block * block + column)) =
          double{view.matrices[(letter * hidden + row) * block + column]};
  if (!view.additions.empty())
    for (std::size_t i = 0; i < hidden; ++i)
      map.b(static_cast<Eigen::Index>(i)) = double{view.additions[letter * hidden + i]};
  return map;
}

/// The letter's matrix with one more coordinate, which is sent to 0.
Matrix matrix_of(const LinearModel& view, const AffineMap& map) {
  const Eigen::Index hidden = map.a.rows(), block = view.block;
  if (block == hidden) {
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(hidden + 1, hidden + 1);
    dense.topLeftCorner(hidden, hidden) = map.a;
    return DenseMatrix{dense};
  }
  BlockDiagonalMatrix blocks;
  for (Eigen::Index first = 0; first < hidden; first += block)
    blocks.blocks.emplace_back(map.a.block(first, first, block, block));
  blocks.blocks.emplace_back(Eigen::MatrixXd::Zero(1, 1));
  return blocks;
}

}  // namespace

Network network_of(const SequenceModel<float>& model, const Task& task) {
  const FloatEnvironment environment;
  const std::optional<LinearModel> linear = model.linear_view();
  if (!linear)
    throw InputError(fmt::format("the model {} is not a linear recurrence with a linear read-out", model.name()));
  const LinearModel& view = *linear;
  const TaskAutomaton machine = input_machine(task);
  const Dfa& automaton = machine.automaton;
  const auto hidden = static_cast<Eigen::Index>(view.hidden);

  Layer layer;
  layer.dimension = view.hidden + 1;
  layer.labels = view.labels + 1;  // the last one: before the first letter
  layer.initial_label = view.labels;
  Eigen::VectorXd start(hidden);
  for (Eigen::Index i = 0; i < hidden; ++i) start(i) = double{view.initial[static_cast<std::size_t>(i)]};
  for (const Letter letter : machine.before) {
    const AffineMap map = affine_map(view, letter);
    start = (map.a * start + map.b).eval();
  }
  layer.initial = Eigen::MatrixXd::Zero(hidden + 1, 1);
  layer.initial.topRows(hidden) = start;

  Eigen::MatrixXd weights(view.labels, hidden);
  Eigen::VectorXd bias(view.labels);
  for (Eigen::Index l = 0; l < weights.rows(); ++l) {
    bias(l) = double{view.readout_bias[static_cast<std::size_t>(l)]};
    for (Eigen::Index i = 0; i < hidden; ++i)
      weights(l, i) = double{view.readout[static_cast<std::size_t>(l * hidden + i)]};
  }
  for (auto letter = machine.after.rbegin(); letter != machine.after.rend(); ++letter) {
    const AffineMap map = affine_map(view, *letter);
    bias += weights * map.b;
    weights = (weights * map.a).eval();
  }
  const Eigen::VectorXd needed = 2 * bias + weights.rowwise().squaredNorm();
  for (Eigen::Index l = 0; l < weights.rows(); ++l) {
    Eigen::MatrixXd codeword(hidden + 1, 1);
    codeword.topRows(hidden) = weights.row(l).transpose();
    codeword(hidden, 0) = std::sqrt(needed.maxCoeff() - needed(l));
    layer.decoder.codewords.push_back(codeword);
    layer.decoder.label_of.push_back(static_cast<Label>(l));
    layer.decoder.book.push_back(1);
  }
  // Book 0 decodes before the first letter only: there H is H_0.
  layer.decoder.codewords.push_back(layer.initial);
  layer.decoder.label_of.push_back(layer.initial_label);
  layer.decoder.book.push_back(0);
  layer.book_of_context.assign(automaton.letters(), 1);
  for (Letter letter = 0; letter < automaton.letters(); ++letter) {
    const AffineMap map = affine_map(view, machine.inputs[letter]);
    Transition transition{matrix_of(view, map), {}};
    if (!view.additions.empty()) {
      transition.b = Eigen::MatrixXd::Zero(hidden + 1, 1);
      transition.b.topRows(hidden) = map.b;
    }
    layer.transitions.push_back(std::move(transition));
    layer.wiring.action_of.push_back(letter);
  }

  std::vector<Context> state_of(layer.labels, kNoContext);
  state_of[layer.initial_label] = automaton.initial();
  std::set<State> reached;
  for (State state = 0; state < automaton.states(); ++state)
    for (const State target : automaton.row(state)) reached.insert(target);
  for (const State state : reached) {
    Context& known = state_of[automaton.output(state)];
    if (known != kNoContext && known != state)
      throw InputError(
          fmt::format("task {}: states {} and {} give the same answer \"{}\", so the model's answers do not say "
                      "which state it is in",
                      task.info().name, automaton.state_name(known), automaton.state_name(state),
                      automaton.output_names()[automaton.output(state)]));
    known = state;
  }
  Network network{automaton, {std::move(layer)}, {{state_of}}, {}};
  network.provenance = {"trained", task.info().name, view.source,
                        fmt::format("{}, nearest codewords in place of its read-out", model.name())};
  validate(network);
  return network;
}

}  // namespace krohn
