// tools/krohn/report/table.h — columns for people.
#pragma once

#include <string>
#include <vector>

namespace krohn {

/// Left-aligned columns, two spaces apart, as wide as their widest cell in characters (not bytes). Every line starts
/// with `indent`; no line ends in a space. Cells are shown as `visible` (automata/dfa/visible_text.h) writes them.
std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::string& indent = "  ");

/// The number of code points of valid UTF-8.
std::size_t width(const std::string& text);

/// `text`, or its first characters and "…" when it is longer than `most` characters.
std::string shortened(const std::string& text, std::size_t most);

/// The words of `text` in lines of at most `columns` characters; every line but the first starts with `indent`. Shown
/// as `visible` writes it.
std::string wrapped(const std::string& text, std::size_t columns, const std::string& indent);

}  // namespace krohn
