// simulate/closing/learned_states.h — where a trained model's states lie while it is in each state of its task's
// automaton, and which letters lead from where to where.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "krohn/simulate/closing/integer_code.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// Points are states of the automaton that the task asks about, as far as its words meet them. That automaton tells
/// apart what may follow: a digit may leave another code behind than the sign that leads to the same state. A point
/// that no letter leads to lies where its like of the same label does (simulate/closing/point_moves.h): a word may
/// begin anywhere that its letters take to the right places.
struct LearnedStates {
  Eigen::MatrixXd means;       ///< hidden × points
  std::vector<State> states;   ///< point ↦ state
  std::vector<Output> wanted;  ///< point ↦ label
  std::vector<bool> is_asked;
  std::vector<LearnedCode::Move> moves;  ///< by letter of the automaton
  Eigen::Index initial = 0;
};

/// Along random words of twelve letters: as long as those that models are trained on, for behind them trained states
/// may have drifted. A thousand words, or as many as make every move thirty times, up to 20,000.
LearnedStates learned_states(const TrainedReader& machine, const Task& task, const TrackedAutomaton& tracked);

}  // namespace krohn
