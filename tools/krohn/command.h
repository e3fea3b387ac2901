// tools/krohn/command.h — the whole command: arguments in, exit status out.
#pragma once

#include <cfenv>

namespace krohn {

/// The floating-point environment that the process was started in, from before `run_command` set its own.
const std::fenv_t& started_environment();

/// Parses the arguments, does the work of the verb, prints errors as one "krohn: …" line on standard error. Returns the
/// exit status and never throws.
int run_command(int argc, const char* const* argv) noexcept;

}  // namespace krohn
