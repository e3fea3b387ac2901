// automata/dfa/visible_text.h — text that a person can see: UTF-8, letters' names, numbers, escapes.
#pragma once

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"

namespace krohn {

inline constexpr char32_t kLastCodePoint = 0x10FFFF;
inline constexpr char32_t kFirstSurrogate = 0xD800;
inline constexpr char32_t kLastSurrogate = 0xDFFF;

/// The code points of `text`. Throws InputError with the offset of the first byte that is not well-formed UTF-8 (RFC
/// 3629: no overlong forms, no surrogates, nothing past U+10FFFF).
std::u32string decode_utf8(std::string_view text);

/// The code point that `text` consists of, when it is exactly one. Throws as `decode_utf8`.
std::optional<char32_t> single_code_point(std::string_view text);

/// Appends the encoding of one Unicode scalar value.
void append_utf8(std::string& text, char32_t character);

/// The encoding of one Unicode scalar value.
std::string to_utf8(char32_t character);

/// True for what can stand in print by itself: graphic, neither white space nor a mark that combines with its
/// neighbour.
bool is_printable(char32_t character);

/// True for what acts on a terminal or on its neighbours instead of being seen: control characters (C0, DEL, C1), line
/// and paragraph separators, and format characters (direction overrides, zero-width joiners, byte-order marks).
bool is_unseen(char32_t character);

/// The text as one line in which every unseen character is written out: `\n`, `\t`, `\r`, `\x{1B}`, and a byte that is
/// not UTF-8 as `\xFF`. Ordinary text stays as it is, backslashes too, so that doing it twice changes nothing. O(n).
std::string visible(std::string_view text);

/// The same for a text of several lines: line breaks stay.
std::string visible_lines(std::string_view text);

/// A name for a message: visible, in quotes, cut after about 60 bytes.
std::string in_quotes(std::string_view name);

/// The whole name in quotes, with a backslash before quotes and backslashes in it.
std::string in_escaped_quotes(std::string_view name);

/// The first `most` bytes or a little less, so that no character is cut, and "…" when that is not all.
std::string cut_short(std::string_view text, std::size_t most);

/// One name of a list, and the byte at which it starts.
struct ListedName {
  std::string name;
  std::size_t offset = 0;
};

bool is_white_space(char32_t character);

/// The text without the `blanks` at its ends.
std::string_view trimmed(std::string_view text, std::string_view blanks);

/// The number that the whole text spells. Nothing where it spells none, or one that `Number` does not hold; a blank or
/// a plus sign spells none, and with a minus sign none without one.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// True when every bracket ( [ { has its partner; kinds are not told apart.
bool has_balanced_brackets(std::string_view name);

/// Splits at white space and commas that neither brackets (when they protect) nor double quotes enclose. Throws
/// InputError on a quote that is not closed. O(n).
std::vector<ListedName> split_names(std::string_view text, bool brackets_protect);

/// The name as `split_names` reads it back: itself, or in quotes with `\"` and `\\` inside.
std::string protected_name(const std::string& name, bool brackets_protect);

/// The character of a name that is one code point or the escape `\n`, `\t`, `\r`, `\x{H…}` of an unprintable one.
std::optional<char32_t> named_character(std::string_view name);

// Words as people read them.

/// The whole word on one line, visible. In words of more than eight letters a part that stands at least three times in
/// a row is written as a power, with blanks around it, where that makes the text much shorter: `1^380`, `b^11 abba b^4
/// (abb)^5`. Beside a power, letters that could be mistaken for its signs are in quotes: `"(1 2)"^20 "()"`. Without
/// one, the word is written as `Alphabet::format_word` does. O(length), times the longest part.
std::string in_powers(const Alphabet& alphabet, std::span<const Letter> word);

/// The same for a sentence: in quotes where it is the word letter by letter; "ε" without letters.
std::string quoted_letters(const Alphabet& alphabet, std::span<const Letter> word);

/// With its length: `"abb" (3 letters)`, `1^380 (380 letters)`; cut after about 240 bytes. "the empty word".
std::string quoted_word(const Alphabet& alphabet, std::span<const Letter> word);

/// A word of a product, to the power n where it is repeated.
struct WordFactor {
  std::span<const Letter> word;
  bool is_repeated = false;
};

/// `"a" "ab"ⁿ "b"`, empty factors left out; "ε" where all are empty.
std::string product_of_words(const Alphabet& alphabet, std::initializer_list<WordFactor> factors);

}  // namespace krohn
