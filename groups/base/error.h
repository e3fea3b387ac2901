// groups/base/error.h — the one exception family, what ends everything, and words for messages: numbers with their
// nouns, and the name that was probably meant. Every message says what, where, and what to do.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

// Words for messages.

/// "100,000,000".
std::string with_thousands(std::uint64_t count);

/// "1 layer", "2,000 layers"; with `plural` "es" "3 D-classes".
std::string counted(std::uint64_t count, std::string_view what, std::string_view plural = "s");
/// For a count of any size, by its decimal digits.
std::string counted(std::string_view digits, std::string_view what, std::string_view plural = "s");

/// The least number of letters to insert, delete, replace or swap with their neighbour (Damerau–Levenshtein, each
/// letter touched once). O(|a|·|b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known names that are near `name`, nearest first, at most three: those within distance 3 (2 for a name of four to
/// seven letters, 1 for two or three, 0 for one), or where there are none, those of which a longer beginning than one
/// letter was typed.
std::vector<std::string> near_misses(std::string_view name, std::span<const std::string> known);

/// " Did you mean "sum" or "s"?", or nothing when nothing is near.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace krohn
