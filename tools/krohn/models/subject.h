// tools/krohn/models/subject.h — what the user named: a language, or a model with the automaton inside it.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "krohn/automata/language.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

/// The language of `name`, a .safetensors model's automaton included. Throws as load_subject.
Automaton load_operand(const std::string& name, const LanguageOptions& options);

struct Subject {
  std::string name;  ///< as the user wrote it
  Dfa automaton;
  std::optional<Network> network;     ///< when `name` is a .safetensors file
  bool has_inferred_letters = false;  ///< a regular expression's or a formula's, without --alphabet
};

/// ", the characters that the expression names; others with --alphabet", or the like of a formula or ", all of Unicode;
/// …", where that is how the letters came about; otherwise nothing. `.` and `~` range over these letters only.
std::string remark_on_letters(const Subject& subject);

/// Tells standard error in which format a checkpoint is read where `otherwise` says that it is not the one in which it
/// is loaded (`loaded_otherwise`).
void remark_on_arithmetic(const std::string& name, const std::string& precision, const std::string& otherwise);

/// Says first, on standard output or, where that is for programs, on standard error, which states no word reaches from
/// the initial one: whoever calls it goes on with `canonical`, without them. Returns their number.
State tell_left_out(const Subject& subject, bool for_programs);

/// True for the names of .safetensors files.
bool is_model_name(const std::string& name);

/// Throws InputError unless `name` is that of a .safetensors file: what it is instead, where its beginning tells, and
/// what `verb` takes.
void require_model(const std::string& name, const std::string& verb);

/// For a folder that `krohn compile --target torch` wrote, the network in it; any other name as it is.
std::string file_of_torch_folder(const std::string& name);

/// The subject of `name`, a folder of `krohn compile --target torch` included. Throws as load_language and
/// load_network. `remarks` (standard error, for a person) is told of a file that is read all the same and is probably
/// not meant so.
Subject load_subject(const std::string& name, const LanguageOptions& options, std::FILE* remarks = nullptr);

/// A name that a model's file keeps beside an automaton. The automaton was read, and verdicts are about it alone; the
/// name is the language's only where that was read now and is the same language.
struct StoredName {
  std::string name, sha256;  ///< of the automaton, as in certificates
  bool is_same = false;
  std::string remark = {};  ///< otherwise: where the two differ, or why they were not compared

  /// The name where it is that language; else "the automaton of sha256 3fa9…, stored under the name …, which …".
  std::string in_words() const;
};

/// Reads `name` as `options` say, a task's name too, and compares it with the automaton. Throws nothing of what reading
/// throws.
StoredName stored_name(const std::string& name, const Dfa& automaton, const LanguageOptions& options = {});

/// The same of what a network's file says that it was made of; empty where it says nothing.
std::string source_in_words(const Network& network, const LanguageOptions& options = {});

}  // namespace krohn
