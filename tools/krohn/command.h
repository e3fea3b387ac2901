// tools/krohn/command.h — the whole command: arguments in, exit status out.
#pragma once

namespace krohn {

/// Parses the arguments, does the work of the verb, prints errors as one "krohn: …" line on standard error. Returns the
/// exit status and never throws.
int run_command(int argc, const char* const* argv) noexcept;

}  // namespace krohn
