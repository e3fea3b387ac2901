#include "krohn/groups/fingerprint.h"

#include <fmt/format.h>

#include <cstdint>

namespace krohn {

std::string fingerprint(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace krohn
