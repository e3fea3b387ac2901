// automata/formats/format_dot_text.h — the text of DOT: making a file fit for Graphviz' parser, and labels to symbols
// and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krohn {

/// The one graph of the file with comments blanked out, lines kept. Graphviz' lexer keeps its state between reads (an
/// open string or a second graph would leak into the next file) and its stack and memory follow the file's nesting and
/// node sets, so everything of that kind is refused here first. Throws InputError with line and column. O(n).
std::string prepare_dot(std::string_view text, std::string_view where);

/// What Graphviz prints for the label: `\n`, `\l`, `\r` are newlines, `\x` any other character x.
std::string unescape_dot(std::string_view label);
/// The inverse, ready to stand between double quotes.
std::string escape_dot(std::string_view text);

/// The symbols that an unescaped label lists: separated by newlines and by commas outside brackets, without the blanks
/// around them. One single character is itself, even a comma or a blank. Empty when nothing or an empty symbol is
/// listed.
std::vector<std::string> split_dot_label(std::string_view label);

/// "input/output" at the first slash outside brackets; nothing when there is none or the input is empty.
std::optional<std::pair<std::string, std::string>> split_input_output(std::string_view symbol);

}  // namespace krohn
