// tools/krohn/command.h — the whole command: arguments in, exit status out.
#pragma once

#include <cfenv>
#include <optional>
#include <string>
#include <vector>

#include "tools/krohn/report/verdict.h"

namespace krohn {

/// The floating-point environment that the process was started in, from before `run_command` set its own.
const std::fenv_t& started_environment();

/// The command line that is being worked on, without the name of the program.
const std::vector<std::string>& given_arguments();

/// Parses the arguments, does the work of the verb, prints errors as one "krohn: …" line on standard error. Returns the
/// exit status and never throws.
int run_command(int argc, const char* const* argv) noexcept;

/// Does the work of a verb, with a command line that run_command took elsewhere. Throws what the verb throws.
int take_command(std::vector<std::string> arguments);

/// The answer of a verb to a program that asks in this process.
struct Asked {
  int status = 0;
  std::string json;                     ///< the output of --json
  std::optional<TakenVerdict> verdict;  ///< of `krohn verify`
};

/// Does the work of a verb that has --json: {"verb", options …}, without --json itself. Nothing is printed. Throws what
/// the verb throws, and InputError for arguments that it does not take.
Asked ask_command(std::vector<std::string> arguments);

}  // namespace krohn
