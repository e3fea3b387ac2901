// simulate/shards/part_line.h — the lines of a part as they stand in its file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "krohn/simulate/shards/part_file.h"

namespace krohn {

/// With its line break.
std::string header_line(const PartHeader& header);
/// Nothing when the line is no header.
std::optional<PartHeader> parse_header(std::string_view line);

/// {"subject":…} as item 17: {"item":17,"subject":…} with a line break.
std::string numbered(std::uint64_t item, std::string_view line);
/// The item, and the line as it was before. Nothing when it is no such line, whole and of JSON.
std::optional<std::pair<std::uint64_t, std::string>> parse_numbered(std::string_view line);

}  // namespace krohn
