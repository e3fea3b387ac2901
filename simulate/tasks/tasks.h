// simulate/tasks/tasks.h — the tasks of the three papers by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

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
