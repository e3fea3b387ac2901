// simulate/tasks/task_automaton.h — the automaton of a task over its input letters alone, and the special tokens around
// them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/language.h"
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

/// The truth for a model of the task: an automaton over the task's input letters, asked where samples of the
/// task ask, of that length or longer ones where they ask at the end. A right answer is the task's label with the name
/// of the automaton's output. The product of the automaton with Task::asked_inputs. Throws InputError when the
/// automaton has other letters, or no output of a label's name.
TrackedAutomaton tracked_automaton(const Task& task, const Dfa& automaton, std::uint64_t least_length = 0);

// The description of its task in a model's file, so that the same task is made from it wherever
// it is opened: a language's own file may have changed since, or be elsewhere, and a regex be read with other options.

/// Metadata of a file. "oracle": the fingerprint of the task's automaton, where it has one, letters and answers in
/// their order. "automaton": that automaton itself, as krohn's JSON, of a task that is a language (a file, `regex:…`)
/// and whose text has at most 4 MiB. "generators": the option that a group was read with.
std::map<std::string, std::string> stored_task(const Task& task, const LanguageOptions& options = {});

/// The task that was stored with `metadata` under `name`: of the automaton that stands there, or by `make_task` with
/// the generators that do. `options` are how a language is read whose automaton was too large to stand there, and any
/// task of a file without an oracle, which is taken for the one of that name. `where` names the file in errors. Throws
/// InputError when the task's automaton is another one than the model was made for, and what make_task throws.
std::unique_ptr<Task> restored_task(const std::string& name, const std::map<std::string, std::string>& metadata,
                                    const LanguageOptions& options, const std::string& where);

}  // namespace krohn
