#include "tools/krohn/offers.h"

#include "krohn/automata/families/families.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/help.h"

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

}  // namespace

std::vector<std::string> offers(const CLI::Option& option) {
  if (name_of(option) == "TASK") return task_names();
  return choices(option);
}

bool takes_language(const CLI::Option& option) {
  const std::string name = name_of(option);
  return name == "LANGUAGE" || name == "TASK" || name == "IN" || name == "OTHER" || name == "EXPRESSION" ||
         name == "--against";
}

std::vector<std::string> language_names() {
  std::vector<std::string> names;
  for (const FamilyInfo& family : families()) names.push_back("name:" + family.example);
  return without_spaces(std::move(names));
}

}  // namespace krohn
