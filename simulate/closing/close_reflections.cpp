#include "krohn/simulate/closing/close_reflections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/decompositions.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/transformations/transformation.h"
#include "krohn/simulate/closing/close_linear.h"
#include "krohn/simulate/closing/integer_code.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stacked_model.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kBlock = 8;

/// Supports of the words of weight four, a bit a coordinate.
std::vector<std::uint32_t> hamming_words() {
  constexpr std::array<std::uint32_t, 4> kGenerators{0x0F, 0x33, 0x55, 0xFF};
  std::vector<std::uint32_t> words;
  for (std::uint32_t chosen = 0; chosen < 16; ++chosen) {
    std::uint32_t word = 0;
    for (std::uint32_t i = 0; i < 4; ++i)
      if (chosen >> i & 1) word ^= kGenerators[i];
    if (std::popcount(word) == 4) words.push_back(word);
  }
  std::ranges::sort(words);
  return words;
}

/// Depth first over vectors, each given the next root that has the wanted products with all before it.
class RootSearch {
 public:
  RootSearch(const MatrixXd& products, Index dimensions)
      : products_(products), roots_(dyadic_roots(dimensions)), found_(dimensions, products.cols()) {}

  std::optional<MatrixXd> run() {
    if (place(0)) return found_;
    return std::nullopt;
  }

 private:
  static constexpr std::uint64_t kMaxTries = 5'000'000;

  bool place(Index at) {
    if (at == found_.cols()) return true;
    for (const VectorXd& root : roots_) {
      if (++tries_ > kMaxTries) return false;
      bool fits = true;
      for (Index i = 0; i < at && fits; ++i) fits = found_.col(i).dot(root) == products_(i, at);
      if (!fits) continue;
      found_.col(at) = root;
      if (place(at + 1)) return true;
    }
    return false;
  }

  const MatrixXd& products_;
  std::vector<VectorXd> roots_;
  MatrixXd found_;
  std::uint64_t tries_ = 0;
};

constexpr double kUnit = 8, kSquare = kUnit * kUnit;

/// Changes up to `depth` entries from `first` on by ±1 so that the squares sum to kSquare; keeps the nearest.
void adjust(VectorXd& a, const VectorXd& wanted, Index first, int depth, VectorXd& best, double& distance) {
  if (a.squaredNorm() == kSquare) {
    if (const double d = (a - wanted).squaredNorm(); d < distance) distance = d, best = a;
  }
  if (depth == 0) return;
  for (Index i = first; i < a.size(); ++i)
    for (const double step : {-1.0, 1.0}) {
      a(i) += step;
      adjust(a, wanted, i + 1, depth - 1, best, distance);
      a(i) -= step;
    }
}

}  // namespace

std::vector<VectorXd> dyadic_roots(Index dimensions) {
  std::vector<VectorXd> roots;
  for (Index i = 0; i < dimensions; ++i)
    for (const double sign : {1.0, -1.0}) roots.push_back(sign * VectorXd::Unit(dimensions, i));
  for (Index block = 0; block < dimensions; block += kBlock)
    for (const std::uint32_t word : hamming_words()) {
      if (block + std::bit_width(word) > dimensions) continue;
      for (std::uint32_t signs = 0; signs < 16; ++signs) {
        VectorXd root = VectorXd::Zero(dimensions);
        std::uint32_t sign = signs;
        for (Index i = 0; i < kBlock; ++i)
          if (word >> i & 1) root(block + i) = sign & 1 ? -0.5 : 0.5, sign >>= 1;
        roots.push_back(std::move(root));
      }
    }
  return roots;
}

std::optional<MatrixXd> nearest_roots(const MatrixXd& vectors, double tolerance) {
  const MatrixXd products = vectors.transpose() * vectors;
  const MatrixXd halves = (2 * products).array().round().matrix() / 2;
  if (vectors.cols() > 0 && (products - halves).cwiseAbs().maxCoeff() > tolerance) return std::nullopt;
  return RootSearch(halves, vectors.rows()).run();
}

VectorXd nearest_dyadic_unit(const VectorXd& direction) {
  const VectorXd wanted = kUnit * direction.normalized();
  VectorXd a = wanted.array().round().matrix(), best;
  double distance = INFINITY;
  adjust(a, wanted, 0, 3, best, distance);
  if (distance < INFINITY) return best / kUnit;
  Index greatest = 0;
  direction.cwiseAbs().maxCoeff(&greatest);
  return (direction(greatest) < 0 ? -1 : 1) * VectorXd::Unit(direction.size(), greatest);
}

namespace {

/// S after the letter; the greatest move of each of its reflections is kept in `moves`, where there is room.
void read(const LetterOfHead& letter, MatrixXd& state, std::vector<double>* moves = nullptr) {
  for (std::size_t j = 0; j < letter.reflections.size(); ++j) {
    const HeadReflection& part = letter.reflections[j];
    const VectorXd move = part.beta * (part.value - state.transpose() * part.key);
    state += part.key * move.transpose();
    if (moves != nullptr) (*moves)[j] = std::max((*moves)[j], move.norm());
  }
}

/// Before a word.
MatrixXd first_state(const Head& head, const TaskAutomaton& input) {
  const HeadReflection& any = head.letters[input.inputs.front()].reflections.front();
  MatrixXd state = MatrixXd::Zero(any.key.size(), any.value.size());
  for (const Letter letter : input.before) read(head.letters[letter], state);
  return state;
}

}  // namespace

double silence_idle(Head& head, const TaskAutomaton& input) {
  constexpr double kIdle = 0.1;
  constexpr int kWords = 50, kLetters = 12;
  std::vector<std::vector<double>> moves;
  for (const LetterOfHead& letter : head.letters) moves.emplace_back(letter.reflections.size(), 0);
  Random random(1);
  for (int word = 0; word < kWords; ++word) {
    MatrixXd state = first_state(head, input);
    for (int i = 0; i < kLetters; ++i) {
      const Letter letter = input.inputs[random.below(input.inputs.size())];
      read(head.letters[letter], state, &moves[letter]);
    }
  }
  double greatest = 0, lost = 0;
  for (const Letter letter : input.inputs)
    for (const double move : moves[letter]) greatest = std::max(greatest, move);
  for (const Letter letter : input.inputs)
    for (std::size_t j = 0; j < moves[letter].size(); ++j)
      if (moves[letter][j] <= kIdle * greatest) {
        head.letters[letter].reflections[j].beta = 0;
        lost = std::max(lost, moves[letter][j]);
      }
  return greatest > 0 ? lost / greatest : 0;
}

namespace {

/// A letter's turn by two reflections: an orthonormal basis of its plane, of which the first is the first key.
struct PlaneTurn {
  Letter letter;
  VectorXd key, across;
  double cosine, sine;  ///< of the angle between both keys

  Eigen::Vector2d along(const VectorXd& direction) const { return {key.dot(direction), across.dot(direction)}; }
};

/// A direction that all planes share, or nearly: the first letter's first key where it is one, since planes that are
/// all the same share every one of theirs.
VectorXd shared_direction(const std::vector<PlaneTurn>& turns) {
  constexpr double kFirst = 0.95, kMeeting = 0.9;
  MatrixXd planes = MatrixXd::Zero(turns.front().key.size(), turns.front().key.size());
  for (const PlaneTurn& turn : turns) planes += turn.key * turn.key.transpose() + turn.across * turn.across.transpose();
  const auto parts = symmetric_eigen(planes);
  if (!parts) return turns.front().key;
  const VectorXd meeting = parts->vectors.rightCols(1);
  const auto least = [&](const VectorXd& direction) {
    double norm = 1;
    for (const PlaneTurn& turn : turns) norm = std::min(norm, turn.along(direction).norm());
    return norm;
  };
  const VectorXd& first = turns.front().key;
  return least(first) < kFirst && least(meeting) >= kMeeting ? meeting : first;
}

}  // namespace

void align_turns(Head& head, const std::vector<Letter>& letters) {
  constexpr double kPlane = 0.1, kShared = 0.5;
  std::vector<PlaneTurn> turns;
  for (const Letter letter : letters) {
    const std::vector<HeadReflection>& parts = head.letters[letter].reflections;
    if (parts.size() != 2) return;
    if (parts[0].beta != 2 || parts[1].beta != 2) continue;
    const double cosine = parts[0].key.dot(parts[1].key);
    const VectorXd across = parts[1].key - cosine * parts[0].key;
    const double sine = across.norm();
    if (sine >= kPlane) turns.push_back({letter, parts[0].key, across / sine, cosine, sine});
  }
  if (turns.empty()) return;
  const VectorXd common = shared_direction(turns);
  for (const PlaneTurn& turn : turns) {
    Eigen::Vector2d wanted = turn.along(common);
    if (wanted.norm() < kShared) continue;
    wanted.normalize();
    HeadReflection &a = head.letters[turn.letter].reflections[0], &b = head.letters[turn.letter].reflections[1];
    // The state that both leave alone, as far as it lies in their plane.
    const MatrixXd fixed =
        a.key * a.value.transpose() + turn.across * ((b.value - turn.cosine * a.value) / turn.sine).transpose();
    const VectorXd second = wanted(0) * turn.across - wanted(1) * turn.key;
    a.key = wanted(0) * turn.key + wanted(1) * turn.across;
    b.key = turn.cosine * a.key + turn.sine * second;
    a.value = fixed.transpose() * a.key;
    b.value = fixed.transpose() * b.key;
  }
}

std::optional<HeldStates> held_states(std::span<const Head* const> heads, const TaskAutomaton& input,
                                      const TrackedAutomaton& tracked, std::size_t most) {
  const Dfa& automaton = tracked.automaton;
  HeldStates held;
  std::vector<std::vector<std::size_t>> nodes_at(automaton.states());
  // False where there is no room for another.
  const auto reach = [&](State state, std::vector<MatrixXd> numbers) {
    held.greatest.resize(numbers.size(), 0);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      held.greatest[i] = std::max(held.greatest[i], numbers[i].cwiseAbs().maxCoeff());
    const auto is_here = [&](std::size_t node) { return !held.differ(held.numbers[node], numbers); };
    if (std::ranges::any_of(nodes_at[state], is_here)) return true;
    if (held.at.size() == most) return false;
    nodes_at[state].push_back(held.at.size());
    held.at.push_back(state);
    held.numbers.push_back(std::move(numbers));
    return true;
  };
  std::vector<MatrixXd> first;
  for (const Head* const head : heads) first.push_back(first_state(*head, input));
  if (!reach(automaton.initial(), std::move(first))) return std::nullopt;
  for (std::size_t node = 0; node < held.at.size(); ++node)
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      const State to = automaton.next(held.at[node], letter);
      if (tracked.wanted[to] == TrackedAutomaton::kNoSuchWord) continue;
      std::vector<MatrixXd> numbers = held.numbers[node];
      for (std::size_t i = 0; i < heads.size(); ++i) read(heads[i]->letters[input.inputs[letter]], numbers[i]);
      if (!reach(to, std::move(numbers))) return std::nullopt;
    }
  return held;
}

bool HeldStates::differ(const std::vector<MatrixXd>& a, const std::vector<MatrixXd>& b) const {
  constexpr double kSame = 1e-9;  // of the greatest number of a head, in which what is equal may differ by roundings
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!((a[i] - b[i]).cwiseAbs().maxCoeff() <= kSame * greatest[i])) return true;
  return false;
}

bool HeldStates::tell_answers(const TrackedAutomaton& tracked) const {
  for (std::size_t p = 0; p < at.size(); ++p)
    for (std::size_t q = 0; q < p; ++q)
      if (tracked.is_asked(at[p]) && tracked.is_asked(at[q]) && tracked.wanted[at[p]] != tracked.wanted[at[q]] &&
          !differ(numbers[p], numbers[q]))
        return false;
  return true;
}

std::optional<std::size_t> silence_strays(std::vector<std::optional<Head>>& heads, const TaskAutomaton& input,
                                          const TrackedAutomaton& tracked) {
  constexpr std::size_t kMaxStates = 2000;
  const auto alone = held_states({}, input, tracked, kMaxStates);
  if (!alone) return std::nullopt;
  const std::size_t states = alone->at.size();
  struct Finite {
    const Head* head;
    std::size_t held;
  };
  std::vector<Finite> finite;
  for (const std::optional<Head>& head : heads)
    if (head) {
      const Head* const own = &*head;
      if (const auto held = held_states({&own, 1}, input, tracked, kMaxStates))
        finite.push_back({own, held->at.size()});
    }
  std::ranges::stable_sort(finite, {}, &Finite::held);
  std::vector<const Head*> kept;
  bool tell = false;
  for (std::size_t i = 0; i < finite.size() && !tell; ++i) {
    kept.push_back(finite[i].head);
    if (i + 1 < finite.size() && finite[i + 1].held == states) continue;  // all that follow stay
    if (const auto held = held_states(kept, input, tracked, kMaxStates))
      tell = held->tell_answers(tracked);
    else
      kept.pop_back();
  }
  if (!tell) return std::nullopt;
  std::size_t silenced = 0;
  for (std::optional<Head>& head : heads)
    if (head && std::ranges::find(kept, &*head) == kept.end()) {
      head.reset();
      ++silenced;
    }
  return silenced;
}

namespace {

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

/// The model's input from a state, up to a factor, for each letter that asks: each number of it and its
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
  constexpr std::size_t kMax = 256;
  std::set<Congruence> found{congruence_generated_by(letters, 0, 0)};
  std::deque<Congruence> of_pairs;
  for (Point a = 0; a < size; ++a)
    for (Point b = a + 1; b < size && found.size() < kMax; ++b)
      if (const auto [place, is_new] = found.insert(congruence_generated_by(letters, a, b)); is_new)
        of_pairs.push_back(*place);
  const std::vector<Congruence> generators(of_pairs.begin(), of_pairs.end());
  while (!of_pairs.empty()) {
    const Congruence one = std::move(of_pairs.front());
    of_pairs.pop_front();
    for (const Congruence& other : generators) {
      if (found.size() == kMax) return found;
      if (const auto [place, is_new] = found.insert(join(one, other)); is_new) of_pairs.push_back(*place);
    }
  }
  return found;
}

}  // namespace

LearnedClasses learned_classes(const Head& head, const TaskAutomaton& input, const TrackedAutomaton& tracked) {
  constexpr Index kMaxNumbers = 300, kMaxClasses = 128;
  constexpr State kMaxStates = 2000;
  const HeadReflection& any = head.letters[input.inputs.front()].reflections.front();
  const Index keys = any.key.size(), values = any.value.size();
  LearnedClasses found;
  if (keys * values >= kMaxNumbers || tracked.automaton.states() > kMaxStates) return found;
  const LearnedPoints learned = learned_points(head, input, tracked, keys, values);
  const auto code = state_code(learned.code, reads_of(head, input, keys, values), kMaxClasses);
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
  constexpr Index kMaxVertices = 9;  // A_8 in E_8; two blocks of eight coordinates have no root in common
  if (vertices > kMaxVertices || vertices > dimensions + 1) return std::nullopt;
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
  constexpr std::size_t kMaxKept = 1000;
  const LetterOfHead& any = learned.front().letters[input.inputs.front()];
  const std::size_t reflections = any.reflections.size();
  const Index keys = any.query.size(), values = any.reflections.front().value.size();
  // The pattern that some heads show together ↦ which heads.
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
        if (place == shown.end() && shown.size() == kMaxKept) continue;
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

namespace {

constexpr double kAngle = 0.2;     ///< inner products of keys may be so far from a multiple of ½
constexpr double kNear = 0.25;     ///< β farther from 0, 1 and 2 take no part
constexpr double kGridBits = 4;    ///< of the greatest value
constexpr float kLarge = 1 << 20;  ///< of a key before its norm: its square hides the norm's ε in fp32 and in fp64
constexpr float kShut = -200;      ///< the gate's input at which β is 0: e^200 is no float
constexpr float kOpen = 64;        ///< at which the sigmoid is 1

VectorXd vector_of(const float* first, std::size_t count) {
  return Eigen::Map<const Eigen::VectorXf>(first, static_cast<Index>(count)).cast<double>();
}

class Rounding {
 public:
  Rounding(const ReflectionShape& shape, const TaskAutomaton& input) : shape_(shape), input_(input) {}

  /// Returns nullopt if no root system matches the keys' angles.
  std::optional<Head> round(const Head& learned) {
    Head rounded = learned;
    note(silence_idle(rounded, input_));
    std::vector<HeadReflection*> parts;
    for (const Letter letter : input_.inputs)
      for (HeadReflection& part : rounded.letters[letter].reflections) {
        if (part.beta == 0) continue;
        const double beta = rounded_beta(part.beta);
        note(beta - part.beta);
        part.beta = beta;
        if (beta > 0) parts.push_back(&part);
      }
    align_turns(rounded, input_.inputs);
    if (parts.empty()) return std::nullopt;
    const auto keys = static_cast<Index>(shape_.keys), count = static_cast<Index>(parts.size());
    MatrixXd trained(keys, count);
    for (Index i = 0; i < count; ++i) trained.col(i) = parts[static_cast<std::size_t>(i)]->key;
    const std::optional<MatrixXd> roots = nearest_roots(trained, kAngle);
    if (!roots) return std::nullopt;
    const MatrixXd turn = rotation(trained, *roots);
    note((turn * trained - *roots).cwiseAbs().maxCoeff());
    for (Index i = 0; i < count; ++i) parts[static_cast<std::size_t>(i)]->key = roots->col(i);
    for (LetterOfHead& letter : rounded.letters) letter.query = turn * letter.query;
    round_values(parts, *roots);
    round_beginning(rounded, learned, turn);
    for (const Letter letter : input_.after)
      for (HeadReflection& part : rounded.letters[letter].reflections) part.beta = 0;
    return rounded;
  }

  double moved() const { return moved_; }

 private:
  void note(double move) { moved_ = std::max(moved_, std::abs(move)); }

  double rounded_beta(double beta) const {
    const double nearest = std::clamp(std::round(beta), 0.0, shape_.negative ? 2.0 : 1.0);
    return std::abs(beta - nearest) <= kNear ? nearest : 0;
  }

  /// The orthogonal matrix that takes the first vectors nearest to the second (Schönemann 1966).
  static MatrixXd rotation(const MatrixXd& from, const MatrixXd& to) {
    const SingularValues svd = singular_value_decomposition(to * from.transpose());
    return svd.left * svd.right.transpose();
  }

  double on_grid(double x) const { return std::round(x / grid_) * grid_; }

  /// Reflections in hyperplanes generate a finite group only where these meet: kᵀS = v for one state S.
  void round_values(const std::vector<HeadReflection*>& parts, const MatrixXd& roots) {
    const auto values = static_cast<Index>(shape_.values);
    std::vector<Index> turning;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i]->beta == 2) turning.push_back(static_cast<Index>(i));
    MatrixXd normals(static_cast<Index>(turning.size()), roots.rows()), offsets(normals.rows(), values);
    for (std::size_t i = 0; i < turning.size(); ++i) {
      normals.row(static_cast<Index>(i)) = roots.col(turning[i]).transpose();
      offsets.row(static_cast<Index>(i)) = parts[static_cast<std::size_t>(turning[i])]->value.transpose();
    }
    double greatest = 0;
    for (const HeadReflection* part : parts) greatest = std::max(greatest, part->value.cwiseAbs().maxCoeff());
    grid_ = std::exp2(std::floor(std::log2(std::max(greatest, 1e-3))) - kGridBits);
    MatrixXd fixed = MatrixXd::Zero(roots.rows(), values);
    if (!turning.empty()) fixed = least_squares(normals, offsets);
    for (double& x : fixed.reshaped()) x = on_grid(x);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      VectorXd value = parts[i]->value;
      if (parts[i]->beta == 2)
        value = fixed.transpose() * roots.col(static_cast<Index>(i));
      else
        for (double& x : value) x = on_grid(x);
      note((value - parts[i]->value).cwiseAbs().maxCoeff() / std::max(greatest, 1e-3));
      parts[i]->value = value;
    }
  }

  /// The state that a token before the word leaves, one product of a key and a value.
  void round_beginning(Head& rounded, const Head& learned, const MatrixXd& turn) {
    if (input_.before.empty()) return;
    const LetterOfHead& from = learned.letters[input_.before.front()];
    MatrixXd state = MatrixXd::Zero(turn.rows(), static_cast<Index>(shape_.values));
    for (const HeadReflection& part : from.reflections)
      state += part.beta * part.key * (part.value - state.transpose() * part.key).transpose();
    const SingularValues svd = singular_value_decomposition(turn * state);
    LetterOfHead& to = rounded.letters[input_.before.front()];
    for (HeadReflection& part : to.reflections) part.beta = 0;
    HeadReflection& first = to.reflections.front();
    first.beta = 1;
    first.key = nearest_dyadic_unit(svd.left.col(0));
    first.value = (turn * state).transpose() * first.key;
    for (double& x : first.value) x = on_grid(x);
    const double greatest = std::max(state.cwiseAbs().maxCoeff(), 1e-3);
    note((first.key * first.value.transpose() - turn * state).cwiseAbs().maxCoeff() / greatest);
  }

  const ReflectionShape& shape_;
  const TaskAutomaton& input_;
  double moved_ = 0, grid_ = 1;
};

/// The model's tensors as floats, by name.
class Tensors {
 public:
  explicit Tensors(const SequenceModel<float>& model) : file_(model.tensors()) {}
  std::vector<float> read(const std::string& name) const {
    TensorReader reader(file_);
    return reader.values<float>(name, reader.shape(name));
  }
  void write(const std::string& name, const std::vector<float>& numbers) {
    file_.tensors.at(name) = make_tensor(numbers, file_.tensors.at(name).shape);
  }
  const TensorFile& file() const { return file_; }

 private:
  TensorFile file_;
};

constexpr char kEmbedding[] = "embedding", kNorm[] = "layer0.norm", kIn[] = "layer0.mixer.in",
               kReadNorm[] = "layer0.mixer.norm", kOut[] = "layer0.mixer.out";

/// The divisor of the model's norm, as fp32 computes it (simulate/learned/model_operations.cpp).
float norm_of(const float* x, std::size_t width) {
  float sum = 0;
  for (std::size_t i = 0; i < width; ++i) sum += x[i] * x[i];
  return std::sqrt(sum / static_cast<float>(width) + 1e-5f);
}

std::vector<Head> learned_heads(const ReflectionShape& shape, const Tensors& tensors, Letter letters) {
  const std::vector<float> embedding = tensors.read(kEmbedding), gain = tensors.read(kNorm), in = tensors.read(kIn);
  std::vector<Head> heads(shape.heads, Head{std::vector<LetterOfHead>(letters)});
  const auto values = static_cast<Index>(shape.values), width = static_cast<Index>(shape.width);
  const std::vector<float> read_gain = tensors.read(kReadNorm), out = tensors.read(kOut);
  for (std::size_t head = 0; head < heads.size(); ++head)
    heads[head].out =
        vector_of(out.data() + head * shape.values * shape.width, shape.values * shape.width).reshaped(width, values) *
        vector_of(read_gain.data(), shape.values).asDiagonal();
  for (Letter letter = 0; letter < letters; ++letter) {
    const float* const x = embedding.data() + std::size_t{letter} * shape.width;
    const float norm = norm_of(x, shape.width);
    std::vector<float> row(shape.columns(), 0);
    for (std::size_t i = 0; i < shape.width; ++i)
      for (std::size_t j = 0; j < row.size(); ++j) row[j] += x[i] * gain[i] / norm * in[i * row.size() + j];
    if (!shape.plain)
      for (std::size_t j = 0; j < shape.beta_column(); ++j) row[j] /= 1 + std::exp(-row[j]);
    for (std::size_t head = 0; head < shape.heads; ++head) {
      LetterOfHead& own = heads[head].letters[letter];
      own.query = vector_of(row.data() + shape.q_column(head), shape.keys).normalized();
      for (std::size_t j = 0; j < shape.reflections; ++j)
        own.reflections.push_back(
            {vector_of(row.data() + shape.k_column(head) + j * shape.keys, shape.keys).normalized(),
             vector_of(row.data() + shape.v_column(head) + j * shape.values, shape.values),
             (shape.negative ? 2.0 : 1.0) / (1 + std::exp(-double{row[shape.beta_column(head) + j]}))});
    }
  }
  return heads;
}

float gate_input(double beta, bool negative) {
  if (beta == 0) return kShut;
  return negative && beta == 1 ? 0.f : kOpen;
}

/// The row of a letter before activations: its numbers as the recurrence is to read them.
void write_row(const ReflectionShape& shape, std::size_t head, const LetterOfHead& letter, float* row) {
  const auto put = [&](std::size_t column, const VectorXd& numbers, double scale) {
    for (Index i = 0; i < numbers.size(); ++i)
      row[column + static_cast<std::size_t>(i)] = static_cast<float>(scale * numbers(i));
  };
  put(shape.q_column(head), letter.query, 1);
  for (std::size_t j = 0; j < shape.reflections; ++j) {
    const HeadReflection& part = letter.reflections[j];
    put(shape.k_column(head) + j * shape.keys, part.key, double{kLarge});
    put(shape.v_column(head) + j * shape.values, part.value, 1);
    row[shape.beta_column(head) + j] = gate_input(part.beta, shape.negative);
  }
}

/// Coordinates of the embedding in which the letters' rows have least energy: those to give up.
std::vector<std::size_t> places_of(const std::vector<float>& embedding, std::size_t width, std::size_t count) {
  std::vector<double> energy(width, 0);
  for (std::size_t i = 0; i < embedding.size(); ++i) energy[i % width] += double{embedding[i]} * embedding[i];
  std::vector<std::size_t> places(width);
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, {}, [&](std::size_t i) { return energy[i]; });
  places.resize(count);
  return places;
}

void write_heads(const ReflectionShape& shape, const std::vector<std::optional<Head>>& heads, Letter letters,
                 Tensors& tensors) {
  std::vector<float> embedding = tensors.read(kEmbedding), gain = tensors.read(kNorm),
                     in(tensors.read(kIn).size(), 0.f);
  const std::vector<std::size_t> places = places_of(embedding, shape.width, letters);
  for (Letter letter = 0; letter < letters; ++letter) {
    float* const x = embedding.data() + std::size_t{letter} * shape.width;
    for (std::size_t i = 0; i < places.size(); ++i) x[places[i]] = i == letter ? 1.f : 0.f;
    gain[places[letter]] = norm_of(x, shape.width);  // 1 · norm / norm
    float* const row = in.data() + places[letter] * shape.columns();
    for (std::size_t head = 0; head < shape.heads; ++head)
      if (heads[head])
        write_row(shape, head, heads[head]->letters[letter], row);
      else
        for (std::size_t j = 0; j < shape.reflections; ++j) row[shape.beta_column(head) + j] = kShut;
  }
  tensors.write(kEmbedding, embedding);
  tensors.write(kNorm, gain);
  tensors.write(kIn, in);
}

/// All but the embedding, the first norm, and what makes keys, values and β.
std::vector<bool> free_parameters(const SequenceModel<float>& model, const ReflectionShape& shape) {
  std::vector<bool> is_free;
  for (const ParameterPart& part : model.tensor_parts()) {
    std::size_t count = 1;
    for (const std::uint64_t extent : part.shape) count *= extent;
    const bool is_held = part.name == kEmbedding || part.name == kNorm;
    for (std::size_t i = 0; i < count; ++i)
      is_free.push_back(part.name == kIn ? i % shape.columns() < shape.k_column(0) : !is_held);
  }
  return is_free;
}

/// By p · states + q: some word behind them, the empty one included, is asked about and answered differently. O(n²
/// · letters).
std::vector<bool> told_apart(const TrackedAutomaton& tracked) {
  const Dfa& automaton = tracked.automaton;
  const State states = automaton.states();
  std::vector<std::vector<State>> before(std::size_t{states} * automaton.letters());
  for (State p = 0; p < states; ++p)
    for (Letter letter = 0; letter < automaton.letters(); ++letter)
      before[std::size_t{automaton.next(p, letter)} * automaton.letters() + letter].push_back(p);
  std::vector<bool> apart(std::size_t{states} * states);
  std::vector<std::pair<State, State>> found;
  const auto add = [&](State p, State q) {
    if (apart[std::size_t{p} * states + q]) return;
    apart[std::size_t{p} * states + q] = true;
    found.emplace_back(p, q);
  };
  for (State p = 0; p < states; ++p)
    for (State q = 0; q < states; ++q)
      if (tracked.is_asked(p) && tracked.is_asked(q) && tracked.wanted[p] != tracked.wanted[q]) add(p, q);
  while (!found.empty()) {
    const auto [to_p, to_q] = found.back();
    found.pop_back();
    for (Letter letter = 0; letter < automaton.letters(); ++letter)
      for (const State p : before[std::size_t{to_p} * automaton.letters() + letter])
        for (const State q : before[std::size_t{to_q} * automaton.letters() + letter]) add(p, q);
  }
  return apart;
}

}  // namespace

std::string why_no_layer_of_contractions(const TrackedAutomaton& tracked) {
  constexpr State kMaxStates = 2000;
  constexpr std::uint64_t kMaxElements = 5000;
  const Dfa& automaton = tracked.automaton;
  if (automaton.states() > kMaxStates) return {};
  ToldApart apart;
  apart.pairs = told_apart(tracked);
  for (const Output wanted : tracked.wanted) apart.is_dead.push_back(wanted == TrackedAutomaton::kNoSuchWord);
  const CrossingSearch search = crossing_idempotents(automaton, kMaxElements, apart);
  if (!search.found) return {};
  const Word before = word_between(automaton, automaton.initial(), search.found->from);
  return fmt::format(
      "in exact arithmetic no layer of contractions, such as reflections, holds it with finitely many values: e = {} "
      "and f = {} act as idempotents, and after {} efe and fe go on otherwise (docs/MATH.md §4){}; only rounding could",
      quoted_letters(automaton.alphabet(), search.found->e), quoted_letters(automaton.alphabet(), search.found->f),
      quoted_letters(automaton.alphabet(), before),
      search.found->bars_margins ? ", nor with bounded values and a margin between answers" : "");
}

std::string why_no_reflections_round(const SequenceModel<float>& model, const Task& task) {
  const ReflectionShape& mixer = *mixer_of<ReflectionShape>(model);
  if (dynamic_cast<const StackedModel<float>&>(model).shape().layers != 1)
    return "only one layer is rounded: those above read numbers that the one below rounds";
  if (mixer.taps > 0) return "a convolution mixes tokens before the recurrence; leave conv= out";
  if (!mixer.plain)
    return "SiLU leaves keys no exact negative entry, so that few angles between them are exact; take the model with "
           "`plain`";
  if (model.letters() >= mixer.width)
    return fmt::format("each of {} needs a coordinate of its own, and the width is {}; take a larger width=",
                       counted(model.letters(), "letter"), mixer.width);
  if (input_machine(task).before.size() > 1) return "more than one token stands before every word";
  return {};
}

Closing close_reflections(const SequenceModel<float>& model, const Task& task, bool only_simplices,
                          std::vector<bool>& is_free) {
  const FloatEnvironment environment;
  const TaskAutomaton input = input_machine(task);
  Closing closing;
  closing.what = why_no_reflections_round(model, task);
  if (!closing.what.empty()) return closing;
  const ReflectionShape shape = *mixer_of<ReflectionShape>(model);
  Tensors tensors(model);
  const std::vector<Head> learned = learned_heads(shape, tensors, model.letters());
  const TrackedAutomaton tracked = tracked_automaton(task, input.automaton);
  std::vector<std::optional<Head>> heads;
  std::vector<double> moved;
  for (const Head& head : learned) {
    Rounding rounding(shape, input);
    heads.push_back(only_simplices ? std::nullopt : rounding.round(head));
    moved.push_back(rounding.moved());
  }
  OnSimplices on_simplices{std::vector<std::optional<double>>(heads.size()), 0};
  // A swap of vertices takes β = 2.
  if (!silence_strays(heads, input, tracked) && shape.negative)
    on_simplices = hold_on_simplices(heads, learned, input, tracked);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    ++(heads[i] ? closing.kept : closing.dropped);
    if (!heads[i]) continue;
    if (on_simplices.shares[i])
      ++closing.by_states, closing.share = std::max(closing.share, *on_simplices.shares[i]);
    else
      closing.moved = std::max(closing.moved, moved[i]);
  }
  if (closing.kept == 0) {
    closing.what =
        "the angles between the keys of no head are those of exact roots: their cosines are farther than 0.2 from "
        "0, ½ and 1, or there is too little room for them; ";
    if (on_simplices.reflections > 0)
      closing.what += fmt::format(
          "but heads hold classes of states that tell all answers apart and that letters permute by {}, "
          "where there are {}: take reflections={}",
          counted(on_simplices.reflections, "reflection"), shape.reflections, on_simplices.reflections);
    else if (shape.negative)
      closing.what +=
          "and no heads were found to hold classes of states that letters permute and that tell all answers apart";
    else
      closing.what += "and without `signed` letters permute states only by leaving them";
    return closing;
  }
  write_heads(shape, heads, model.letters(), tensors);
  closing.model = make_model<float>(model.name(), task, /*seed=*/0);
  closing.model->load(tensors.file());
  closing.what =
      fmt::format("keys to exact roots, β to 0, 1 or 2, in {} of {}", closing.kept, counted(shape.heads, "head"));
  if (closing.by_states > 0)
    closing.what += fmt::format(
        ", {} of them on a simplex of the states that it tells apart, which trained letters miss by at most {:.2g} of "
        "the way to the next",
        closing.by_states, closing.share);
  is_free = free_parameters(model, shape);
  return closing;
}

}  // namespace krohn
