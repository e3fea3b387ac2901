#include "simulate/evaluate_model.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <set>

#include "groups/error.h"

namespace krohn {
namespace {

using Model = BilinearModel<float>;

/// Letters after which the norm of a state is kept: about as many as models are trained on.
constexpr std::uint64_t kSettled = 8;

/// One state read letter by letter.
class ModelState {
 public:
  ModelState(const Model& model, const Model::Letters& letters, bool normalise)
      : model_(model),
        letters_(letters),
        normalise_(normalise),
        state_(model.initial_state().begin(), model.initial_state().end()),
        next_(state_) {}

  void read(Letter letter) {
    const std::size_t hidden = state_.size(), block = model_.shape().block_size();
    const float* a = letters_.matrices.data() + letter * hidden * block;
    for (std::size_t first = 0; first < hidden; first += block)
      for (std::size_t row = 0; row < block; ++row, a += block) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t column = 0; column < block; ++column) sum += a[column] * state_[first + column];
        next_[first + row] = sum;
      }
    if (!letters_.additions.empty())
      for (std::size_t i = 0; i < hidden; ++i) next_[i] += letters_.additions[letter * hidden + i];
    state_.swap(next_);
    if (normalise_) normalise();
  }

  /// The arg max; a tie or a number that is not finite is no label.
  std::uint32_t label() const {
    const std::size_t hidden = state_.size();
    std::uint32_t best = 0;
    float greatest = -INFINITY;
    for (std::uint32_t l = 0; l < model_.labels(); ++l) {
      float logit = model_.readout_bias()[l];
      for (std::size_t i = 0; i < hidden; ++i) logit += model_.readout()[l * hidden + i] * state_[i];
      if (!std::isfinite(logit)) return UINT32_MAX;
      if (logit > greatest) greatest = logit, best = l;
    }
    return best;
  }

 private:
  void normalise() {
    double sum = 0;
    for (const float x : state_) sum += double{x} * x;
    if (++read_ <= kSettled) norm_ = std::sqrt(sum);
    const auto scale = static_cast<float>(norm_ / std::sqrt(sum));
    for (float& x : state_) x *= scale;
  }

  const Model& model_;
  const Model::Letters& letters_;
  bool normalise_;
  std::uint64_t read_ = 0;
  double norm_ = 1;
  std::vector<float> state_, next_;
};

bool is_special(const std::string& name) {
  return name == "[BOS]" || name == "[EOI]" || name == "=" || name == "[PAD]";
}

}  // namespace

Interval confidence(std::uint64_t right, std::uint64_t all) {
  if (all == 0) return {};
  const double z = 1.959963984540054, n = static_cast<double>(all), p = static_cast<double>(right) / n;
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

double scaled(double accuracy, double chance) { return (accuracy - chance) / (1 - chance); }

ModelAccuracy evaluate_model(const Model& model, const Task& task, std::uint64_t length,
                             const EvaluateModelOptions& options) {
  const Model::Letters letters = model.letter_matrices();
  const bool normalise = options.normalise && letters.additions.empty();
  ModelAccuracy result{length, options.words, 0, 0, 0};
  std::uint64_t right = 0, targets = 0, right_words = 0;
  std::atomic<std::uint64_t> done = 0;
  std::exception_ptr error;
  const int threads = options.threads == 0 ? omp_get_max_threads() : static_cast<int>(options.threads);
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(+ : right, targets, right_words)
  for (std::int64_t word = 0; word < static_cast<std::int64_t>(options.words); ++word) {
    try {
      ModelState state(model, letters, normalise);
      const auto stream = task.open(length, options.seed, static_cast<std::uint64_t>(word));
      std::uint64_t wrong = 0, read = 0;
      while (const auto token = stream->next()) {
        state.read(token->letter);
        if (++read % (1 << 14) == 0 && options.progress && omp_get_thread_num() == 0)
          options.progress(done + read, options.words * length);
        if (!token->target) continue;
        ++targets;
        if (state.label() == *token->target)
          ++right;
        else
          ++wrong;
      }
      done += read;
      right_words += wrong == 0;
    } catch (...) {
#pragma omp critical
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  result.right = right;
  result.targets = targets;
  result.right_words = right_words;
  return result;
}

namespace {

/// The task's automaton over its input letters alone, and what stands before and after them.
struct InputMachine {
  Dfa automaton;
  std::vector<Letter> inputs;  ///< letter of the automaton ↦ letter of the task
  std::vector<Letter> before, after;
};

InputMachine input_machine(const Task& task) {
  const Dfa* const oracle = task.oracle();
  if (oracle == nullptr)
    throw InputError(
        fmt::format("task {} has no finite automaton, so there is nothing to verify against", task.info().name));
  std::vector<Letter> inputs;
  std::vector<Symbol> symbols;
  for (Letter letter = 0; letter < oracle->letters(); ++letter)
    if (!is_special(oracle->alphabet().name(letter))) {
      inputs.push_back(letter);
      symbols.push_back(oracle->alphabet()[letter]);
    }
  std::vector<State> table;
  for (State state = 0; state < oracle->states(); ++state)
    for (const Letter letter : inputs) table.push_back(oracle->next(state, letter));
  InputMachine machine{Dfa::moore(Alphabet::from_symbols(std::move(symbols)), std::move(table), oracle->initial(),
                                  {oracle->outputs().begin(), oracle->outputs().end()},
                                  {oracle->output_names().begin(), oracle->output_names().end()}),
                       std::move(inputs),
                       {},
                       {}};
  // The special tokens that stand around the shortest sample, up to its last answer.
  const std::vector<TaskToken> sample = task.sample(task.info().least_length, 1, 0);
  const auto special = [&](const TaskToken& token) { return is_special(oracle->alphabet().name(token.letter)); };
  std::size_t first = 0, answered = 0;
  while (first < sample.size() && special(sample[first])) machine.before.push_back(sample[first++].letter);
  for (std::size_t i = 0; i < sample.size(); ++i)
    if (sample[i].target) answered = i;
  for (std::size_t i = first; i <= answered; ++i)
    if (special(sample[i])) machine.after.push_back(sample[i].letter);
  return machine;
}

/// h ↦ A h + b of one letter, dense, in double.
struct AffineMap {
  Eigen::MatrixXd a;
  Eigen::VectorXd b;
};

AffineMap affine_map(const Model& model, const Model::Letters& letters, Letter letter) {
  const std::size_t hidden = model.shape().hidden, block = model.shape().block_size();
  AffineMap map{Eigen::MatrixXd::Zero(hidden, hidden), Eigen::VectorXd::Zero(hidden)};
  for (std::size_t row = 0; row < hidden; ++row)
    for (std::size_t column = 0; column < block; ++column)
      map.a(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(row / block * block + column)) =
          double{letters.matrices[(letter * hidden + row) * block + column]};
  if (!letters.additions.empty())
    for (std::size_t i = 0; i < hidden; ++i)
      map.b(static_cast<Eigen::Index>(i)) = double{letters.additions[letter * hidden + i]};
  return map;
}

/// The letter's matrix with one more coordinate, which is sent to 0.
Matrix matrix_of(const Model& model, const AffineMap& map) {
  const Eigen::Index hidden = map.a.rows(), block = model.shape().block_size();
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

Network network_of(const Model& model, const Task& task) {
  const InputMachine machine = input_machine(task);
  const Dfa& automaton = machine.automaton;
  const auto hidden = static_cast<Eigen::Index>(model.shape().hidden);
  const Model::Letters letters = model.letter_matrices();

  Layer layer;
  layer.dimension = model.shape().hidden + 1;
  layer.labels = model.labels() + 1;  // the last one: before the first letter
  layer.initial_label = model.labels();
  Eigen::VectorXd start(hidden);
  for (Eigen::Index i = 0; i < hidden; ++i) start(i) = double{model.initial_state()[static_cast<std::size_t>(i)]};
  for (const Letter letter : machine.before) {
    const AffineMap map = affine_map(model, letters, letter);
    start = (map.a * start + map.b).eval();
  }
  layer.initial = Eigen::MatrixXd::Zero(hidden + 1, 1);
  layer.initial.topRows(hidden) = start;

  Eigen::MatrixXd weights(model.labels(), hidden);
  Eigen::VectorXd bias(model.labels());
  for (Eigen::Index l = 0; l < weights.rows(); ++l) {
    bias(l) = double{model.readout_bias()[static_cast<std::size_t>(l)]};
    for (Eigen::Index i = 0; i < hidden; ++i)
      weights(l, i) = double{model.readout()[static_cast<std::size_t>(l * hidden + i)]};
  }
  for (auto letter = machine.after.rbegin(); letter != machine.after.rend(); ++letter) {
    const AffineMap map = affine_map(model, letters, *letter);
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
    const AffineMap map = affine_map(model, letters, machine.inputs[letter]);
    Transition transition{matrix_of(model, map), {}};
    if (!letters.additions.empty()) {
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
  network.provenance = {"trained", task.info().name, "Ebrahimi & Memisevic 2025, eq. 2", to_string(model.shape())};
  validate(network);
  return network;
}

}  // namespace krohn
