// tools/krohn/help.h — help pages, which begin with an example.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

namespace krohn {

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
