#include "krohn/simulate/closing/reflection_heads.h"

#include <algorithm>
#include <optional>

#include "krohn/groups/random.h"

namespace krohn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

}  // namespace

double silence_idle(Head& head, const TaskAutomaton& input) {
  constexpr double kIdle = 0.1;
  constexpr int kWords = 50, kLetters = 12;
  std::vector<std::vector<double>> moves;
  for (const LetterOfHead& letter : head.letters) moves.emplace_back(letter.reflections.size(), 0);
  Random random(1);
  const auto read = [&](MatrixXd& state, Letter letter) {
    for (std::size_t j = 0; j < moves[letter].size(); ++j) {
      const HeadReflection& part = head.letters[letter].reflections[j];
      const VectorXd move = part.beta * (part.value - state.transpose() * part.key);
      state += part.key * move.transpose();
      moves[letter][j] = std::max(moves[letter][j], move.norm());
    }
  };
  const HeadReflection& any = head.letters[input.inputs.front()].reflections.front();
  for (int word = 0; word < kWords; ++word) {
    MatrixXd state = MatrixXd::Zero(any.key.size(), any.value.size());
    for (const Letter letter : input.before) read(state, letter);
    for (int i = 0; i < kLetters; ++i) read(state, input.inputs[random.below(input.inputs.size())]);
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

}  // namespace krohn
