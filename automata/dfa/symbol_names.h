// automata/dfa/symbol_names.h — how symbols are written in a line of text: lists of names, quotes, escapes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

/// One name of a list, and the byte at which it starts.
struct ListedName {
  std::string name;
  std::size_t offset = 0;
};

bool is_white_space(char32_t character);

/// True when every bracket ( [ { has its partner; kinds are not told apart.
bool has_balanced_brackets(std::string_view name);

/// Splits at white space and commas that neither brackets (when they protect) nor double quotes enclose. Throws
/// InputError on a quote that is not closed. O(n).
std::vector<ListedName> split_names(std::string_view text, bool brackets_protect);

/// The name as `split_names` reads it back: itself, or in quotes with `\"` and `\\` inside.
std::string protected_name(const std::string& name, bool brackets_protect);

/// The character of a name that is one code point or the escape `\n`, `\t`, `\r`, `\x{H…}` of an unprintable one.
std::optional<char32_t> named_character(std::string_view name);

}  // namespace krohn
