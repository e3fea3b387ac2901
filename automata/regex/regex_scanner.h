// automata/regex/regex_scanner.h — the text of a regular expression with a reading position, and errors that name a
// column.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/character_set.h"

namespace krohn {

/// Reads an expression character by character. Columns count code points from 1.
class RegexScanner {
 public:
  /// Throws InputError with the byte that is not UTF-8.
  explicit RegexScanner(std::string_view expression);

  bool at_end() const { return next_ == text_.size(); }
  std::size_t position() const { return next_; }
  void go_to(std::size_t position) { next_ = position; }
  /// The next character; U+0000 at the end, where `at_end` tells it from a real one.
  char32_t peek(std::size_t ahead = 0) const { return next_ + ahead < text_.size() ? text_[next_ + ahead] : U'\0'; }
  char32_t take() { return text_[next_++]; }
  /// Takes the character if it is next.
  bool take_if(char32_t character);
  /// Takes the text if it is next.
  bool take_if(std::u32string_view text);

  /// Throws InputError "regex:COLUMN: message".
  [[noreturn]] void fail(std::size_t position, std::string_view message) const;

 private:
  std::u32string text_;
  std::size_t next_ = 0;
};

/// What a backslash or a class stands for.
struct RegexClass {
  CharacterSet characters;
  bool negated = false;  ///< written as a complement: the expression speaks of all of Unicode
  bool single = false;   ///< one character, written as itself
  /// Characters written one by one, with their positions: an explicit alphabet must have them.
  std::vector<std::pair<char32_t, std::size_t>> named;
};

/// The characters that differ from these in case only, with them: Unicode's simple case folding, by ICU.
CharacterSet in_either_case(const CharacterSet& characters);

/// Reads an escape from the backslash on. Throws InputError on anchors, back-references and unknown escapes.
RegexClass read_regex_escape(RegexScanner& scanner);

/// Reads a class from its `[` to its `]`.
RegexClass read_regex_class(RegexScanner& scanner, bool ignores_case);

}  // namespace krohn
