// automata/dfa/alphabet.h — an ordered set of letters: single characters, classes of characters, or named tokens.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

/// An inclusive range of Unicode code points.
struct CodePointRange {
  char32_t first = 0;
  char32_t last = 0;
  friend auto operator<=>(const CodePointRange&, const CodePointRange&) = default;
};

/// Sorted, disjoint, non-adjacent ranges without surrogates: equal sets are equal vectors.
using CharacterSet = std::vector<CodePointRange>;

/// Every Unicode scalar value: U+0000–U+D7FF and U+E000–U+10FFFF.
CharacterSet all_characters();

/// The normal form of any ranges: sorted, merged, surrogates and what lies past U+10FFFF dropped. O(n log n).
CharacterSet normalised(std::vector<CodePointRange> ranges);

/// Set operations on normal forms, all linear in the number of ranges.
CharacterSet complement(std::span<const CodePointRange> set);
CharacterSet intersection(std::span<const CodePointRange> a, std::span<const CodePointRange> b);

/// The ranges as people count them: U+D7FF and U+E000 are neighbours, for there are no characters between. For
/// printing.
std::vector<CodePointRange> joined_across_surrogates(std::span<const CodePointRange> set);

/// Membership. O(log ranges).
bool contains(std::span<const CodePointRange> set, char32_t character);

/// The number of characters.
std::size_t cardinality(std::span<const CodePointRange> set);

/// The index of a letter in its alphabet.
using Letter = std::uint32_t;

/// One letter of an alphabet: a *character class* (sorted, disjoint, non-adjacent code-point ranges, often a single
/// character) or a *token* with a name of any length and no characters, such as a protocol message "SYN+ACK" or a group
/// element "(1 2)". Automata keep one column per letter, so a class of 100,000 characters costs what one character
/// does.
struct Symbol {
  std::string name;         ///< UTF-8; what is printed. "a", "[a-z0-9]", "SYN+ACK".
  CharacterSet characters;  ///< empty for a token
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// A word is a sequence of letters of one alphabet.
using Word = std::vector<Letter>;

/// An ordered set of symbols with distinct names and pairwise disjoint characters. An immutable value: copies share
/// their innards, so that copying costs O(1) whatever the size.
class Alphabet {
 public:
  /// No letters.
  Alphabet();

  /// Throws InputError on a repeated or empty name, overlapping classes, a name that is not valid UTF-8, or a symbol
  /// named like a character of another. Characters are brought into normal form. O(n log n).
  static Alphabet from_symbols(std::vector<Symbol> symbols);

  /// One symbol per name: a name of exactly one code point is that character, and so is the escape that `class_name`
  /// writes for a character that cannot be printed (`\n`, `\x{7F}`); any other name is a token.
  static Alphabet from_names(std::span<const std::string> names);

  /// One symbol per code point of `text`, in the order of their first appearance: `of_characters("ab")`.
  static Alphabet of_characters(std::string_view text);

  Letter size() const;
  const Symbol& operator[](Letter letter) const { return symbols()[letter]; }
  const std::string& name(Letter letter) const { return symbols()[letter].name; }
  std::span<const Symbol> symbols() const;
  /// The letters by name, in order.
  std::vector<std::string> names() const;

  /// The letter of that name, if there is one; a name of one code point also finds the class that holds it. O(1)
  /// expected, O(log ranges) for a class.
  std::optional<Letter> find(std::string_view name) const;
  /// The letter whose characters contain `character`, if there is one. O(log ranges), O(1) in ASCII.
  std::optional<Letter> find(char32_t character) const;

  /// True when every symbol stands for characters, so that a word is written without separators.
  bool is_characterwise() const;

  /// Reads a word. Characterwise alphabets read one letter per character ("abba"; nothing is skipped, white space
  /// neither); others read names separated by white space or commas ("SYN ACK"). Brackets protect separators, as in
  /// "(1 2), (1 2 3)", provided that every name has balanced brackets; double quotes protect anything, with `\"` and
  /// `\\` inside. Throws InputError naming the first unknown symbol, its position and the alphabet.
  Word parse_word(std::string_view text) const;

  /// The inverse of `parse_word`. A class is written by one character of it (the first printable one); a name that
  /// would be split is quoted. Throws InputError on a letter that does not exist.
  std::string format_word(std::span<const Letter> word) const;

  friend bool operator==(const Alphabet& a, const Alphabet& b);

 private:
  struct Table;
  explicit Alphabet(std::shared_ptr<const Table> table) : table_(std::move(table)) {}
  std::shared_ptr<const Table> table_;  ///< never null
};

/// A short name for a class: "a", "[a-z]", "[0-9A-F]", "[^a]", at most about 24 characters, then "…". A character that
/// cannot be printed is escaped: `\n`, `\x{7F}`. Disjoint classes have different names.
std::string class_name(std::span<const CodePointRange> characters);

/// The symbol of one character, named by `class_name`.
Symbol character_symbol(char32_t character);

/// The names for a message, visible and shortened: "{a, b, c, …} (26 letters)".
std::string to_string(const Alphabet& alphabet);

/// The characters of an option: "ab" (those characters), "a-z0-9" (ranges; a `-` at an end and `\-`, `\\`, `\n`, `\t`,
/// `\xHH`,
/// `\x{H…}` are characters), "bytes" (256 letters, U+0000–U+00FF), "unicode" (one class of everything, which a regular
/// expression splits as it needs), or names separated by white space, written as for `parse_word`.
/// Throws InputError when nothing, a repeated letter or a reversed range is given.
Alphabet parse_alphabet(std::string_view text);

/// The common refinement of two alphabets. Classes are split where either splits them, tokens match by name; a letter
/// that only one alphabet has is kept. Equal alphabets are their own refinement, names included; otherwise the letters
/// come in the order of `a`, then what only `b` has, in its order.
struct AlphabetRefinement {
  Alphabet merged;
  std::vector<std::optional<Letter>> in_a;  ///< per merged letter: the letter of `a` that it is a part of
  std::vector<std::optional<Letter>> in_b;
};

/// Throws InputError when a token of one is named like a class of the other. O(ranges · log ranges).
AlphabetRefinement refine(const Alphabet& a, const Alphabet& b);

/// For each letter of `a` the letter of `b` with the same name and the same characters, where there is one. A class
/// that holds the characters of a letter is another letter than that (`Alphabet::find` finds it all the same, as words
/// are read); to compare languages whose letters are cut differently, `refine` both. O(n log n).
std::vector<std::optional<Letter>> same_letters(const Alphabet& a, const Alphabet& b);

}  // namespace krohn
