// simulate/tasks/tasks.h — the tasks of the three papers by name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/language.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// How many input tokens a length means, and how many [PAD] follow.
struct TaskShape {
  std::uint64_t content = 0;
  std::uint64_t padding = 0;
};

/// How a sample is laid out: before, content, after, padding.
struct TaskLayout {
  std::vector<std::string> before, after;  ///< special tokens: "[BOS]"; "=", "[EOI]"
  bool padded = false;                     ///< the alphabet has "[PAD]"
  TaskShape (*shape)(std::uint64_t length) = nullptr;
  std::uint64_t due_every = 1;  ///< where answers are due at inputs: the first, and every so many after it
};

/// The same automaton with letters that do not move it added behind its own.
Dfa with_neutral_letters(const Dfa& dfa, const std::vector<std::string>& names);

/// A task over `machine` and the special tokens of the layout. `labels` name the outputs of the machine, in order.
std::unique_ptr<Task> automaton_task(TaskInfo info, const Dfa& machine, std::unique_ptr<TaskContent> content,
                                     TaskLayout layout, std::vector<std::string> labels);

/// How the samples of one length are made, for whoever makes them elsewhere: before, `content` letters, after; then
/// padding, at which no answer is due.
struct SamplePlan {
  const Dfa* oracle = nullptr;  ///< over the task's alphabet; a target is its output
  TargetPlace place = TargetPlace::kEnd;
  std::vector<Letter> before, after;
  ContentPlan letters;
  std::uint64_t content = 0;
};

/// Nothing for a task that no automaton answers, or that asks at some inputs alone. Throws InputError when the length
/// is not one of the task's. The task has to outlive the plan.
std::optional<SamplePlan> sample_plan(const Task& task, std::uint64_t length);

// The automaton of a task over its input letters alone, and the special tokens around them.

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

/// The tasks of Fan et al. 2024, Grazzi et al. 2025 and Ebrahimi & Memisevic 2025, with the parameters of the papers.
std::vector<TaskInfo> tasks();

/// The task of that name. Parameters may differ from the papers' ("sum7", "ltrarith20", "A5").
///
///   sum5 evenpair5 modarith5               Fan §4.1: no special tokens, the answer at the last token
///   sum5/prefixes modarith5/prefixes …     the same as Fan's released code trains: an answer at every letter, of
///                                          modarith at every number
///   parity                                 Grazzi E.1.2: an answer at every token
///   modarith-equals5 modarith-brackets5    Grazzi E.1.2: the answer at "=", [PAD] to the length
///   S5 S5/swaps "S5/swaps and 3-cycles" S5/tokens=4 Z60 Z60/tokens=2, any group
///                                          Grazzi E.2: [BOS], then elements, the product so far at every element
///   modadd10 rsm:m=10,seed=1 ltrarith10    Ebrahimi B.1: [BOS] inputs [EOI], the answer at [EOI]
///
/// Any other name of a language, and any language as `load_language` takes it (`name:…`, `regex:…`, a file with the
/// ending of a format), is a `language_task`: "name:S5" is the bare word problem, "S5" the paper's task on it.
/// Throws InputError with near misses, LimitError.
std::unique_ptr<Task> make_task(std::string_view name, const LanguageOptions& options = {});

/// True if a task of this name is a language that is read (`regex:…`, a file, …): of others the name says all, but for
/// the generators of a group.
bool is_language_name(std::string_view name);

/// Words drawn uniformly, with the automaton's output due at every letter; lengths as the papers have them for parity.
/// Throws InputError for an automaton without letters.
std::unique_ptr<Task> language_task(std::string name, const Dfa& automaton);

}  // namespace krohn
