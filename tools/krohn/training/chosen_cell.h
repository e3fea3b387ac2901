// tools/krohn/training/chosen_cell.h — `--only TEXT` of tables.
#pragma once

#include <string>
#include <string_view>

namespace krohn {

/// Whether the name "ROW, COLUMN" of a cell has the text; with "$" behind it, whether the name ends with it: "m = 5" is
/// in "m = 50", too, "m = 5$" is not.
inline bool is_chosen(const std::string& row, const std::string& column, std::string_view only) {
  const std::string name = row + ", " + column;
  return only.ends_with('$') ? name.ends_with(only.substr(0, only.size() - 1)) : name.find(only) != std::string::npos;
}

}  // namespace krohn
