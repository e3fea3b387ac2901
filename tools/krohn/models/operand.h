// tools/krohn/models/operand.h — a language that a question or an operation is about: not determinised beforehand.
#pragma once

#include <string>

#include "krohn/automata/language.h"

namespace krohn {

/// What `name` says, a .safetensors model's automaton included. Throws as load_subject.
Automaton load_operand(const std::string& name, const LanguageOptions& options);

}  // namespace krohn
