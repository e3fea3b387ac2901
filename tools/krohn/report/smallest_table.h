// tools/krohn/report/smallest_table.h — bounds and plans of all small monoids and groups, as Markdown.
#pragma once

#include <string>

namespace krohn {

/// Every monoid of maps of one, two or three points, up to the names of the points: the machine whose letters are a
/// least generating set, told to show its state.
std::string smallest_monoids_table();

/// Every group of at most 24 elements: its word problem with all elements as letters.
std::string smallest_groups_table();

}  // namespace krohn
