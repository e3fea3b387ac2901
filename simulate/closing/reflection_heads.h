// simulate/closing/reflection_heads.h — what letters do to a head of reflections, S ← S + β k (v − Sᵀk)ᵀ, and what of
// that says nothing.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
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
};

/// β becomes 0 where a reflection does not move the states that random words lead to by more than a tenth of the
/// greatest move of the head: its key and its value say nothing. Returns the greatest move that is lost, by the
/// greatest of all.
double silence_idle(Head& head, const TaskAutomaton& input);

/// Of two reflections, β = 2, only the product is determined, a turn by twice the angle between their keys: both may be
/// turned in their plane together. They are, until the first key of every letter is that of the first letter, or as
/// near to it as the plane comes. Letters stay as they are whose keys are within 0.1 (a sine) of one direction, or
/// whose plane has less than half of the first key. The state that both leave alone stays; nothing for other heads.
void align_turns(Head& head, const std::vector<Letter>& letters);

/// What the head holds in each state of the automaton, a column a state. Nothing where two words that lead to one state
/// leave different numbers behind: what it holds is no matter of the automaton, or of no finite number of states.
std::optional<Eigen::MatrixXd> held_states(const Head& head, const TaskAutomaton& input,
                                           const TrackedAutomaton& tracked);

/// Silences the heads that hold no function of the automaton's state, where the others tell all answers apart. Returns
/// how many; 0 for automata of more than 2,000 states.
std::size_t silence_strays(std::vector<std::optional<Head>>& heads, const TaskAutomaton& input,
                           const TrackedAutomaton& tracked);

}  // namespace krohn
