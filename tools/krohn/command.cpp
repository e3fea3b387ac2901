#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <sstream>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "tools/krohn/command.h"
#include "tools/krohn/help.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr std::size_t kLongestMessage = 16'000;

int complain(std::string_view message, int status) {
  // Names in messages are quoted where they are put in. A last sieve for what was not: whatever a name holds, no line
  // but the first begins at the margin, where a verdict would.
  std::string shown = visible_lines(cut_short(message, kLongestMessage));
  for (std::size_t at = 0; (at = shown.find('\n', at)) != std::string::npos; at += 3) shown.insert(at + 1, "  ");
  fmt::print(stderr, "krohn: {}\n", shown);
  return status;
}

/// A full disk shows itself on standard output only when the last bytes are flushed.
void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw SystemError(fmt::format("standard output: cannot write: {}", std::strerror(errno)));
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool has_dash(const std::string& argument) { return argument.size() > 1 && argument.front() == '-'; }

/// "\"b\" and \"c\"", in the order in which they were given.
std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 < names.size() ? ", " : " and ", names[i]);
  return text;
}

[[noreturn]] void unknown_verb(const CLI::App& app, const std::string& given) {
  std::string hint = did_you_mean(given, verbs_of(app));
  if (hint.empty() && given.find_first_of(":./") != std::string::npos)
    hint = fmt::format(" The verb comes first, as in `krohn info {}`.", given);
  throw InputError(fmt::format("there is no verb \"{}\".{} `krohn help` lists the verbs.", given, hint));
}

/// The arguments as the verbs take them: `help VERB` and `version` are other words for options. Throws InputError where
/// no verb is named.
std::vector<std::string> with_verb_first(const CLI::App& app, std::vector<std::string> arguments) {
  const auto is_verb = [names = verbs_of(app)](const std::string& name) { return std::ranges::count(names, name) > 0; };
  if (arguments.empty()) throw InputError("which verb? `krohn help` lists them, `krohn help VERB` describes one.");
  const std::string& first = arguments.front();
  if (first == "help") {
    if (arguments.size() == 1) return {"--help"};
    if (!is_verb(arguments[1])) unknown_verb(app, arguments[1]);
    return {arguments[1], "--help"};
  }
  if (first == "-v" || first == "-V" || first == "version") return {"--version"};
  if (is_verb(first) || std::ranges::count(option_names(app), first) > 0) return arguments;
  if (!has_dash(first)) unknown_verb(app, first);
  if (const auto verb = std::ranges::find_if(arguments, is_verb); verb != arguments.end())
    throw InputError(fmt::format("the verb comes first: krohn {} {} …", *verb, first));
  throw InputError(fmt::format("there is no option \"{}\".{} `krohn help` lists the verbs.", first,
                               did_you_mean(first, option_names(app))));
}

/// The arguments that the verb does not take, or nothing.
std::string surplus(const CLI::App& verb) {
  std::vector<std::string> left = verb.remaining();
  for (std::string& argument : left) {
    const bool is_unknown = has_dash(argument);  // no value begins with a dash before it is as typed
    argument = as_typed(argument);
    if (is_unknown) {
      const std::string name = argument.substr(0, argument.find('='));
      return fmt::format("{} has no option \"{}\".{}", verb.get_name(), name, did_you_mean(name, option_names(verb)));
    }
  }
  if (left.empty()) return {};
  return fmt::format("{} has no place for {}; quote an argument with spaces or with signs of the shell, such as *",
                     verb.get_name(), quoted_list(left));
}

/// The command-line library's complaint, in the words of this command. The texts of its errors begin with the name
/// of the option or of the argument, but for values that it cannot convert.
std::string in_our_words(const CLI::App& verb, const CLI::ParseError& error) {
  if (const std::string text = surplus(verb); !text.empty()) return text;
  constexpr std::string_view kUnread = "Could not convert: ";
  const std::string kind = error.get_name(), said = error.what();
  const std::string text = said.substr(said.starts_with(kUnread) ? kUnread.size() : 0);
  const std::string subject = text.substr(0, text.find_first_of(": "));
  if (kind == "RequiredError") return fmt::format("{} needs {}", verb.get_name(), subject);
  if (kind == "ArgumentMismatch")
    return subject + (text.ends_with("missing") ? " needs a value" : " is given more than once");
  if (kind == "ConversionError" || kind == "InvalidError") return fmt::format("{} takes no value", subject);
  return text;
}

/// The first line of the verb's examples that begins with it.
std::string first_example(const std::string& verb) {
  std::istringstream examples(verb_help(verb).examples);
  for (std::string line; std::getline(examples, line);)
    if (const std::string example = line.substr(line.find_first_not_of(' '));
        example.starts_with("krohn " + verb + " "))
      return example;
  return {};
}

/// Help and version are "errors" to the library; the rest are mistakes in the arguments.
int usage_outcome(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* verb = &app;
  for (const CLI::App* chosen : app.get_subcommands()) verb = chosen;
  if (error.get_exit_code() == 0) {
    const bool version = error.get_name() == "CallForVersion";
    fmt::print("{}", version ? std::string(error.what()) + "\n" : verb->help());
    flush_output();
    return kDone;
  }
  std::string hint = fmt::format("`krohn help {}`", verb->get_name());
  if (error.get_name() == "RequiredError")
    if (const std::string example = first_example(verb->get_name()); !example.empty())
      hint = fmt::format("`{}`, or {}", example, hint);
  return complain(fmt::format("{}\nTry {}.", in_our_words(*verb, error), hint), kBadInput);
}

std::vector<std::string> given;
std::fenv_t started;

int parse_and_work(int argc, const char* const* argv) {
  // Threads are given to words and to training runs, as --threads says, not to single products of matrices.
  Eigen::setNbThreads(1);
  CLI::App app;
  Work chosen;
  build_command(app, chosen);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments == std::vector<std::string>{"help", "--man"}) {
    fmt::print("{}", manual_page(app));
    flush_output();
    return kDone;
  }
  given = arguments;
  arguments = with_verb_first(app, std::move(arguments));
  try {
    parse_as_typed(app, arguments);
  } catch (const CLI::ParseError& error) {
    return usage_outcome(app, error);
  }
  int status = kDone;
  {
    const Watch watch(given_limits(), given_work());
    status = within_limits(given_limits(), /*is_alone=*/true, chosen);
  }
  flush_output();
  return status;
}

}  // namespace

const std::fenv_t& started_environment() { return started; }

int take_command(std::vector<std::string> arguments) {
  const FloatEnvironment environment;
  Eigen::setNbThreads(1);
  given = arguments;
  CLI::App app;
  Work chosen;
  build_command(app, chosen);
  arguments = with_verb_first(app, std::move(arguments));
  parse_as_typed(app, arguments);
  return chosen();
}

Asked ask_command(std::vector<std::string> arguments) {
  std::fegetenv(&started);
  const FloatEnvironment environment;
  Eigen::setNbThreads(1);
  CLI::App app;
  Work chosen;
  build_command(app, chosen);
  if (arguments.empty() || std::ranges::count(verbs_of(app), arguments.front()) == 0)
    throw InputError("ask_command", "the first argument is a verb");
  const CLI::App* const verb = app.get_subcommand(arguments.front());
  arguments.insert(arguments.begin() + 1, "--json");
  try {
    parse_as_typed(app, arguments);
  } catch (const CLI::ParseError& error) {
    throw InputError(in_our_words(*verb, error));
  }
  const JsonTaker taker;
  const VerdictTaker verdicts;
  const int status = within_limits(given_limits(), /*is_alone=*/false, chosen);
  return {status, taker.text(), verdicts.verdict()};
}

const std::vector<std::string>& given_arguments() { return given; }

int run_command(int argc, const char* const* argv) noexcept try {
  std::fegetenv(&started);
  const FloatEnvironment environment;
  return parse_and_work(argc, argv);
} catch (const Contradiction& error) {
  return complain(error.what(), kContradiction);
} catch (const LimitError& error) {
  return complain(error.what(), kUndecided);
} catch (const Interrupted& error) {
  return complain(error.what(), kInterruptedStatus);
} catch (const std::bad_alloc&) {
  return complain(
      "out of memory; lower what the command holds (--max-states, --max-pairs, lengths, words), or take a larger "
      "machine",
      kUndecided);
} catch (const std::exception& error) {
  return complain(error.what(), kBadInput);
}

}  // namespace krohn
