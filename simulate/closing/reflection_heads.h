// simulate/closing/reflection_heads.h — what letters do to a head of reflections, S ← S + β k (v − Sᵀk)ᵀ, and what of
// that says nothing.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "krohn/simulate/tasks/task_automaton.h"

namespace krohn {

/// One reflection of one letter in one head.
struct HeadReflection {
  Eigen::VectorXd key, value;  ///< key of norm 1
  double beta = 0;
};

/// What a letter does to a head, and asks of it.
struct LetterOfHead {
  std::vector<HeadReflection> reflections;
  Eigen::VectorXd query;
};

struct Head {
  std::vector<LetterOfHead> letters;  ///< as many reflections each
  Eigen::MatrixXd out = {};           ///< what a model reads is made of, up to a factor: outputs × values
};

/// β becomes 0 where a reflection does not move the states that random words lead to by more than a tenth of the
/// greatest move of the head: its key and its value say nothing. Returns the greatest move that is lost, by the
/// greatest of all.
double silence_idle(Head& head, const TaskAutomaton& input);

/// Of two reflections, β = 2, only the product is determined, a turn by twice the angle between their keys: both may be
/// turned in their plane together. They are, until the first key of every letter is the direction that all planes
/// share, or as near to it as the letter's comes: turns of a plane share the first letter's first key, those of a
/// tetrahedron the line in which their planes meet. Letters stay as they are whose keys are within 0.1 (a sine) of one
/// direction, or whose plane has less than half of the shared one. The state that both leave alone stays; nothing for
/// other heads.
void align_turns(Head& head, const std::vector<Letter>& letters);

/// What heads hold together after words, each time with the automaton's state there.
struct HeldStates {
  std::vector<State> at;
  std::vector<std::vector<Eigen::MatrixXd>> numbers;  ///< keys × values of every head
  std::vector<double> greatest;                       ///< of every head's numbers

  /// By more than roundings.
  bool differ(const std::vector<Eigen::MatrixXd>& a, const std::vector<Eigen::MatrixXd>& b) const;
  /// Whether words that are answered otherwise leave other numbers behind.
  bool tell_answers(const TrackedAutomaton& tracked) const;
};

/// Nothing where they are more than `most`. A head follows the automaton where they are as many as its states, those
/// of no head at all.
std::optional<HeldStates> held_states(std::span<const Head* const> heads, const TaskAutomaton& input,
                                      const TrackedAutomaton& tracked, std::size_t most);

/// Silences the heads that are not needed to tell all answers apart and take up more states than the automaton has:
/// those of infinitely many, or of so many that the proof would be of their products. Heads that follow the automaton
/// stay; where they are not enough, those of fewest states follow, such as one that holds a tetrahedron's twelve turns
/// for Z_3. Returns how many are silenced; nothing, and all stay, where no heads of up to 2,000 states together tell
/// all answers apart, or the automaton has more.
std::optional<std::size_t> silence_strays(std::vector<std::optional<Head>>& heads, const TaskAutomaton& input,
                                          const TrackedAutomaton& tracked);

}  // namespace krohn
