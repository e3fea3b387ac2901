#include "tools/krohn/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace krohn {
namespace {

/// Text as it stands: no line is filled, and nothing in it is read as a command of roff.
std::string as_it_stands(const std::string& text) {
  std::string roff = ".nf\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('.') || line.starts_with('\'')) roff += "\\&";
    for (const char c : line) roff += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    roff += '\n';
  }
  return roff + ".fi\n";
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string page = fmt::format(
      ".TH KROHN 1 \"\" \"krohn {}\"\n.SH NAME\nkrohn \\- regular languages as exact weights of linear recurrent "
      "networks, "
      "with proofs\n.SH DESCRIPTION\n",
      KROHN_VERSION);
  page += as_it_stands(app.help());
  for (const CLI::App* verb : app.get_subcommands({})) {
    std::string title = verb->get_name();
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    page += fmt::format(".SH {}\n", title) + as_it_stands(verb->help());
  }
  return page;
}

}  // namespace krohn
