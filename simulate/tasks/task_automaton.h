// simulate/tasks/task_automaton.h — the automaton of a task over its input letters alone, and the special tokens around
// them.
#pragma once

#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

struct TaskAutomaton {
  Dfa automaton;               ///< outputs are the task's labels
  std::vector<Letter> inputs;  ///< letter of the automaton ↦ letter of the task
  std::vector<Letter> before;  ///< special tokens in front of every input
  std::vector<Letter> after;   ///< those behind it, up to the one at which the answer is due
};

/// Throws InputError when the task has no finite automaton.
TaskAutomaton input_machine(const Task& task);

/// What a model of the task is held against: an automaton over the task's input letters, asked where samples of the
/// task ask, of that length or longer ones where they ask at the end. A right answer is the task's label with the name
/// of the automaton's output. The product of the automaton with Task::asked_inputs. Throws InputError when the
/// automaton has other letters, or no output of a label's name.
TrackedAutomaton tracked_automaton(const Task& task, const Dfa& automaton, std::uint64_t least_length = 0);

}  // namespace krohn
