// tools/krohn/models/rival_process.h — models that PyTorch trains: krohn's own Python package does it, in a process of
// its own (docs/results/rivals.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krohn {

/// "torch:lstm,hidden=64", "torch:lstm:hidden=64".
inline constexpr std::string_view kRivalPrefix = "torch:";

/// Runs `python3 -m krohn.rivals` with these arguments, KROHN_PYTHON in place of python3 where that is set, and returns
/// its exit status. Throws InputError with what to install when that Python has no krohn.rivals; `asked` is what asked
/// for it: "--model torch:…".
int run_rivals(const std::vector<std::string>& arguments, std::string_view asked);

}  // namespace krohn
