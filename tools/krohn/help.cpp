#include "tools/krohn/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "help_pages.h"

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

namespace {

constexpr const char* kExamples = R"(
  krohn compile 'regex:(a|b)*abb' -o abb.safetensors
  krohn verify abb.safetensors --length 1e8
  krohn draw 'regex:(a|b)*abb' -o abb.svg
)";

constexpr const char* kLanguages = R"(
LANGUAGE is a file (.dot .gv .att .fsm .mata .jff .json .regex .g .gap), or the automaton inside a .safetensors model,
or `regex:…`, `search:…`, or `name:…` (parity, Z60, S5, D4, tomita3, modarith5, random:m=10,seed=1; `krohn tasks --list`),
or `ltlf:…`, `pltl:…`, a formula of temporal logic on finite words,
or `expr:…`, an expression over any of these (`expr:a.dot & ~regex:a*`; `krohn help combine`).
Every verb takes --time SECONDS and --memory SIZE: at a limit it ends with status 3 and prints what it has found.
`krohn help VERB` describes a verb, examples first; `krohn help --man` prints the manual page.
Exit status: 0 done or proved, 1 refuted, 2 bad input, 3 undecided within the limits,
4 a check contradicts a proof (a bug in krohn; please report it), 130 interrupted.
)";

/// Longer lists of values are left to completion and to the verb's own output.
constexpr std::size_t kLongestList = 60;

}  // namespace

VerbHelp verb_help(const std::string& name) {
  const auto page = std::ranges::find(kHelpPages, name, &std::pair<std::string_view, std::string_view>::first);
  if (page == std::end(kHelpPages)) throw std::logic_error("no help page tools/krohn/help/" + name + ".md");
  std::istringstream lines{std::string(page->second)};
  VerbHelp help;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("# ") && help.summary.empty())
      help.summary = line.substr(2);
    else if (line.starts_with("    ") && help.synopsis.empty())
      help.synopsis = line.substr(4);
    else if (line.starts_with("    ") && help.description.empty())
      help.examples += line.substr(2) + "\n";
    else if (!line.empty() || !help.description.empty())
      help.description += line + "\n";
  return help;
}

std::vector<std::string> choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "TEXT:{fp64,fp32}"
  const std::size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> values;
  if (open == std::string::npos || close == std::string::npos) return values;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string value; std::getline(list, value, ',');) values.push_back(value);
  return values;
}

std::string VerbFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return "";
  std::string text;
  const std::string values = fmt::format("{}", fmt::join(choices(*option), "|"));
  if (values.size() > kLongestList)
    text = " NAME";
  else if (!values.empty())
    text = " " + values;
  else if (!option->get_positional())
    text = " " + option->get_type_name().substr(0, option->get_type_name().find(':'));
  if (!option->get_default_str().empty()) text += fmt::format(" [{}]", option->get_default_str());
  return text;
}

std::string VerbFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const {
  if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
  std::string page = fmt::format("{}\n\n{}\n{}", help_.synopsis, help_.examples, help_.description) +
                     make_positionals(app) + make_groups(app, mode);
  for (std::size_t at = 0; (at = page.find("\n\n\n", at)) != std::string::npos;) page.erase(at, 1);
  return page;
}

std::string CommandFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::string page = "krohn VERB LANGUAGE [options]\n";
  page += kExamples;
  page +=
      "\nTurns a regular language into the exact weights of a linear recurrent network, and proves that the two "
      "agree.\n\n";
  for (const CLI::App* verb : app->get_subcommands({}))
    page += fmt::format("  {:<12}{}\n", verb->get_name(), verb->get_description());
  return page + kLanguages;
}

}  // namespace krohn
