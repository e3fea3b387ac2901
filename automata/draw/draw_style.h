// automata/draw/draw_style.h — how pictures look: colours, fonts, quoting, and what stands on an arrow.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/draw/draw.h"

namespace krohn {

/// A fill with the line of the same hue.
struct DrawColours {
  std::string_view fill, line;
};

/// Colours for the `index`-th component: Paul Tol's "pale" fills with his "dark" lines, which stay apart for all common
/// kinds of colour blindness and leave black text readable. They repeat after five.
DrawColours component_colours(std::size_t index);

/// For what belongs to no cycle.
inline constexpr DrawColours kPlainColours{"#FFFFFF", "#555555"};
/// For remarks.
inline constexpr DrawColours kNoteColours{"#F4F4F4", "#999999"};

/// The text as a quoted DOT string; line feeds become line breaks.
std::string dot_quoted(std::string_view text);

/// Opens a digraph with the look that all pictures share. The caller closes it with "}\n".
std::string dot_header(const DrawOptions& options);

/// A short text for a set of letters: consecutive characters and numbers as ranges ("a–f, 0–9"), "any" for all of them
/// and "not a" for nearly all where that is shorter, at most about 40 characters, then "… (+12)".
std::string letters_label(const Alphabet& alphabet, std::span<const Letter> letters);

/// Text for an HTML-like label: the special characters as entities, line breaks as <BR/>.
std::string html(std::string_view text);

/// The name of a group for an HTML-like label: "S_5" with its 5 lowered, "Z_2^3" with its 3 raised.
std::string group_html(const std::string& name);

}  // namespace krohn
