// tools/krohn/report/table.h — columns for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/groups/base/error.h"

namespace krohn {

/// Reads a count exactly: digits with optional `_` between them, then optionally `eN` (times 10^N) or `^N` (to the
/// power N). Throws InputError, naming `what`, for anything else and for counts past 2^63 − 1.
std::uint64_t parse_count(std::string_view text, std::string_view what);

/// "8G": a count of bytes, or of 2^10, 2^20, 2^30 or 2^40 of them. Throws InputError, naming `name`.
std::uint64_t parse_size(std::string_view text, std::string_view name);
/// The same, written.
std::string size_text(std::uint64_t bytes);

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
