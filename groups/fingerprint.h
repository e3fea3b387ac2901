// groups/fingerprint.h — tells apart what was mixed up: files, models, languages.
#pragma once

#include <string>
#include <string_view>

namespace krohn {

/// FNV-1a of the bytes, 64 bits, as 16 hexadecimal digits. Not against forgery (simulate/check/sha256.h).
std::string fingerprint(std::string_view bytes);

}  // namespace krohn
