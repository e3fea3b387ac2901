// tools/krohn/command.h — the whole command: arguments in, exit status out; help pages that begin with an example.
#pragma once

#include <CLI/CLI.hpp>

#include <cfenv>
#include <optional>
#include <string>
#include <vector>

#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

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

// Help pages.

/// krohn(1) in the language of man: a line of NAME, the command's page, and a section with the page of every verb.
std::string manual_page(const CLI::App& app);

/// How a verb presents itself: `krohn help VERB` prints synopsis, examples, description and options, in this order.
struct VerbHelp {
  std::string summary;      ///< one line for the list of verbs
  std::string synopsis;     ///< "krohn verify MODEL [--against LANGUAGE] …"
  std::string examples;     ///< whole command lines, indented, one a line
  std::string description;  ///< paragraphs
};

/// Reads tools/krohn/help/NAME.md, which is a part of the program.
VerbHelp verb_help(const std::string& name);

/// The page of one verb: synopsis, examples, description, options.
class VerbFormatter : public CLI::Formatter {
 public:
  explicit VerbFormatter(VerbHelp help) : help_(std::move(help)) {
    column_width(26);
    label("Positionals", "Arguments");
  }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option_opts(const CLI::Option* option) const override;

 private:
  VerbHelp help_;
};

/// The page of the command: three lines that work, the verbs, what a language is.
class CommandFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

/// The values that an option takes, when it takes one of a list.
std::vector<std::string> choices(const CLI::Option& option);

}  // namespace krohn
