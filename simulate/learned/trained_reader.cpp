#include "krohn/simulate/learned/trained_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "krohn/automata/dfa/graph.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/token_layers.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "krohn/simulate/operations/stated_lists.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/words/word.h"

namespace krohn {
namespace {

/// A model's list of operations.
class Machine : public TrainedReader {
 public:
  Machine(ListedModel model, const SequenceModel<float>& trained)
      : model_(std::move(model)),
        tensors_(trained.tensors()),
        reader_(operations_reader(model_.operations, tensors_)),
        is_homogeneous_(krohn::is_homogeneous(model_, tensors_, trained.letters())) {}

  Letter letters() const override { return reader_->letters(); }
  Answer answer_at_start() const override { return reader_->answer_at_start(); }
  Memory start() const override { return reader_->start(); }
  Answer step(Letter letter, Memory& memory, bool asked) const override { return reader_->step(letter, memory, asked); }
  void step_many(std::span<const Letter> letters, std::span<Memory> memories, bool asked,
                 std::span<Answer> answers) const override {
    reader_->step_many(letters, memories, asked, answers);
  }

  const Operations* operations() const override { return &model_.operations; }
  const TensorFile* tensors() const override { return &tensors_; }
  bool is_homogeneous() const override { return is_homogeneous_; }
  std::vector<StateBlock> blocks() const override { return model_.blocks; }
  LetterMaps letter_maps(Letter letter) const override {
    return krohn::letter_maps(model_, tensors_, model_.operations.tokens[letter]);
  }
  std::vector<std::vector<double>> states(const Memory& memory) const override {
    const std::vector<double> numbers = reader_->numbers(memory);
    std::vector<std::vector<double>> parts;
    for (const StatePart& part : model_.states) {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(part.first);
      parts.emplace_back(first, first + static_cast<std::ptrdiff_t>(part.count));
    }
    return parts;
  }

 private:
  ListedModel model_;
  TensorFile tensors_;
  std::unique_ptr<OperationsReader> reader_;
  bool is_homogeneous_;
};

/// No scales: to norm 1.
Eigen::VectorXd scaled(const StateVisit& visit, const std::vector<double>& scales) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < visit.parts.size(); ++i)
    for (const double x : visit.parts[i]) numbers.push_back(!scales.empty() && scales[i] > 0 ? x / scales[i] : x);
  Eigen::VectorXd point = Eigen::Map<const Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
  if (!point.allFinite()) throw InputError("the model's numbers leave the range of fp64 within a few letters");
  if (scales.empty()) point.stableNormalize();
  return point;
}

/// By part: the root mean square of its norm.
std::vector<double> scales_of(const std::vector<StateVisit>& visits) {
  std::vector<double> scales(visits.empty() ? 0 : visits[0].parts.size(), 0);
  for (const StateVisit& visit : visits)
    for (std::size_t i = 0; i < scales.size(); ++i)
      for (const double x : visit.parts[i]) scales[i] += x * x;
  for (double& scale : scales) {
    scale = std::sqrt(scale / static_cast<double>(visits.size()));
    if (!std::isfinite(scale)) throw InputError("the model's numbers leave the range of fp64 within a few letters");
  }
  return scales;
}

void require_format(const SequenceModel<float>& model, Precision precision) {
  if (precision == Precision::kFp32 || precision == Precision::kFp64 ||
      (precision == Precision::kBf16 && is_cell_model(model)))
    return;
  throw InputError(
      "a trained model is read in fp32 or fp64, and one of nonlinear cells in bf16 too; take --precision "
      "fp32");
}

}  // namespace

std::unique_ptr<TrainedReader> trained_machine(const SequenceModel<float>& model, const Task& task,
                                               Precision precision) {
  const FloatEnvironment environment;
  if (task.alphabet().size() != model.letters() || task.labels().size() != model.labels())
    throw InputError(fmt::format("the model has {} and {}, and the task {} has {} and {}",
                                 counted(model.letters(), "letter"), counted(model.labels(), "answer"),
                                 task.info().name, task.alphabet().size(), task.labels().size()));
  require_format(model, precision);
  return std::make_unique<Machine>(listed_model(model, task, precision), model);
}

ReadModel subject_of(std::shared_ptr<const TrainedReader> machine, const Task& task, const Dfa* language,
                     std::uint64_t least_length) {
  struct Owner {
    std::shared_ptr<const TrainedReader> machine;
    Dfa own;
    TrackedAutomaton tracked;
  };
  const Dfa own = input_machine(task).automaton;
  const auto owner = std::make_shared<const Owner>(
      Owner{std::move(machine), own, tracked_automaton(task, language == nullptr ? own : *language, least_length)});
  const TrainedReader& reader = *owner->machine;
  const auto name_of = [&names = owner->own](Output output) { return names.output_names()[output]; };
  return {.reader = reader,
          .tracked = owner->tracked,
          .name_of = name_of,
          .operations = {owner, reader.operations()},
          .tensors = reader.tensors(),
          .close_regions = &close_regions,
          .owner = owner};
}

TrainedLogits trained_logits(const SequenceModel<float>& model, Precision precision) {
  const FloatEnvironment environment;
  require_format(model, precision);
  const auto listed = std::make_shared<const ListedModel>(listed_model(model, precision));
  const auto logits_of = [&]<class Real>(Real) -> TrainedLogits {
    return [listed, start = StatedLists<Real>(listed->operations, model.tensors())](std::span<const Letter> word,
                                                                                    std::span<double> logits) {
      const FloatEnvironment here;
      StatedLists<Real> lists = start;
      std::vector<Real> memory = lists.start();
      auto to = logits.begin();
      for (const Letter letter : word) {
        lists.read_token(letter);
        lists.read_memory(memory);
        memory = lists.kept();
        to = std::ranges::copy(lists.values(listed->operations.logits), to).out;
      }
    };
  };
  return precision == Precision::kFp64 ? logits_of(double{}) : logits_of(float{});
}

Contraction measured_contraction(const SequenceModel<float>& model, const Task& task) {
  constexpr std::size_t kBefore = 12, kSoon = 8, kLate = 24, kMaxDirections = 32, kWide = 64;
  constexpr double kStep = 1e-4;
  const FloatEnvironment environment;
  const Operations operations = model_operations(model, task, Precision::kFp64);
  StatedLists<double> lists(operations, model.tensors());
  const auto read = [&](std::uint32_t token, std::vector<std::vector<double>>& memories) {
    lists.read_token(token);
    for (std::vector<double>& memory : memories) {
      lists.read_memory(memory);
      memory = lists.kept();
    }
  };
  std::vector<std::vector<double>> start{lists.start()};
  for (const std::uint32_t token : operations.before) read(token, start);
  const auto size = static_cast<Eigen::Index>(start[0].size());
  Random random(1);
  Eigen::MatrixXd directions = Eigen::MatrixXd::Identity(size, size);
  if (start[0].size() > kMaxDirections) {
    directions.resize(size, kMaxDirections);
    fill_normal(std::span(directions.data(), static_cast<std::size_t>(directions.size())), random);
    directions = orthonormal_basis(directions);
  }

  Contraction result;
  result.words = start[0].size() > kWide ? 8 : 32;
  for (std::uint64_t i = 0; i < result.words; ++i) {
    std::vector<std::uint32_t> word(kBefore + kLate);
    const std::size_t period = i % 4 == 1 ? 1 + random.below(6) : word.size(),
                      times = i % 4 == 2 ? 1 + random.below(6) : 1, held = i % 4 == 3 ? kBefore : word.size();
    for (std::size_t t = 0; t < word.size(); ++t)
      word[t] = t == held                    ? operations.tokens[i / 4 % operations.tokens.size()]
                : t >= period                ? word[t - period]
                : t > held || t % times != 0 ? word[t - 1]
                                             : operations.tokens[random.below(operations.tokens.size())];
    std::vector<std::vector<double>> memories = start;
    for (std::size_t t = 0; t < kBefore; ++t) read(word[t], memories);
    const std::vector<double> middle = memories[0];
    memories.clear();
    for (Eigen::Index j = 0; j < directions.cols(); ++j)
      for (const double step : {kStep, -kStep}) {
        memories.push_back(middle);
        for (std::size_t k = 0; k < middle.size(); ++k)
          memories.back()[k] += step * directions(static_cast<Eigen::Index>(k), j);
      }
    for (std::size_t t = 1; t <= kLate; ++t) {
      read(word[kBefore + t - 1], memories);
      if (t != kSoon && t != kLate) continue;
      Eigen::MatrixXd apart(size, directions.cols());
      for (Eigen::Index j = 0; j < apart.cols(); ++j)
        for (Eigen::Index k = 0; k < size; ++k) {
          const auto at = static_cast<std::size_t>(k), of = 2 * static_cast<std::size_t>(j);
          apart(k, j) = (memories[of][at] - memories[of + 1][at]) / (2 * kStep);
        }
      double& worst = t == kSoon ? result.after_8 : result.after_24;
      worst = apart.allFinite() ? std::max(worst, thin_singular_values(apart).values(0)) : INFINITY;
    }
  }
  return result;
}

Extraction extract_trained(const TrainedReader& machine, const Task& task, const ExtractOptions& options,
                           std::uint64_t least_length) {
  const Dfa own = input_machine(task).automaton;
  const TrackedAutomaton tracked = tracked_automaton(task, own, least_length);
  std::vector<std::string> names(own.output_names().begin(), own.output_names().end());
  const auto none = static_cast<Output>(names.size());
  names.emplace_back(kNoAnswerName);
  const ProvingPlace here;
  const ProvingPlace& place = options.place == nullptr ? here : *options.place;
  const WordReading reading = place.word_reading(machine.reading(tracked), options.threads);
  // Words of any letters: where the task does not ask, its automaton answers.
  const WordsOracle ask = [&](std::span<const Word> words, const Heard& heard) {
    struct Place {
      State state;
      std::size_t next = 0;  ///< letters after which nothing is said yet
      bool is_wanted = true;
    };
    std::vector<Place> places(words.size(), {own.initial()});
    const auto say = [&](std::size_t word, const auto& output_in) {
      Place& at = places[word];
      if (at.next > 0) at.state = own.next(at.state, words[word][at.next - 1]);
      at.is_wanted = heard(word, at.next++, output_in(at.state));
      return at.is_wanted;
    };
    const auto own_output = [&](State state) { return own.output(state); };
    reading(words, [&](std::size_t word, std::size_t, State state, Output answer) {
      if (!tracked.is_asked(state)) return say(word, own_output);
      return say(word, [&](State) { return std::min(machine.meaning(answer), none); });
    });
    for (std::size_t word = 0; word < words.size(); ++word)
      while (places[word].is_wanted && places[word].next <= words[word].size()) say(word, own_output);
  };
  Extraction extraction = extract_by_asking(own.alphabet(), names, ask, options);
  extraction.automaton = without_last_output(extraction.automaton);
  return extraction;
}

std::vector<StateVisit> state_visits(const TrainedReader& machine, const Task& task, const Dfa& automaton,
                                     const CentreOptions& options) {
  const TrackedAutomaton tracked = tracked_automaton(task, input_machine(task).automaton);
  std::vector<StateVisit> visits;
  Random random(options.seed);
  for (std::uint64_t word = 0; word < options.words; ++word) {
    ReaderRun run(machine, tracked);
    State state = automaton.initial();
    for (const Letter letter : random_tracked_word(tracked, options.length, random)) {
      run.read(letter);
      const State from = std::exchange(state, automaton.next(state, letter));
      visits.push_back({from, letter, state, run.is_asked(), machine.states(run.memory())});
    }
  }
  return visits;
}

StateCentres trained_centres(const TrainedReader& machine, const Task& task, const Dfa& automaton,
                             const CentreOptions& options) {
  const FloatEnvironment environment;
  const std::vector<StateVisit> visits = state_visits(machine, task, automaton, options);
  const std::vector<double> scales = machine.is_homogeneous() ? std::vector<double>() : scales_of(visits);
  StateCentres result;
  result.is_scaled = true;
  const std::vector<Word> access = access_words(automaton);
  for (State state = 0; state < automaton.states(); ++state) {
    LetterReader::Memory memory = machine.start();
    for (const Letter letter : access[state]) machine.step(letter, memory, false);
    const Eigen::VectorXd numbers = scaled({state, {}, state, false, machine.states(memory)}, scales);
    if (state == 0) result.centres.resize(numbers.size(), automaton.states());
    result.centres.col(state) = numbers;
  }
  std::vector<double> counts(automaton.states(), 0);
  for (const StateVisit& visit : visits) {
    if (counts[visit.state]++ == 0) result.centres.col(visit.state).setZero();
    result.centres.col(visit.state) += scaled(visit, scales);
  }
  for (State state = 0; state < automaton.states(); ++state)
    if (counts[state] > 0) result.centres.col(state) /= counts[state];
  for (const StateVisit& visit : visits)
    result.spread = std::max(result.spread, (scaled(visit, scales) - result.centres.col(visit.state)).norm());
  return result;
}

Spectrum trained_spectrum(const TrainedReader& machine, const Task& task) {
  const FloatEnvironment environment;
  const Dfa own = input_machine(task).automaton;
  const Eigen::MatrixXd means = trained_centres(machine, task, own).centres;
  const Eigen::MatrixXd code = means.colwise() - means.rowwise().mean();
  LetterBlocks given;
  for (Letter letter = 0; letter < own.letters(); ++letter)
    given.matrices.push_back(machine.letter_maps(letter).matrices);
  // The first layer's numbers come first, in the memory and in the means.
  const auto columns_of = [](const Eigen::MatrixXd& numbers, const StateBlock& block) {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto size = static_cast<Eigen::Index>(block.size), columns = static_cast<Eigen::Index>(block.columns);
    Eigen::MatrixXd all(size, columns * numbers.cols());
    for (Eigen::Index i = 0; i < numbers.cols(); ++i) {
      const Eigen::VectorXd own_numbers =
          numbers.col(i).segment(static_cast<Eigen::Index>(block.first), size * columns);
      all.middleCols(i * columns, columns) = Eigen::Map<const Rows>(own_numbers.data(), size, columns);
    }
    return all;
  };
  for (const StateBlock& block : machine.blocks()) {
    const auto size = static_cast<Eigen::Index>(block.size);
    given.readers.emplace_back(Eigen::MatrixXd::Identity(size, size));
    given.states.push_back(columns_of(code, block));
    given.code.push_back(given.states.back());
  }
  return spectrum(given);
}

namespace {

bool is_without_additions(const Network& network) {
  return network.layers.size() == 1 &&
         std::ranges::all_of(network.layers[0].transitions, [](const Transition& t) { return t.b.size() == 0; });
}

/// The network's numbers now, scaled if they are to be.
class Visit {
 public:
  Visit(const Network& network, ArithmeticName arithmetic, bool is_scaled)
      : evaluator_(make_evaluator(network, arithmetic)), is_scaled_(is_scaled) {}

  Evaluator& evaluator() { return *evaluator_; }

  Eigen::VectorXd numbers() const {
    const std::vector<double> all = evaluator_->numbers();
    Eigen::VectorXd numbers = Eigen::Map<const Eigen::VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
    if (!numbers.allFinite())
      throw InputError("the network's numbers leave the range of the arithmetic within a few letters");
    const double norm = numbers.norm();
    if (is_scaled_ && norm > 0) numbers /= norm;
    return numbers;
  }

 private:
  std::unique_ptr<Evaluator> evaluator_;
  bool is_scaled_;
};

Eigen::MatrixXd centred(const Eigen::MatrixXd& points) { return points.colwise() - points.rowwise().mean(); }

void require_same_letters(const Network& network, const Dfa& automaton) {
  if (!(network.automaton.alphabet() == automaton.alphabet()))
    throw InputError("the network and the automaton have different letters");
}

Eigen::MatrixXd numbers_after_shortest_words(Visit& visit, const Dfa& automaton) {
  visit.evaluator().reset();
  Eigen::MatrixXd numbers(visit.numbers().size(), automaton.states());
  const std::vector<Word> access = access_words(automaton);
  for (State state = 0; state < automaton.states(); ++state) {
    visit.evaluator().reset();
    for (const Letter letter : access[state]) visit.evaluator().step(letter);
    numbers.col(state) = visit.numbers();
  }
  return numbers;
}

}  // namespace

std::vector<Word> access_words(const Dfa& automaton) {
  const ShortestWords shortest(automaton);
  std::vector<Word> words;
  for (State state = 0; state < automaton.states(); ++state) words.push_back(shortest.to(state).value_or(Word()));
  return words;
}

double least_distance(const Eigen::MatrixXd& points) {
  if (points.cols() < 2 || points.rows() == 0) return 0;
  if (!points.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  Eigen::Index row = 0;
  (points.colwise() - points.rowwise().mean()).rowwise().squaredNorm().maxCoeff(&row);
  std::vector<Eigen::Index> sorted(static_cast<std::size_t>(points.cols()));
  std::iota(sorted.begin(), sorted.end(), Eigen::Index{0});
  std::ranges::sort(sorted, {}, [&](Eigen::Index column) { return points(row, column); });
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < sorted.size(); ++i)
    for (std::size_t j = i + 1; j < sorted.size(); ++j) {
      if (!(points(row, sorted[j]) - points(row, sorted[i]) < least)) break;  // nor any that come after
      least = std::min(least, (points.col(sorted[i]) - points.col(sorted[j])).norm());
    }
  return least;
}

Eigen::MatrixXd reached_numbers(const Network& network, const Dfa& automaton, ArithmeticName arithmetic) {
  const FloatEnvironment environment;
  require_same_letters(network, automaton);
  Visit visit(network, arithmetic, false);
  return numbers_after_shortest_words(visit, automaton);
}

StateCentres state_centres(const Network& network, const Dfa& automaton, ArithmeticName arithmetic,
                           const CentreOptions& options) {
  const FloatEnvironment environment;
  require_same_letters(network, automaton);
  StateCentres result;
  result.is_scaled = is_without_additions(network);
  Visit visit(network, arithmetic, result.is_scaled);
  std::vector<std::vector<Eigen::VectorXd>> visits(automaton.states());
  for (std::uint64_t word = 0; automaton.letters() > 0 && word < options.words; ++word) {
    visit.evaluator().reset();
    State state = automaton.initial();
    for (const Letter letter : RandomWord(automaton.letters(), options.seed, word).slice(0, options.length)) {
      visit.evaluator().step(letter);
      state = automaton.next(state, letter);
      visits[state].push_back(visit.numbers());
    }
  }
  result.centres = numbers_after_shortest_words(visit, automaton);
  for (State state = 0; state < automaton.states(); ++state) {
    if (visits[state].empty()) continue;
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(result.centres.rows());
    for (const Eigen::VectorXd& numbers : visits[state]) sum += numbers;
    const Eigen::VectorXd centre = sum / static_cast<double>(visits[state].size());
    result.centres.col(state) = centre;
    for (const Eigen::VectorXd& numbers : visits[state])
      result.spread = std::max(result.spread, (numbers - centre).norm());
  }
  return result;
}

std::vector<LetterError> letter_errors(const Network& network, const Dfa& automaton, const StateCentres& centres) {
  const FloatEnvironment environment;
  if (network.layers.size() != 1) throw InputError("only the letters of a network of one layer can be compared");
  const Layer& layer = network.layers[0];
  std::vector<LetterError> errors;
  for (Letter letter = 0; letter < automaton.letters(); ++letter) {
    const Transition& transition = layer.transitions[layer.wiring.action_of[letter]];
    const Eigen::MatrixXd a = to_dense(transition.a).cast<double>();
    Eigen::MatrixXd done(centres.centres.rows(), centres.centres.cols()), said(done);
    for (State state = 0; state < automaton.states(); ++state) {
      const Eigen::Map<const Eigen::MatrixXd> h(centres.centres.col(state).data(), layer.dimension, layer.columns);
      Eigen::MatrixXd next = a * h;
      if (transition.b.size() > 0) next += transition.b;
      done.col(state) = next.reshaped();
      said.col(state) = centres.centres.col(automaton.next(state, letter));
    }
    LetterError error;
    if (centres.is_scaled) error.scale = (said.array() * done.array()).sum() / said.squaredNorm();
    error.distance = (done - error.scale * said).norm() / (std::abs(error.scale) * said.norm());
    errors.push_back(error);
  }
  return errors;
}

double explained_share(const Eigen::MatrixXd& centres, const Eigen::MatrixXd& code) {
  const Eigen::MatrixXd wanted = centred(centres), given = centred(code);
  if (wanted.squaredNorm() == 0) return 1;
  // T K ≈ C: least squares for Tᵀ in Kᵀ Tᵀ ≈ Cᵀ.
  const Eigen::MatrixXd map = least_squares(given.transpose(), wanted.transpose(), 1e-9);
  return 1 - (wanted.transpose() - given.transpose() * map).squaredNorm() / wanted.squaredNorm();
}

}  // namespace krohn
