// simulate/check/sha256.h — the hash by which a certificate names what it speaks of (FIPS 180-4).
#pragma once

#include <string>
#include <string_view>

namespace krohn {

/// The SHA-256 digest of the bytes, as 64 lower-case hexadecimal digits. O(bytes).
std::string sha256(std::string_view bytes);

}  // namespace krohn
