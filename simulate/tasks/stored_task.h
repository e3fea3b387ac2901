// simulate/tasks/stored_task.h — what a model's file says of its task, so that the same task is made from it wherever
// it is opened: a language's own file may have changed since, or be elsewhere, and a regex be read with other options.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "krohn/automata/language.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

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
