// tools/krohn/completion.h — shell completion, made from the command's own options so that it cannot go stale.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace krohn {

/// Scripts that complete verbs, options, values, the names of languages behind "name:", and
/// file names elsewhere.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace krohn
