// automata/formats/format_jff.h — finite automata of JFLAP (.jff), read through expat.
#pragma once

#include <string>
#include <string_view>

#include "krohn/automata/formats/format_draft.h"

namespace krohn {

/// Reads a structure of type `fa`, of JFLAP 4 to 7. An empty <read/> is ε, and so are its names (`EpsilonNames`); in a
/// file of JFLAP's own, several characters are read one after another and "[a-z]" is any of a range, as JFLAP does it.
/// In a file by `write_jff` an element <alphabet>, which JFLAP passes over, lists the letters, and <read> holds one
/// letter's name. Throws InputError with line and column: XML that is not well-formed, other types of machine, unknown
/// or repeated states, two initial states. Document types are refused, and with them entities that expand without end.
Draft read_jff(std::string_view text, std::string_view where, const LanguageOptions& options = {});

/// Writes an acceptor, its states on a circle. Throws InputError for outputs and for names with characters that XML
/// cannot hold.
std::string write_jff(const Dfa& dfa);

}  // namespace krohn
