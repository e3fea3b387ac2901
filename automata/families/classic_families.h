// automata/families/classic_families.h — languages that learning papers use: Tomita's seven, EvenPair, bounded Dyck
// words.
#pragma once

#include "krohn/automata/dfa/tabulate.h"

namespace krohn {

/// Tomita's languages over {0, 1} (Tomita 1982), 1 ≤ index ≤ 7, as minimal automata:
/// 1: 1*; 2: (10)*; 3: no odd run of 1s is followed, at any distance, by an odd run of 0s; 4: no 000; 5: an even number
/// of 0s and an even number of 1s; 6: the numbers of 0s and 1s agree modulo 3; 7: 0*1*0*1*.
/// Throws InputError for another index.
Dfa tomita(std::uint64_t index);

/// EvenPair(m) of Fan §4.1: words over 0 … m−1 whose last letter equals the first; the empty word is rejected.
/// 2m + 1 states, 2 ≤ m.
Dfa even_pair(std::uint64_t m, const TableLimit& limit = {});

/// Balanced words over `types` kinds of brackets, nested at most `depth` deep. One state for each stack of open
/// brackets, and a sink. Brackets are () [] {} <>, beyond four kinds the tokens open5, close5, ….
Dfa bounded_dyck(std::uint64_t types, std::uint64_t depth, const TableLimit& limit = {});

}  // namespace krohn
