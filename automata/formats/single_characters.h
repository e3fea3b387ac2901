// automata/formats/single_characters.h — classes of characters for formats that know letters only.
#pragma once

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// The same language with a letter for each character of every class, in the order of the classes and of code points.
/// An automaton without classes is returned as it is. Throws InputError when there would be more than 4,096 letters or
/// 2^28 entries in the table.
Dfa with_single_characters(const Dfa& dfa);

}  // namespace krohn
