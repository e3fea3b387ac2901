// simulate/tasks/automaton_task.h — tasks whose answers an automaton gives: all of the three papers' but unbounded
// brackets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace krohn
