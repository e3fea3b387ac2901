// groups/atomic_file.h — files that are whole or absent: written under a temporary name, then renamed.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace krohn {

/// Writes `bytes` to a temporary file beside `path`, flushes it to the disk and renames it over `path`. On any failure
/// (full disk, no permission, interrupt) the temporary file is removed, an old file at `path` stays as it was, and
/// SystemError says why. `path` "-" writes to standard output.
void write_file(const std::string& path, std::string_view bytes);

/// The whole file ("-": standard input). Throws SystemError when it cannot be read, LimitError past `max_bytes`.
std::string read_file(const std::string& path, std::size_t max_bytes = std::size_t{4} << 30);

}  // namespace krohn
