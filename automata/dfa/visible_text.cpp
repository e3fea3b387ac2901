#include "krohn/automata/dfa/visible_text.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace krohn {

namespace {

std::string written_out(char32_t character) {
  switch (character) {
    case U'\n':
      return "\\n";
    case U'\t':
      return "\\t";
    case U'\r':
      return "\\r";
    default:
      return fmt::format("\\x{{{:02X}}}", static_cast<std::uint32_t>(character));
  }
}

std::string write_out_unseen(std::string_view text, bool keeps_line_breaks) {
  std::string shown;
  shown.reserve(text.size());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    UChar32 character = 0;
    U8_NEXT(bytes, i, text.size(), character);
    if (character < 0) {
      i = start + 1;  // the bytes after a bad one are looked at by themselves
      shown += fmt::format("\\x{:02X}", bytes[start]);
    } else if (is_unseen(static_cast<char32_t>(character)) && !(keeps_line_breaks && character == '\n')) {
      shown += written_out(static_cast<char32_t>(character));
    } else {
      shown += text.substr(start, i - start);
    }
  }
  return shown;
}

}  // namespace

bool is_unseen(char32_t character) {
  if (character < 0x80) return character < 0x20 || character == 0x7F;
  const std::uint32_t unseen = U_GC_CC_MASK | U_GC_CF_MASK | U_GC_ZL_MASK | U_GC_ZP_MASK;
  return (U_MASK(u_charType(static_cast<UChar32>(character))) & unseen) != 0;
}

std::string visible(std::string_view text) { return write_out_unseen(text, false); }

std::string visible_lines(std::string_view text) { return write_out_unseen(text, true); }

std::string cut_short(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && most - end < 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string in_quotes(std::string_view name) { return '"' + visible(cut_short(name, 60)) + '"'; }

}  // namespace krohn
