// automata/dfa/visible_text.h — names from files as a terminal may show them: a letter, a state or a file may be called
// anything, and what it is called must not move the cursor, change a line that was printed, or stand for a verdict.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace krohn {

/// True for what acts on a terminal or on its neighbours instead of being seen: control characters (C0, DEL, C1), line
/// and paragraph separators, and format characters (direction overrides, zero-width joiners, byte-order marks).
bool is_unseen(char32_t character);

/// The text as one line in which every unseen character is written out: `\n`, `\t`, `\r`, `\x{1B}`, and a byte that is
/// not UTF-8 as `\xFF`. Ordinary text stays as it is, backslashes too, so that doing it twice changes nothing. O(n).
std::string visible(std::string_view text);

/// The same for a text of several lines: line breaks stay.
std::string visible_lines(std::string_view text);

/// A name for a message: visible, in quotes, cut after about 60 bytes.
std::string in_quotes(std::string_view name);

/// The first `most` bytes or a little less, so that no character is cut, and "…" when that is not all.
std::string cut_short(std::string_view text, std::size_t most);

}  // namespace krohn
