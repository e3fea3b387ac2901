#include "krohn/simulate/closing/reflection_heads.h"

#include <algorithm>
#include <optional>

#include "krohn/groups/random.h"

namespace krohn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSame = 1e-9;  ///< of the greatest number of all, in which what is equal may differ by roundings

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

bool differ(const MatrixXd& a, const MatrixXd& b, double greatest) {
  return !((a - b).cwiseAbs().maxCoeff() <= kSame * greatest);
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

void align_turns(Head& head, const std::vector<Letter>& letters) {
  constexpr double kPlane = 0.1, kShared = 0.5;
  std::optional<VectorXd> common;
  for (const Letter letter : letters) {
    if (head.letters[letter].reflections.size() != 2) return;
    HeadReflection &a = head.letters[letter].reflections[0], &b = head.letters[letter].reflections[1];
    if (a.beta != 2 || b.beta != 2) continue;
    const double cosine = a.key.dot(b.key);
    const VectorXd across = b.key - cosine * a.key;
    const double sine = across.norm();
    if (sine < kPlane) continue;
    if (!common) common = a.key;
    const VectorXd other = across / sine;
    Eigen::Vector2d wanted(a.key.dot(*common), other.dot(*common));
    if (wanted.norm() < kShared) continue;
    wanted.normalize();
    // The state that both leave alone, as far as it lies in their plane.
    const MatrixXd fixed = a.key * a.value.transpose() + other * ((b.value - cosine * a.value) / sine).transpose();
    const VectorXd first = wanted(0) * a.key + wanted(1) * other, second = wanted(0) * other - wanted(1) * a.key;
    a.key = first;
    b.key = cosine * first + sine * second;
    a.value = fixed.transpose() * a.key;
    b.value = fixed.transpose() * b.key;
  }
}

std::optional<MatrixXd> held_states(const Head& head, const TaskAutomaton& input, const TrackedAutomaton& tracked) {
  const Dfa& automaton = tracked.automaton;
  const MatrixXd first = first_state(head, input);
  double greatest = first.cwiseAbs().maxCoeff();
  MatrixXd held = MatrixXd::Zero(first.size(), static_cast<Eigen::Index>(automaton.states()));
  std::vector<bool> is_known(automaton.states(), false);
  std::vector<State> queue{automaton.initial()};
  held.col(automaton.initial()) = first.reshaped();
  is_known[automaton.initial()] = true;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      const State to = automaton.next(queue[i], letter);
      if (tracked.wanted[to] == TrackedAutomaton::kNoSuchWord) continue;
      MatrixXd state = held.col(queue[i]).reshaped(first.rows(), first.cols());
      read(head.letters[input.inputs[letter]], state);
      greatest = std::max(greatest, state.cwiseAbs().maxCoeff());
      if (is_known[to]) {
        if (differ(state.reshaped(), held.col(to), greatest)) return std::nullopt;
        continue;
      }
      held.col(to) = state.reshaped();
      is_known[to] = true;
      queue.push_back(to);
    }
  return held;
}

std::size_t silence_strays(std::vector<std::optional<Head>>& heads, const TaskAutomaton& input,
                           const TrackedAutomaton& tracked) {
  constexpr std::size_t kMostStates = 2000;
  if (tracked.automaton.states() > kMostStates) return 0;
  std::vector<MatrixXd> followers;
  std::vector<std::size_t> strays;
  for (std::size_t i = 0; i < heads.size(); ++i)
    if (heads[i]) {
      if (auto held = held_states(*heads[i], input, tracked))
        followers.push_back(*std::move(held));
      else
        strays.push_back(i);
    }
  const auto are_told_apart = [&](State p, State q) {
    return std::ranges::any_of(
        followers, [&](const MatrixXd& held) { return differ(held.col(p), held.col(q), held.cwiseAbs().maxCoeff()); });
  };
  for (State p = 0; p < tracked.automaton.states(); ++p)
    for (State q = 0; q < p; ++q)
      if (tracked.is_asked(p) && tracked.is_asked(q) && tracked.wanted[p] != tracked.wanted[q] && !are_told_apart(p, q))
        return 0;
  for (const std::size_t stray : strays) heads[stray].reset();
  return strays.size();
}

}  // namespace krohn
