// automata/alphabet.h — an ordered set of letters: single characters, classes of characters, or named tokens.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace krohn {

/// The index of a letter in its alphabet.
using Letter = std::uint32_t;

/// An inclusive range of Unicode code points.
struct CodePointRange {
  char32_t first = 0;
  char32_t last = 0;
  friend auto operator<=>(const CodePointRange&, const CodePointRange&) = default;
};

/// One letter of an alphabet: a *character class* (sorted, disjoint, non-adjacent code-point ranges, often a single
/// character) or a *token* with a name of any length and no characters, such as a protocol message "SYN+ACK" or a group
/// element "(1 2)". Automata keep one column per letter, so a class of 100,000 characters costs what one character does.
struct Symbol {
  std::string name;                         ///< UTF-8; what is printed. "a", "[a-z0-9]", "SYN+ACK".
  std::vector<CodePointRange> characters;   ///< empty for a token
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// A word is a sequence of letters of one alphabet.
using Word = std::vector<Letter>;

/// An ordered set of symbols with distinct names and pairwise disjoint characters. A value; cheap to compare.
class Alphabet {
 public:
  Alphabet() = default;

  /// Throws InputError on a repeated or empty name, overlapping classes, or a name that is not valid UTF-8.
  static Alphabet from_symbols(std::vector<Symbol> symbols);

  /// One symbol per name: a name of exactly one code point is that character, any other name is a token.
  static Alphabet from_names(std::span<const std::string> names);

  /// One symbol per code point of `text`, in the order of their first appearance: `of_characters("ab")`.
  static Alphabet of_characters(std::string_view text);

  Letter size() const { return static_cast<Letter>(symbols_.size()); }
  const Symbol& operator[](Letter letter) const { return symbols_[letter]; }
  const std::string& name(Letter letter) const { return symbols_[letter].name; }
  std::span<const Symbol> symbols() const { return symbols_; }

  /// The letter of that name, if there is one. O(1) expected.
  std::optional<Letter> find(std::string_view name) const;
  /// The letter whose characters contain `character`, if there is one. O(log ranges).
  std::optional<Letter> find(char32_t character) const;

  /// True when every symbol stands for characters, so that a word is written without separators.
  bool is_characterwise() const;

  /// Reads a word. Characterwise alphabets read one letter per character ("abba"; white space only when it is a
  /// letter); others read names separated by white space, or by commas outside brackets ("SYN ACK").
  /// Throws InputError naming the first unknown symbol, its position and the alphabet.
  Word parse_word(std::string_view text) const;

  /// The inverse of `parse_word`. A class is written by one character of it (the first printable one).
  std::string format_word(std::span<const Letter> word) const;

  friend bool operator==(const Alphabet& a, const Alphabet& b) { return a.symbols_ == b.symbols_; }

 private:
  std::vector<Symbol> symbols_;
  std::unordered_map<std::string, Letter> by_name_;
  struct OwnedRange {
    CodePointRange range;
    Letter letter;
  };
  std::vector<OwnedRange> by_character_;  ///< sorted by first code point
};

/// A short name for a class: "a", "[a-z]", "[0-9A-F]", at most about 24 characters, then "…".
std::string class_name(std::span<const CodePointRange> characters);

}  // namespace krohn
