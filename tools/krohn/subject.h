// tools/krohn/subject.h — what the user named: a language, or a model with the automaton inside it.
#pragma once

#include <optional>
#include <string>

#include "krohn/automata/language.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

struct Subject {
  std::string name;  ///< as the user wrote it
  Dfa automaton;
  std::optional<Network> network;  ///< when `name` is a .safetensors file
};

/// True for the names of .safetensors files.
bool is_model_name(const std::string& name);

Subject load_subject(const std::string& name, const LanguageOptions& options);

}  // namespace krohn
