// automata/dfa/utf8.h — UTF-8 text to code points and back, refusing what is not well-formed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace krohn
