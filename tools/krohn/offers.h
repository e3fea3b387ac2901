// tools/krohn/offers.h — what completion offers where an option does not list its values itself.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace krohn {

/// The values of an option or argument that takes or suggests some of a list, the tasks of TASK; otherwise nothing.
std::vector<std::string> offers(const CLI::Option& option);

/// Whether it takes a language, and with it what `language_names` holds.
bool takes_language(const CLI::Option& option);

/// "name:parity", "name:S5", …: an example of every family.
std::vector<std::string> language_names();

}  // namespace krohn
