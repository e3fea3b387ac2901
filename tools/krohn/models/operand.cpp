#include "tools/krohn/models/operand.h"

#include <filesystem>

#include "tools/krohn/models/subject.h"

namespace krohn {

Automaton load_operand(const std::string& name, const LanguageOptions& options) {
  std::error_code error;
  // Folders are refused, or a checkpoint's language is found, in one place.
  if (is_model_name(name) || std::filesystem::is_directory(name, error))
    return load_subject(name, options, stderr).automaton;
  return load_automaton(name, options);
}

}  // namespace krohn
