// tools/krohn/report/count.h — counts as people write them: 1000, 1e8, 10^8, 1_000_000.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "krohn/groups/counted.h"

namespace krohn {

/// Reads a count exactly: digits with optional `_` between them, then optionally `eN` (times 10^N) or `^N` (to the
/// power N). Throws InputError, naming `what`, for anything else and for counts past 2^63 − 1.
std::uint64_t parse_count(std::string_view text, std::string_view what);

/// "8G": a count of bytes, or of 2^10, 2^20, 2^30 or 2^40 of them. Throws InputError, naming `name`.
std::uint64_t parse_size(std::string_view text, std::string_view name);
/// The same, written.
std::string size_text(std::uint64_t bytes);

}  // namespace krohn
