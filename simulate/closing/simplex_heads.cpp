#include "krohn/simulate/closing/simplex_heads.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "krohn/constructions/actions/congruence.h"
#include "krohn/groups/permutations/transpositions.h"
#include "krohn/groups/random.h"
#include "krohn/groups/transformations/transformation.h"
#include "krohn/simulate/closing/dyadic_roots.h"
#include "krohn/simulate/closing/point_moves.h"
#include "krohn/simulate/closing/state_code.h"
#include "krohn/simulate/learned/linear_systems.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

bool goes_on(const TrackedAutomaton& tracked, State state) {
  return tracked.wanted[state] != TrackedAutomaton::kNoSuchWord;
}

/// The numbers of a state side by side, column after column, and 1: so letters are linear.
VectorXd with_one(const MatrixXd& state) {
  VectorXd numbers(state.size() + 1);
  numbers << state.reshaped(), 1.0;
  return numbers;
}

MatrixXd letter_matrix(const LetterOfHead& letter, Index keys, Index values) {
  MatrixXd turn = MatrixXd::Identity(keys, keys), shift = MatrixXd::Zero(keys, values);
  for (const HeadReflection& part : letter.reflections) {
    turn -= part.beta * part.key * (part.key.transpose() * turn).eval();
    shift += part.beta * part.key * (part.value.transpose() - (part.key.transpose() * shift).eval());
  }
  MatrixXd matrix = MatrixXd::Zero(keys * values + 1, keys * values + 1);
  for (Index v = 0; v < values; ++v) {
    matrix.block(v * keys, v * keys, keys, keys) = turn;
    matrix.col(keys * values).segment(v * keys, keys) = shift.col(v);
  }
  matrix(keys * values, keys * values) = 1;
  return matrix;
}

/// What the model is given of a state, up to a factor, letter by letter of those that ask: each number of it and its
/// negative, so that no difference of logits but theirs counts.
MatrixXd reads_of(const Head& head, const TaskAutomaton& input, Index keys, Index values) {
  const Index each = head.out.rows(), half = static_cast<Index>(input.inputs.size()) * each;
  MatrixXd reads = MatrixXd::Zero(2 * half, keys * values + 1);
  for (std::size_t letter = 0; letter < input.inputs.size(); ++letter)
    for (Index v = 0; v < values; ++v)
      reads.block(static_cast<Index>(letter) * each, v * keys, each, keys) =
          head.out.col(v) * head.letters[input.inputs[letter]].query.transpose();
  reads.bottomRows(half) = -reads.topRows(half);
  return reads;
}

Point place_of_one(const Eigen::Ref<const VectorXd>& column) {
  Index place = 0;
  column.maxCoeff(&place);
  return static_cast<Point>(place);
}

struct LearnedPoints {
  LearnedCode code;
  std::vector<std::uint32_t> point_of;  ///< state ↦ point
};

LearnedPoints learned_points(const Head& head, const TaskAutomaton& input, const TrackedAutomaton& tracked, Index keys,
                             Index values) {
  constexpr int kWords = 1000, kLetters = 12;
  const Dfa& automaton = tracked.automaton;
  LearnedPoints learned{{}, std::vector<std::uint32_t>(automaton.states(), kNoPoint)};
  for (const Letter letter : input.inputs)
    learned.code.letters.push_back(letter_matrix(head.letters[letter], keys, values));
  std::vector<VectorXd> sums(automaton.states());
  std::vector<double> counts(automaton.states(), 0);
  VectorXd start = with_one(MatrixXd::Zero(keys, values));
  for (const Letter letter : input.before) start = letter_matrix(head.letters[letter], keys, values) * start;
  const auto add = [&](State state, const VectorXd& numbers) {
    if (counts[state] == 0) sums[state] = VectorXd::Zero(numbers.size());
    sums[state] += numbers;
    counts[state] += 1;
  };
  Random random(1);
  std::vector<Letter> open;
  for (int word = 0; word < kWords; ++word) {
    VectorXd numbers = start;
    State state = automaton.initial();
    for (int i = 0; i < kLetters; ++i) {
      open.clear();
      for (Letter letter = 0; letter < automaton.letters(); ++letter)
        if (goes_on(tracked, automaton.next(state, letter))) open.push_back(letter);
      if (open.empty()) break;
      const Letter letter = open[random.below(open.size())];
      state = automaton.next(state, letter);
      numbers = learned.code.letters[letter] * numbers;
      add(state, numbers);
    }
  }
  if (counts[automaton.initial()] == 0) add(automaton.initial(), start);
  // A state that no letter leads to is taken for its like: where the head stands before a word is for us to choose.
  std::vector<LearnedCode::Move> all;
  for (State state = 0; state < automaton.states(); ++state)
    for (Letter letter = 0; letter < automaton.letters(); ++letter)
      if (const State to = automaton.next(state, letter); counts[state] > 0 && counts[to] > 0)
        all.push_back({Index{state}, letter, Index{to}});
  const PointMoves moves = point_moves(all, automaton.letters(), automaton.states());
  std::vector<State> kept;
  for (State state = 0; state < automaton.states(); ++state) {
    if (counts[state] == 0 || moves.is_repeated(state)) continue;
    learned.point_of[state] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(state);
  }
  for (State state = 0; state < automaton.states(); ++state)
    if (counts[state] > 0 && moves.is_repeated(state)) learned.point_of[state] = learned.point_of[moves.like[state]];
  learned.code.points.resize(start.size(), static_cast<Index>(kept.size()));
  for (std::size_t i = 0; i < kept.size(); ++i)
    learned.code.points.col(static_cast<Index>(i)) = sums[kept[i]] / counts[kept[i]];
  for (const auto& [from, letter, to] : all)
    if (!moves.is_repeated(static_cast<std::size_t>(from)))
      learned.code.moves.push_back({Index{learned.point_of[static_cast<std::size_t>(from)]}, letter,
                                    Index{learned.point_of[static_cast<std::size_t>(to)]}});
  return learned;
}

/// The finest, those of pairs, and joins of them.
std::set<Congruence> congruences(std::span<const Transformation> letters, Point size) {
  constexpr std::size_t kMost = 256;
  std::set<Congruence> found{congruence_generated_by(letters, 0, 0)};
  std::deque<Congruence> of_pairs;
  for (Point a = 0; a < size; ++a)
    for (Point b = a + 1; b < size && found.size() < kMost; ++b)
      if (const auto [place, is_new] = found.insert(congruence_generated_by(letters, a, b)); is_new)
        of_pairs.push_back(*place);
  const std::vector<Congruence> generators(of_pairs.begin(), of_pairs.end());
  while (!of_pairs.empty()) {
    const Congruence one = std::move(of_pairs.front());
    of_pairs.pop_front();
    for (const Congruence& other : generators) {
      if (found.size() == kMost) return found;
      if (const auto [place, is_new] = found.insert(join(one, other)); is_new) of_pairs.push_back(*place);
    }
  }
  return found;
}

}  // namespace

LearnedClasses learned_classes(const Head& head, const TaskAutomaton& input, const TrackedAutomaton& tracked) {
  constexpr Index kMostNumbers = 300, kMostClasses = 128;
  constexpr State kMostStates = 2000;
  const HeadReflection& any = head.letters[input.inputs.front()].reflections.front();
  const Index keys = any.key.size(), values = any.value.size();
  LearnedClasses found;
  if (keys * values >= kMostNumbers || tracked.automaton.states() > kMostStates) return found;
  const LearnedPoints learned = learned_points(head, input, tracked, keys, values);
  const auto code = state_code(learned.code, reads_of(head, input, keys, values), kMostClasses);
  if (!code) return found;
  found.share = code->share;
  Congruence of_point;
  for (const auto& point : code->code.points.colwise()) of_point.push_back(place_of_one(point));
  std::vector<Transformation> letters;
  for (const MatrixXd& letter : code->code.letters) {
    std::vector<Point> images;
    for (const auto& column : letter.colwise()) images.push_back(place_of_one(column));
    letters.push_back(Transformation::from_images(std::move(images)));
  }
  for (const Congruence& classes : congruences(letters, static_cast<Point>(code->code.points.rows()))) {
    PermutedClasses held{Congruence(tracked.automaton.states(), kNoPoint), {}, 0};
    for (const Transformation& letter : letters)
      if (const Transformation own = quotient(letter, classes); own.is_permutation())
        held.letters.push_back(own.to_permutation());
    if (held.letters.size() < letters.size() || held.classes() < 2) continue;
    for (State state = 0; state < held.class_of.size(); ++state)
      if (const std::uint32_t point = learned.point_of[state]; point != kNoPoint)
        held.class_of[state] = classes[of_point[point]];
    held.initial = held.class_of[tracked.automaton.initial()];
    found.congruences.push_back(std::move(held));
  }
  return found;
}

namespace {

/// Column i is x_i − x_{i+1}, of vertices at distance 1; nothing where there is no room.
std::optional<MatrixXd> edges_of_simplex(Index vertices, Index dimensions) {
  constexpr Index kMostVertices = 9;  // A_8 in E_8; two blocks of eight coordinates have no root in common
  if (vertices > kMostVertices || vertices > dimensions + 1) return std::nullopt;
  MatrixXd along = MatrixXd::Zero(dimensions, vertices - 1);
  // e_i − e_{i+1} over √2, in the coordinates of their Cholesky factor.
  for (Index i = 0; i < vertices - 1; ++i) {
    const double before = i == 0 ? 0 : -0.5 / along(i - 1, i - 1);
    if (i > 0) along(i - 1, i) = before;
    along(i, i) = std::sqrt(1 - before * before);
  }
  return nearest_roots(along, 1e-6);
}

std::size_t reflections_of(const PermutedClasses& held) {
  std::size_t most = 0;
  for (const Permutation& letter : held.letters) most = std::max<std::size_t>(most, letter.reflection_length());
  return most;
}

/// The classes that columns of the state are about: the initial one, and those after it.
Point base(const PermutedClasses& held, Index column) {
  return (held.initial + static_cast<Point>(column)) % held.classes();
}

/// State ↦ what a simplex of these classes shows of it: where words to it take the classes of the columns, or where
/// words to one state take them to several places, the class alone.
Congruence shown_by(const PermutedClasses& held, Index values, const TrackedAutomaton& tracked) {
  const Dfa& automaton = tracked.automaton;
  const Index columns = std::min<Index>(values, held.classes());
  std::vector<std::vector<Point>> places(automaton.states());
  std::vector<State> reached{automaton.initial()};
  for (Index v = 0; v < columns; ++v) places[automaton.initial()].push_back(base(held, v));
  bool is_one = true;
  for (std::size_t i = 0; i < reached.size() && is_one; ++i)
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      const State to = automaton.next(reached[i], letter);
      if (!goes_on(tracked, to)) continue;
      std::vector<Point> image = places[reached[i]];
      for (Point& place : image) place = held.letters[letter][place];
      if (places[to].empty())
        places[to] = std::move(image), reached.push_back(to);
      else
        is_one = is_one && places[to] == image;
    }
  if (!is_one) return held.class_of;
  std::map<std::vector<Point>, std::uint32_t> numbers;
  Congruence shown;
  for (auto& place : places)
    shown.push_back(numbers.try_emplace(std::move(place), static_cast<std::uint32_t>(numbers.size())).first->second);
  return shown;
}

bool tells_answers(const Congruence& shown, const TrackedAutomaton& tracked) {
  std::map<std::uint32_t, Output> answers;
  for (State state = 0; state < shown.size(); ++state)
    if (tracked.is_asked(state) &&
        answers.try_emplace(shown[state], tracked.wanted[state]).first->second != tracked.wanted[state])
      return false;
  return true;
}

}  // namespace

std::optional<Head> simplex_head(const PermutedClasses& held, const Head& like, const TaskAutomaton& input) {
  const HeadReflection& any = like.letters[input.inputs.front()].reflections.front();
  const std::size_t reflections = like.letters[input.inputs.front()].reflections.size();
  const Index keys = any.key.size(), values = any.value.size(), vertices = held.classes();
  const std::optional<MatrixXd> edges = edges_of_simplex(vertices, keys);
  if (!edges || reflections_of(held) > reflections) return std::nullopt;
  MatrixXd vertex = MatrixXd::Zero(keys, vertices);
  for (Index i = 1; i < vertices; ++i) vertex.col(i) = vertex.col(i - 1) - edges->col(i - 1);

  // One class of a column is told from the others, or where columns are too few for that, each from each.
  VectorXd wanted(vertices);
  for (Index i = 0; i < vertices; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(vertices - 1);
    wanted(i) = vertices <= values + 1 ? i == Index{held.initial} : share * share;
  }
  const VectorXd query =
      least_squares(edges->transpose(), wanted.head(vertices - 1) - wanted.tail(vertices - 1)).col(0).normalized();

  Head head;
  for (std::size_t letter = 0; letter < like.letters.size(); ++letter)
    head.letters.push_back(
        {std::vector<HeadReflection>(reflections, {VectorXd::Unit(keys, 0), VectorXd::Zero(values), 0}), query});
  for (std::size_t letter = 0; letter < held.letters.size(); ++letter) {
    auto part = head.letters[input.inputs[letter]].reflections.begin();
    for (const auto& [first, second] : transpositions_of(held.letters[letter])) {
      part->beta = 2;
      part->key = vertex.col(Index{first}) - vertex.col(Index{second});
      const VectorXd middle = (vertex.col(Index{first}) + vertex.col(Index{second})) / 2;
      for (Index v = 0; v < std::min(values, vertices); ++v)
        part->value(v) = part->key.dot(middle - vertex.col(Index{base(held, v)}));
      ++part;
    }
  }
  return head;
}

namespace {

struct Choice {
  std::size_t head;
  PermutedClasses held;
};

/// The fewest heads of those that take the fewest reflections past what there are.
struct Choices {
  std::size_t reflections = 0;
  std::vector<Choice> made;

  Choices with(std::size_t head, const PermutedClasses& held) const {
    Choices result{std::max(reflections, reflections_of(held)), made};
    result.made.push_back({head, held});
    return result;
  }
  friend bool operator<(const Choices& one, const Choices& other) {
    return std::pair(one.reflections, one.made.size()) < std::pair(other.reflections, other.made.size());
  }
};

}  // namespace

OnSimplices hold_on_simplices(std::vector<std::optional<Head>>& heads, std::span<const Head> learned,
                              const TaskAutomaton& input, const TrackedAutomaton& tracked) {
  constexpr std::size_t kMostKept = 1000;
  const LetterOfHead& any = learned.front().letters[input.inputs.front()];
  const std::size_t reflections = any.reflections.size();
  const Index keys = any.query.size(), values = any.reflections.front().value.size();
  // What some heads show together ↦ which do.
  std::map<Congruence, Choices> shown{{Congruence(tracked.automaton.states(), 0), {reflections, {}}}};
  std::vector<double> shares;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const LearnedClasses classes = learned_classes(learned[i], input, tracked);
    shares.push_back(classes.share);
    const std::map<Congruence, Choices> before = shown;
    for (const PermutedClasses& held : classes.congruences) {
      if (!edges_of_simplex(Index{held.classes()}, keys)) continue;
      const Congruence alone = shown_by(held, values, tracked);
      for (const auto& [others, choices] : before) {
        Congruence together = meet(others, alone);
        const auto place = shown.find(together);
        if (place == shown.end() && shown.size() == kMostKept) continue;
        Choices with = choices.with(i, held);
        if (place == shown.end())
          shown.emplace(std::move(together), std::move(with));
        else if (with < place->second)
          place->second = std::move(with);
      }
    }
  }
  const Choices* best = nullptr;
  for (const auto& [classes, choices] : shown)
    if (tells_answers(classes, tracked) && (best == nullptr || choices < *best)) best = &choices;
  OnSimplices result{std::vector<std::optional<double>>(heads.size()), 0};
  if (best == nullptr) return result;
  result.reflections = best->reflections;
  if (best->reflections > reflections) return result;
  std::ranges::fill(heads, std::nullopt);
  for (const auto& [i, held] : best->made) {
    heads[i] = simplex_head(held, learned[i], input);
    result.shares[i] = shares[i];
  }
  return result;
}

}  // namespace krohn
