// tools/krohn/manual.h — the manual page, made from the help pages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace krohn {

/// krohn(1) in the language of man: a line of NAME, the command's page, and a section with the page of every verb.
std::string manual_page(const CLI::App& app);

}  // namespace krohn
