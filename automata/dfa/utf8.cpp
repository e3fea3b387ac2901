#include "krohn/automata/dfa/utf8.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "krohn/groups/error.h"

namespace krohn {

std::u32string decode_utf8(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  for (std::size_t i = 0; i < text.size();) {
    if (bytes[i] < 0x80) {
      characters.push_back(bytes[i++]);
      continue;
    }
    const std::size_t start = i;
    UChar32 character = 0;
    U8_NEXT(bytes, i, text.size(), character);
    if (character < 0)
      throw InputError(
          fmt::format("byte {} (0x{:02X}) is not valid UTF-8; write the text in UTF-8", start, bytes[start]));
    characters.push_back(static_cast<char32_t>(character));
  }
  return characters;
}

std::optional<char32_t> single_code_point(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  const std::u32string characters = decode_utf8(text);
  return characters.size() == 1 ? std::optional(characters.front()) : std::nullopt;
}

void append_utf8(std::string& text, char32_t character) {
  std::uint8_t bytes[U8_MAX_LENGTH];
  std::size_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, character);
  text.append(reinterpret_cast<const char*>(bytes), length);
}

std::string to_utf8(char32_t character) {
  std::string text;
  append_utf8(text, character);
  return text;
}

bool is_printable(char32_t character) {
  if (character < 0x80) return character > 0x20 && character < 0x7F;
  const auto code_point = static_cast<UChar32>(character);
  const std::uint32_t combining = U_GC_MN_MASK | U_GC_ME_MASK | U_GC_MC_MASK;
  return u_isgraph(code_point) && (U_MASK(u_charType(code_point)) & (combining | U_GC_CF_MASK | U_GC_CO_MASK)) == 0;
}

}  // namespace krohn
