// tools/krohn/models/refused_target.h — architectures that people ask for and krohn does not write, each with its
// reason.
#pragma once

#include <string_view>

namespace krohn {

/// Why there is no such --target, and what to take instead; empty for names that are not in the list.
std::string_view refusal_of_target(std::string_view name);

}  // namespace krohn
