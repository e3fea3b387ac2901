// groups/base/error.h — the one exception family, and what ends everything. Every message says what, where, and what to
// do.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace krohn {

/// Base of everything krohn throws on purpose. `what()` is the whole message, ready to print after "krohn: ".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The input is wrong: a file, a name, an expression, an option's value. The command exits with status 2.
class InputError : public Error {
 public:
  using Error::Error;
  /// "where: message"; `where` is `file:line:column`, or as much of it as is known, or empty.
  InputError(std::string_view where, std::string_view message)
      : Error(where.empty() ? std::string(message) : std::string(where) + ": " + std::string(message)) {}
};

/// A stated limit was met (states, elements, bytes, time). The message names the limit, its value and the option that
/// raises it. The command exits with status 3: undecided, not wrong.
class LimitError : public Error {
 public:
  using Error::Error;
};

/// The machine refused: a file cannot be opened, a disk is full. The command exits with status 2.
class SystemError : public Error {
 public:
  using Error::Error;
};

/// The user asked to stop (SIGINT, SIGTERM). Nothing half-written stays behind. The command exits with status 130. No
/// Error: what goes on after one must not go on after this.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace krohn
