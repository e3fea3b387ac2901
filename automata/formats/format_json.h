// automata/formats/format_json.h — krohn's own JSON text for automata: every automaton, exactly. The schema is in
// docs/languages.md.
#pragma once

#include <string>
#include <string_view>

#include "krohn/automata/formats/format_draft.h"

namespace krohn {

/// Reads version 1 of the schema. Missing arcs are `null`, several targets a list. `where` names the file in errors.
/// Throws InputError with line and column where the JSON itself is broken, otherwise with the name of the field.
Draft read_json(std::string_view text, std::string_view where);

/// Writes any automaton: Moore outputs, character classes, any names. One line per state.
/// Throws InputError when an output's name is not valid UTF-8.
std::string write_json(const Dfa& dfa);

/// The letters as a JSON array on one line: a string where `Alphabet::from_names` gives the same symbol back, otherwise
/// {"name": …, "characters": [[first, last], …]}. DOT and JFLAP files carry it where names alone do not suffice.
std::string write_json_alphabet(const Alphabet& alphabet);
Alphabet read_json_alphabet(std::string_view text, std::string_view where);

/// A JSON array of strings on one line.
std::string write_json_strings(const std::vector<std::string>& strings);
std::vector<std::string> read_json_strings(std::string_view text, std::string_view where);

}  // namespace krohn
