// tests/error_of.h — what an error says, for tests of its words, and whether a text has some.
#pragma once

#include <string>

#include "krohn/groups/base/error.h"

namespace krohn::test {

/// The message of the InputError that the body throws.
template <class Body>
std::string error_of(Body body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// Tells whether a part stands in a text.
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace krohn::test
