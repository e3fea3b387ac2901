// krohn completion — a script for the shell that completes verbs, options, values, the names of languages behind
// "name:", and file names elsewhere; made from the command's own options so that it cannot go stale.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "krohn/automata/families/families.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/help.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

/// Shells split words at spaces.
std::vector<std::string> without_spaces(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return name.find(' ') != std::string::npos; });
  return names;
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const TaskInfo& task : tasks()) names.push_back(task.name);
  return without_spaces(std::move(names));
}

/// "TASK" of "TASK,--task".
std::string name_of(const CLI::Option& option) { return option.get_name(option.get_positional()); }

/// The values of an option or argument that takes or suggests some of a list, the tasks of TASK; otherwise nothing.
std::vector<std::string> offers(const CLI::Option& option) {
  if (name_of(option) == "TASK") return task_names();
  return choices(option);
}

/// True if it takes a language, and with it what `language_names` holds.
bool takes_language(const CLI::Option& option) {
  const std::string name = name_of(option);
  return name == "LANGUAGE" || name == "TASK" || name == "IN" || name == "OTHER" || name == "EXPRESSION" ||
         name == "--against";
}

/// "name:parity", "name:S5", …: an example of every family.
std::vector<std::string> language_names() {
  std::vector<std::string> names;
  for (const FamilyInfo& family : families()) names.push_back("name:" + family.example);
  return without_spaces(std::move(names));
}

std::vector<const CLI::App*> shown_verbs(const CLI::App& app) {
  std::vector<const CLI::App*> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) verbs.push_back(verb);
  return verbs;
}

std::vector<const CLI::Option*> options_of(const CLI::App& verb, bool positional) {
  return verb.get_options([positional](const CLI::Option* option) { return option->get_positional() == positional; });
}

/// "-o" and "--output".
std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string bash_verb(const CLI::App& verb) {
  std::vector<std::string> words;
  std::string values;
  for (const CLI::Option* option : options_of(verb, false)) {
    const auto names = spellings(*option);
    words.insert(words.end(), names.begin(), names.end());
    if (const auto list = offers(*option); !list.empty())
      values += fmt::format("    {}.{}) words=\"{}\" ;;\n", verb.get_name(),
                            fmt::join(names, fmt::format(" | {}.", verb.get_name())), fmt::join(list, " "));
  }
  for (const CLI::Option* option : options_of(verb, true)) {
    const auto list = offers(*option);
    words.insert(words.end(), list.begin(), list.end());
    if (takes_language(*option)) words.emplace_back("name:");
  }
  return values + fmt::format("    {}.*) words=\"{}\" ;;\n", verb.get_name(), fmt::join(words, " "));
}

/// Text inside a single-quoted _arguments specification.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// For zsh, which reads brackets as patterns. No name has a quote in it.
std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}'{}'", text.empty() ? "" : " ", word);
  return text;
}

std::string zsh_values(const CLI::Option& option) {
  if (option.get_type_size() == 0) return "";
  const auto list = offers(option);
  if (takes_language(option) && list.empty()) return ":language:_krohn_language";
  return list.empty() ? ":value:_files" : fmt::format(":value:({})", fmt::join(list, " "));
}

std::string zsh_verb(const CLI::App& verb) {
  std::string text = fmt::format("    {})\n      _arguments -s \\\n", verb.get_name());
  for (const CLI::Option* option : options_of(verb, false))
    for (const std::string& name : spellings(*option))
      text += fmt::format("        '{}[{}]{}' \\\n", name, zsh_text(option->get_description()), zsh_values(*option));
  for (const CLI::Option* option : options_of(verb, true)) {
    const auto list = offers(*option);
    text +=
        fmt::format("        '{}:{}:{}' \\\n", option->get_expected_max() > 1 ? "*" : "", zsh_text(option->get_name()),
                    takes_language(*option) && list.empty() ? "_krohn_language"
                    : list.empty()                          ? "_files"
                                                            : fmt::format("({})", fmt::join(list, " ")));
  }
  text.resize(text.size() - 3);  // the last continuation
  return text + " ;;\n";
}

/// Text inside single quotes of fish.
std::string fish_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string fish_verb(const CLI::App& verb) {
  const std::string here = fmt::format("complete -c krohn -n '__fish_seen_subcommand_from {}'", verb.get_name());
  std::string text;
  for (const CLI::Option* option : options_of(verb, false)) {
    text += here;
    for (const std::string& name : option->get_snames()) text += " -s " + name;
    for (const std::string& name : option->get_lnames()) text += " -l " + name;
    if (option->get_type_size() != 0) {
      const auto list = offers(*option);
      text += list.empty() ? " -r -F" : fmt::format(" -x -a '{}'", fish_text(fmt::format("{}", fmt::join(list, " "))));
    }
    text += fmt::format(" -d '{}'\n", fish_text(option->get_description()));
  }
  for (const CLI::Option* option : options_of(verb, true))
    if (const auto list = offers(*option); !list.empty())
      text += fmt::format("{} -a '{}'\n", here, fish_text(fmt::format("{}", fmt::join(list, " "))));
  return text;
}

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* verb : shown_verbs(app)) {
    names.push_back(verb->get_name());
    cases += bash_verb(*verb);
  }
  return fmt::format(R"(# bash completion for krohn; made by `krohn completion bash`.
_krohn() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{} help --help --version" -- "$word"))
    return
  fi
  if [[ ${{COMP_WORDS[1]}} == help ]]; then
    COMPREPLY=($(compgen -W "{}" -- "$word"))
    return
  fi
  # A shell that breaks words at ":" makes three of name:S5, and wants what follows the ":".
  local names="{}"
  if [[ $word == : && ${{COMP_WORDS[COMP_CWORD - 1]}} == name ]]; then
    COMPREPLY=(${{names//name:/}})
    return
  elif [[ ${{COMP_WORDS[COMP_CWORD - 1]}} == : && ${{COMP_WORDS[COMP_CWORD - 2]}} == name ]]; then
    COMPREPLY=($(compgen -W "${{names//name:/}}" -- "$word"))
    return
  elif [[ $word == name:* ]]; then
    COMPREPLY=($(compgen -W "$names" -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}}.${{COMP_WORDS[COMP_CWORD - 1]}} in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}}
complete -o filenames -F _krohn krohn
)",
                     fmt::join(names, " "), fmt::join(names, " "), fmt::join(language_names(), " "), cases);
}

std::string zsh_completion(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* verb : shown_verbs(app)) {
    names += fmt::format("    '{}:{}'\n", verb->get_name(), zsh_text(verb->get_description()));
    cases += zsh_verb(*verb);
  }
  return fmt::format(R"(#compdef krohn
# zsh completion for krohn; made by `krohn completion zsh`.
_krohn_language() {{
  compadd -- {}
  _files
}}
_krohn() {{
  local -a verbs=(
{})
  if ((CURRENT == 2)); then
    _describe verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  ((CURRENT--))
  case $verb in
{}  esac
}}
_krohn "$@"
)",
                     quoted(language_names()), names, cases);
}

std::string fish_completion(const CLI::App& app) {
  std::string text = "# fish completion for krohn; made by `krohn completion fish`.\n";
  for (const CLI::App* verb : shown_verbs(app))
    text += fmt::format("complete -c krohn -n __fish_use_subcommand -f -a {} -d '{}'\n", verb->get_name(),
                        fish_text(verb->get_description()));
  for (const CLI::App* verb : shown_verbs(app)) text += fish_verb(*verb);
  text += fmt::format("complete -c krohn -n 'string match -q \"name:*\" -- (commandline -ct)' -f -a '{}'\n",
                      fish_text(fmt::format("{}", fmt::join(language_names(), " "))));
  return text;
}

}  // namespace

Work add_completion(Verb& verb) {
  const auto shell = std::make_shared<std::string>();
  verb.add_option("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  return [shell, &app = verb.command()] {
    const auto script = *shell == "bash" ? bash_completion : *shell == "zsh" ? zsh_completion : fish_completion;
    std::fputs(script(app).c_str(), stdout);
    return static_cast<int>(kDone);
  };
}

}  // namespace krohn
