// simulate/many/varint.h — counts in as many bytes as they need: seven bits each, the least first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace krohn {

inline void put_varint(std::vector<std::uint8_t>& to, std::uint64_t value) {
  for (; value >= 128; value >>= 7) to.push_back(static_cast<std::uint8_t>(value | 128));
  to.push_back(static_cast<std::uint8_t>(value));
}

/// The count at `at`, which moves behind it; past the end of the bytes where there is no whole count.
inline std::uint64_t take_varint(std::span<const std::uint8_t> bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at >= bytes.size()) break;
    const std::uint8_t byte = bytes[at++];
    value |= std::uint64_t{byte & 127u} << shift;
    if (byte < 128) return value;
  }
  at = bytes.size() + 1;
  return value;
}

}  // namespace krohn
