// simulate/check/not_established.h — how the re-checker's parts say no.
#pragma once

#include <string>
#include <string_view>

namespace krohn {

/// Thrown by the checks: the reason why a certificate is not established.
struct NotEstablished {
  std::string reason;
};

/// The reason where operations meet infinity.
inline constexpr const char* kNotFinite = "a number is not finite";

inline void require(bool holds, std::string_view reason) {
  if (!holds) throw NotEstablished{std::string(reason)};
}

}  // namespace krohn
