// automata/formats/format_openfst.h — binary files of OpenFst.
#pragma once

#include <string>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// An acceptor as a VectorFst over the tropical semiring (arc type "standard"), little-endian, with its symbol table
/// for both sides inside: what `fstcompile` makes of write_att and write_symbol_table. States that can reach acceptance
/// only, as OpenFst has no use for a sink; all when there is none. Writing only. Throws InputError for outputs.
std::string write_openfst(const Dfa& dfa);

}  // namespace krohn
