// tools/krohn/models/subject.h — what the user named: a language, or a model with the automaton inside it.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "krohn/automata/language.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

struct Subject {
  std::string name;  ///< as the user wrote it
  Dfa automaton;
  std::optional<Network> network;     ///< when `name` is a .safetensors file
  bool has_inferred_letters = false;  ///< a regular expression's or a formula's, without --alphabet
};

/// ", the characters that the expression names; others with --alphabet", or the like of a formula or ", all of Unicode;
/// …", where that is how the letters came about; otherwise nothing. `.` and `~` range over these letters only.
std::string remark_on_letters(const Subject& subject);

/// Says first, on standard output or, where that is for programs, on standard error, which states no word reaches from
/// the initial one: whoever calls it goes on with `canonical`, without them. Returns their number.
State tell_left_out(const Subject& subject, bool for_programs);

/// True for the names of .safetensors files.
bool is_model_name(const std::string& name);

/// Throws InputError unless `name` is that of a .safetensors file: what it is instead, where its beginning tells, and
/// what `verb` takes.
void require_model(const std::string& name, const std::string& verb);

/// Of a folder that `krohn compile --target torch` wrote, the network in it; any other name as it is.
std::string file_of_torch_folder(const std::string& name);

/// What `name` says, a folder of `krohn compile --target torch` included. Throws as load_language and load_network.
/// `remarks` (standard error, for a person) is told of a file that is read all the same and is probably not meant so.
Subject load_subject(const std::string& name, const LanguageOptions& options, std::FILE* remarks = nullptr);

}  // namespace krohn
