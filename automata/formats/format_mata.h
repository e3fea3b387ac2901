// automata/formats/format_mata.h — the text format of the library mata (VeriFIT/mata, AUTOMATAFORMAT.md).
#pragma once

#include <string_view>

#include "krohn/automata/formats/format_draft.h"

namespace krohn {

/// Reads one section, `@NFA-explicit` or `@NFA-bits`, with the keys %Initial, %Final, %Alphabet-…, %States-…,
/// %Epsilon, whose names are the empty word; without it `EpsilonNames` has them. A formula over states says of a state
/// q what it says when only q is true, so that `!q0 & !q2` is every other state; a formula over explicit symbols
/// likewise. In bits, the letters are the coarsest classes of valuations that the transitions distinguish, named by a
/// valuation (most significant bit first, `-` where it does not matter); valuations that no transition reads are not
/// letters, as in mata. Throws InputError with line and column; alternating automata, intervals, transducers and second
/// sections are refused. Throws LimitError past 2^22 nodes of decision diagrams. O(n log n) when explicit.
Draft read_mata(std::string_view text, std::string_view where, const LanguageOptions& options = {});

/// Writes an acceptor as @NFA-explicit, letters and states declared in their order. A class of characters is written by
/// its name and comes back as a token. Throws InputError for outputs.
std::string write_mata(const Dfa& dfa);

}  // namespace krohn
