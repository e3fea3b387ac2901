// simulate/tasks/bracket_task.h — modular arithmetic with brackets nested to any depth: context-free, so no automaton
// answers it.
#pragma once

#include <memory>

#include "krohn/simulate/tasks/task.h"

namespace krohn {

/// Expressions modulo m as Delétang et al. 2023 generate them and Grazzi E.1.2 prints them, followed by "=", where the
/// value is due. A length counts the tokens of the expression and "=". An expression of length n is a digit (n = 1), a
/// negated digit (2), a digit or negated digit in brackets (3, 4), or "( left op right )" with the length of `left`
/// uniform among the possible ones; the outermost brackets are left out. Memory O(depth of the expression).
std::unique_ptr<Task> bracket_task(TaskInfo info, std::uint64_t m);

}  // namespace krohn
