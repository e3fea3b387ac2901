#include "krohn/simulate/learned/state_centres.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "krohn/automata/dfa/graph.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/learned/linear_systems.h"
#include "krohn/simulate/words/word.h"

namespace krohn {
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
