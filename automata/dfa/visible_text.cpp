#include "krohn/automata/dfa/visible_text.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <limits>

#include "krohn/groups/base/error.h"

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

std::string in_escaped_quotes(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string in_quotes(std::string_view name) { return '"' + visible(cut_short(name, 60)) + '"'; }

namespace {

int bracket_step(char c) {
  if (c == '(' || c == '[' || c == '{') return 1;
  if (c == ')' || c == ']' || c == '}') return -1;
  return 0;
}

bool is_separator(char c) { return c == ',' || is_white_space(static_cast<unsigned char>(c)); }

/// Reads a quoted name from `text[i] == '"'` on; leaves `i` behind the closing quote.
std::string read_quoted(std::string_view text, std::size_t& i) {
  const std::size_t start = i++;
  std::string name;
  for (; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    name += text[i];
  }
  if (i == text.size()) throw InputError(fmt::format("the quote that opens at byte {} is not closed", start));
  ++i;
  return name;
}

std::string read_bare(std::string_view text, std::size_t& i, bool brackets_protect) {
  const std::size_t start = i;
  for (int depth = 0; i < text.size() && (depth > 0 || !is_separator(text[i])); ++i)
    if (brackets_protect) depth += bracket_step(text[i]);
  return std::string(text.substr(start, i - start));
}

/// A character as a regular expression writes it, outside or inside a class.
std::string escaped(char32_t character, bool in_class) {
  if (character == U' ') return " ";
  if (!is_printable(character)) return written_out(character);
  const bool special = in_class && std::u32string_view(U"[]\\^-\"").find(character) != std::u32string_view::npos;
  return (special ? "\\" : "") + to_utf8(character);
}

std::string range_name(CodePointRange range) {
  std::string text = escaped(range.first, true);
  if (range.last == range.first) return text;
  if (range.last > range.first + 1) text += '-';
  return text + escaped(range.last, true);
}

}  // namespace

bool is_white_space(char32_t character) { return character == ' ' || (character >= '\t' && character <= '\r'); }

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);  // npos + 1 is 0
}

bool has_balanced_brackets(std::string_view name) {
  int depth = 0;
  for (const char c : name)
    if ((depth += bracket_step(c)) < 0) return false;
  return depth == 0;
}

std::vector<ListedName> split_names(std::string_view text, bool brackets_protect) {
  std::vector<ListedName> names;
  for (std::size_t i = 0; i < text.size();) {
    if (is_separator(text[i])) {
      ++i;
      continue;
    }
    const std::size_t offset = i;
    names.push_back({text[i] == '"' ? read_quoted(text, i) : read_bare(text, i, brackets_protect), offset});
  }
  return names;
}

std::string protected_name(const std::string& name, bool brackets_protect) {
  if (name.front() == '"' || (brackets_protect && !has_balanced_brackets(name))) return in_escaped_quotes(name);
  const std::vector<ListedName> names = split_names(name, brackets_protect);
  return names.size() == 1 && names.front().name == name ? name : in_escaped_quotes(name);
}

std::optional<char32_t> named_character(std::string_view name) {
  if (const auto single = single_code_point(name)) return single;
  if (name == "\\n") return U'\n';
  if (name == "\\t") return U'\t';
  if (name == "\\r") return U'\r';
  if (name.size() < 5 || name.size() > 10 || name.substr(0, 3) != "\\x{" || name.back() != '}') return std::nullopt;
  const std::string digits(name.substr(3, name.size() - 4));
  if (digits.find_first_not_of("0123456789ABCDEF") != std::string::npos) return std::nullopt;
  const auto character = static_cast<char32_t>(std::stoul(digits, nullptr, 16));
  if (!contains(all_characters(), character) || character_symbol(character).name != name) return std::nullopt;
  return character;
}

std::string class_name(std::span<const CodePointRange> characters) {
  constexpr std::size_t kLongest = 24;
  if (cardinality(characters) == 1) return escaped(characters.front().first, false);
  const auto these = joined_across_surrogates(characters);
  const auto others = joined_across_surrogates(complement(characters));
  const bool negated = !others.empty() && others.size() < these.size();
  std::string text = negated ? "[^" : "[";
  std::size_t shown = 0;
  for (const CodePointRange& range : negated ? others : these) {
    const std::string name = range_name(range);
    const std::size_t length = decode_utf8(name).size();
    if (shown > 0 && shown + length > kLongest) return text + "…]";
    text += name;
    shown += length;
  }
  return text + "]";
}

Symbol character_symbol(char32_t character) {
  const CodePointRange range{character, character};
  return {class_name({&range, 1}), {range}};
}

namespace {

constexpr std::size_t kPlainLetters = 8, kLongestBase = 24, kLeastTimes = 3, kLeastLetters = 4, kShownBytes = 240;
constexpr std::size_t kAnyBytes = std::numeric_limits<std::size_t>::max();

/// A part of a word and how often it stands there in a row.
struct Power {
  std::span<const Letter> base;
  std::size_t times = 1;
};

/// The power that the word begins with that has the most letters, the shortest base first.
Power first_power(std::span<const Letter> word) {
  Power best{word.first(1), 1};
  for (std::size_t period = 1; period <= std::min(kLongestBase, word.size() / kLeastTimes); ++period) {
    if (best.times > 1 && period % best.base.size() == 0) continue;  // the same letters again
    std::size_t same = period;
    while (same < word.size() && word[same] == word[same - period]) ++same;
    const std::size_t times = same / period;
    if (times >= kLeastTimes && times * period >= kLeastLetters && times * period > best.times * best.base.size())
      best = {word.first(period), times};
  }
  return best;
}

/// Returns true if nothing in the text could be read as a sign of powers.
bool is_plain(const std::string& text) { return text.find_first_of(" ^()\"\\") == std::string::npos; }

std::string in_plain_or_quotes(const std::string& text) { return is_plain(text) ? text : in_escaped_quotes(text); }

/// Letters beside a power, or under its exponent.
std::string part_text(const Alphabet& alphabet, std::span<const Letter> letters, bool has_exponent) {
  std::string text;
  if (alphabet.is_characterwise()) {
    text = in_plain_or_quotes(alphabet.format_word(letters));
    if (text.front() == '"') return text;
  } else {
    for (const Letter letter : letters) {
      const std::string name = alphabet.format_word({&letter, 1});
      text += (text.empty() ? "" : " ") + (name.front() == '"' ? name : in_plain_or_quotes(name));
    }
  }
  return has_exponent && letters.size() > 1 ? fmt::format("({})", text) : text;
}

struct ShownWord {
  std::string text;
  bool has_powers = false, is_cut = false;
};

ShownWord shown(const Alphabet& alphabet, std::span<const Letter> word, std::size_t most_bytes) {
  ShownWord result;
  std::string text;
  std::size_t at = 0, plain = 0;  // letters before `at` are in the text but for the last `plain` of them
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  const auto add_plain = [&] {
    if (plain > 0) add(part_text(alphabet, word.subspan(at - plain, plain), false));
    plain = 0;
  };
  while (at < word.size() && word.size() > kPlainLetters && text.size() + plain < most_bytes) {
    const Power power = first_power(word.subspan(at));
    if (power.times == 1) {
      ++plain;
    } else {
      add_plain();
      add(fmt::format("{}^{}", part_text(alphabet, power.base, true), power.times));
      result.has_powers = true;
    }
    at += power.times * power.base.size();
  }
  add_plain();
  result.has_powers = result.has_powers && 4 * text.size() <= 3 * alphabet.format_word(word.first(at)).size();
  if (result.has_powers) {
    result.is_cut = at < word.size();
    result.text = visible(text) + (result.is_cut ? " …" : "");
    return result;
  }
  const std::span<const Letter> first = word.first(std::min(word.size(), most_bytes));
  result.text = visible(cut_short(alphabet.format_word(first), most_bytes));
  result.is_cut = first.size() < word.size();
  if (result.is_cut && !result.text.ends_with("…")) result.text += "…";
  return result;
}

std::string in_sentence(const ShownWord& word) {
  return word.has_powers ? word.text : fmt::format("\"{}\"", word.text);
}

}  // namespace

std::string in_powers(const Alphabet& alphabet, std::span<const Letter> word) {
  return shown(alphabet, word, kAnyBytes).text;
}

std::string quoted_letters(const Alphabet& alphabet, std::span<const Letter> word) {
  return word.empty() ? "ε" : in_sentence(shown(alphabet, word, kAnyBytes));
}

std::string quoted_word(const Alphabet& alphabet, std::span<const Letter> word) {
  if (word.empty()) return "the empty word";
  return fmt::format("{} ({})", in_sentence(shown(alphabet, word, kShownBytes)), counted(word.size(), "letter"));
}

std::string product_of_words(const Alphabet& alphabet, std::initializer_list<WordFactor> factors) {
  std::string text;
  for (const auto& [word, is_repeated] : factors) {
    if (word.empty()) continue;
    const ShownWord factor = shown(alphabet, word, kAnyBytes);
    const std::string base = in_sentence(factor);
    text += text.empty() ? "" : " ";
    text += !is_repeated ? base : factor.has_powers ? fmt::format("({})ⁿ", base) : base + "ⁿ";
  }
  return text.empty() ? "ε" : text;
}

}  // namespace krohn
