#include "krohn/simulate/closing/reflection_heads.h"

#include <algorithm>
#include <optional>

#include "krohn/groups/linear/decompositions.h"
#include "krohn/groups/random.h"

namespace krohn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

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
struct Turn {
  Letter letter;
  VectorXd key, across;
  double cosine, sine;  ///< of the angle between both keys

  Eigen::Vector2d along(const VectorXd& direction) const { return {key.dot(direction), across.dot(direction)}; }
};

/// A direction that all planes share, or nearly: the first letter's first key where it is one, since planes that are
/// all the same share every one of theirs.
VectorXd shared_direction(const std::vector<Turn>& turns) {
  constexpr double kFirst = 0.95, kMeeting = 0.9;
  MatrixXd planes = MatrixXd::Zero(turns.front().key.size(), turns.front().key.size());
  for (const Turn& turn : turns) planes += turn.key * turn.key.transpose() + turn.across * turn.across.transpose();
  const auto parts = symmetric_eigen(planes);
  if (!parts) return turns.front().key;
  const VectorXd meeting = parts->vectors.rightCols(1);
  const auto least = [&](const VectorXd& direction) {
    double norm = 1;
    for (const Turn& turn : turns) norm = std::min(norm, turn.along(direction).norm());
    return norm;
  };
  const VectorXd& first = turns.front().key;
  return least(first) < kFirst && least(meeting) >= kMeeting ? meeting : first;
}

}  // namespace

void align_turns(Head& head, const std::vector<Letter>& letters) {
  constexpr double kPlane = 0.1, kShared = 0.5;
  std::vector<Turn> turns;
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
  for (const Turn& turn : turns) {
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
  constexpr std::size_t kMostStates = 2000;
  const auto alone = held_states({}, input, tracked, kMostStates);
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
      if (const auto held = held_states({&own, 1}, input, tracked, kMostStates))
        finite.push_back({own, held->at.size()});
    }
  std::ranges::stable_sort(finite, {}, &Finite::held);
  std::vector<const Head*> kept;
  bool tell = false;
  for (std::size_t i = 0; i < finite.size() && !tell; ++i) {
    kept.push_back(finite[i].head);
    if (i + 1 < finite.size() && finite[i + 1].held == states) continue;  // all that follow stay
    if (const auto held = held_states(kept, input, tracked, kMostStates))
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

}  // namespace krohn
