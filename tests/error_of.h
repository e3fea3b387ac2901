// tests/error_of.h — what an error says, for tests of its words.
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

}  // namespace krohn::test
