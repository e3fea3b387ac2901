// tests/fuzz/only_errors.h — any bytes as text, and that nothing but krohn's own exceptions leaves a body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "krohn/groups/base/error.h"

namespace krohn::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Anything but an exception of krohn's own is a finding.
template <class Body>
void only_errors(Body body) {
  try {
    body();
  } catch (const Error&) {
  }
}

}  // namespace krohn::fuzz
