// Escapes and classes of regular expressions. \d \w \s are ASCII, as in ECMAScript; \p{…} comes from ICU.
#include "krohn/automata/regex/regex_scanner.h"

#include <fmt/format.h>
#include <unicode/uset.h>

#include <memory>
#include <optional>

#include "krohn/automata/dfa/utf8.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/error.h"

namespace krohn {

namespace {

std::u32string decode_expression(std::string_view expression) {
  try {
    return decode_utf8(expression);
  } catch (const InputError& error) {
    throw InputError("regex", error.what());
  }
}

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_ascii_letter(char32_t c) { return (c | 0x20) >= U'a' && (c | 0x20) <= U'z' && c < 0x80; }

std::optional<char32_t> hexadecimal_value(char32_t c) {
  if (is_digit(c)) return c - U'0';
  if (c < 0x80 && (c | 0x20) >= U'a' && (c | 0x20) <= U'f') return (c | 0x20) - U'a' + 10;
  return std::nullopt;
}

RegexClass single_character(char32_t character, std::size_t position) {
  return {{{character, character}}, false, true, {{character, position}}};
}

/// Reads `digits` hexadecimal digits, or any number up to 8 in braces. `start` is the backslash.
char32_t read_code_point(RegexScanner& scanner, std::size_t start, std::size_t digits) {
  const bool braces = scanner.take_if(U'{');
  const std::size_t longest = braces ? 8 : digits;
  std::uint64_t value = 0;
  std::size_t count = 0;
  while (count < longest && !scanner.at_end()) {
    const auto digit = hexadecimal_value(scanner.peek());
    if (!digit) break;
    value = value * 16 + *digit;
    scanner.take();
    ++count;
  }
  const bool complete = braces ? count > 0 && scanner.take_if(U'}') : count == digits;
  if (!complete) scanner.fail(start, fmt::format("this escape needs {} hexadecimal digits, or some in {{}}", digits));
  if (value > kLastCodePoint || !contains(all_characters(), static_cast<char32_t>(value)))
    scanner.fail(start, fmt::format("U+{:04X} is not a Unicode character", value));
  return static_cast<char32_t>(value);
}

struct CloseSet {
  void operator()(USet* set) const { uset_close(set); }
};

CharacterSet characters_of(const USet* set) {
  UErrorCode status = U_ZERO_ERROR;
  std::vector<CodePointRange> ranges;
  for (std::int32_t i = 0; i < uset_getItemCount(set); ++i) {
    UChar32 first = 0, last = 0;
    if (uset_getItem(set, i, &first, &last, nullptr, 0, &status) == 0)
      ranges.push_back({static_cast<char32_t>(first), static_cast<char32_t>(last)});
  }
  return normalised(std::move(ranges));
}

/// The characters of a Unicode property, by ICU. `expression` is what stands in the braces.
CharacterSet property_characters(const RegexScanner& scanner, std::size_t start, const std::string& expression) {
  std::u16string pattern = u"\\p{";
  for (const char c : expression) pattern += static_cast<char16_t>(c);
  pattern += u'}';
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<USet, CloseSet> set(
      uset_openPattern(pattern.data(), static_cast<std::int32_t>(pattern.size()), &status));
  if (U_FAILURE(status) || set == nullptr)
    scanner.fail(start, fmt::format("{} is not a Unicode property; write for example \\p{{L}}, \\p{{Lu}}, "
                                    "\\p{{Greek}} or \\p{{White_Space}}",
                                    in_quotes(expression)));
  return characters_of(set.get());
}

/// Reads what follows \p or \P: one letter, or a property in braces.
CharacterSet read_property(RegexScanner& scanner, std::size_t start) {
  std::string name;
  if (!scanner.take_if(U'{')) {
    if (!is_ascii_letter(scanner.peek())) scanner.fail(start, "\\p needs a letter, as \\pL, or a property in {}");
    name = static_cast<char>(scanner.take());
  } else {
    while (!scanner.at_end() && scanner.peek() != U'}') {
      const char32_t c = scanner.take();
      if (!is_ascii_letter(c) && !is_digit(c) && std::u32string_view(U"_= -").find(c) == std::u32string_view::npos)
        scanner.fail(scanner.position() - 1, "a property name has letters, digits, _, = and spaces");
      name += static_cast<char>(c);
    }
    if (!scanner.take_if(U'}')) scanner.fail(start, "the { of this property is not closed");
  }
  return property_characters(scanner, start, name);
}

std::optional<char32_t> control_escape(char32_t kind) {
  switch (kind) {
    case U'n':
      return U'\n';
    case U't':
      return U'\t';
    case U'r':
      return U'\r';
    case U'f':
      return U'\f';
    case U'v':
      return U'\v';
    case U'a':
      return U'\a';
    case U'e':
      return U'\x1B';
    case U'0':
      return U'\0';
    default:
      return std::nullopt;
  }
}

/// \d, \w, \s for the lower-case letter; nothing for another.
std::optional<CharacterSet> named_class(char32_t kind) {
  switch (kind) {
    case U'd':
      return CharacterSet{{U'0', U'9'}};
    case U'w':
      return CharacterSet{{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}};
    case U's':
      return CharacterSet{{U'\t', U'\r'}, {U' ', U' '}};
    default:
      return std::nullopt;
  }
}

[[noreturn]] void refuse_escape(const RegexScanner& scanner, std::size_t start, char32_t kind) {
  if (is_digit(kind) || kind == U'k' || kind == U'g')
    scanner.fail(start, "back-references are not regular and not supported");
  if (std::u32string_view(U"bBAz").find(kind) != std::u32string_view::npos)
    scanner.fail(start, fmt::format("\\{} reads no character and cannot be in a class", static_cast<char>(kind)));
  if (kind == U'Z')
    scanner.fail(start,
                 "\\Z is the end in some engines, and before a last line break in others; write \\z for the end");
  if (kind == U'G') scanner.fail(start, "\\G, the end of the match before, is not supported; write \\A for the start");
  scanner.fail(start, fmt::format("unknown escape \\{}; a letter stands for itself without a backslash",
                                  static_cast<char>(kind)));
}

/// One end of a range inside a class, or a class escape.
RegexClass read_class_member(RegexScanner& scanner) {
  if (scanner.peek() == U'\\') return read_regex_escape(scanner);
  const std::size_t position = scanner.position();
  if (scanner.peek() == U'[' && (scanner.peek(1) == U':' || scanner.peek(1) == U'.' || scanner.peek(1) == U'='))
    scanner.fail(position, "POSIX classes are not supported; write \\p{…}, or \\[ for the character");
  if (scanner.peek() == U'&' && scanner.peek(1) == U'&')
    scanner.fail(position, "classes have no operations; intersect outside them, as [a-z]&[^aeiou]");
  return single_character(scanner.take(), position);
}

/// The end of a range, if `first` begins one: a `-` that is not the last of the class.
std::optional<char32_t> read_range_end(RegexScanner& scanner, const RegexClass& first, std::size_t start) {
  if (scanner.peek() != U'-' || scanner.peek(1) == U']') return std::nullopt;
  if (!first.single) scanner.fail(start, "a range needs single characters at both ends; write \\- for the character");
  scanner.take();
  if (scanner.at_end()) return std::nullopt;
  const RegexClass last = read_class_member(scanner);
  if (!last.single) scanner.fail(start, "a range needs single characters at both ends; write \\- for the character");
  if (last.characters.front().first < first.characters.front().first) scanner.fail(start, "the range is reversed");
  return last.characters.front().first;
}

}  // namespace

RegexScanner::RegexScanner(std::string_view expression) : text_(decode_expression(expression)) {}

bool RegexScanner::take_if(char32_t character) {
  if (at_end() || peek() != character) return false;
  ++next_;
  return true;
}

bool RegexScanner::take_if(std::u32string_view text) {
  if (std::u32string_view(text_).substr(next_, text.size()) != text) return false;
  next_ += text.size();
  return true;
}

void RegexScanner::fail(std::size_t position, std::string_view message) const {
  throw InputError(fmt::format("regex:{}", position + 1), message);
}

RegexClass read_regex_escape(RegexScanner& scanner) {
  const std::size_t start = scanner.position();
  scanner.take();
  if (scanner.at_end()) scanner.fail(start, "nothing follows the backslash; write \\\\ for the character");
  const char32_t kind = scanner.take();
  if (kind == U'0' && is_digit(scanner.peek()))
    scanner.fail(start,
                 "\\0 is U+0000, and octal in other engines when digits follow; write \\x{0} before a digit, "
                 "or the character in hexadecimal");
  if (const auto control = control_escape(kind)) return single_character(*control, start);
  if (kind == U'x') return single_character(read_code_point(scanner, start, 2), start);
  if (kind == U'u') return single_character(read_code_point(scanner, start, 4), start);
  if (kind == U'U') return single_character(read_code_point(scanner, start, 8), start);
  if (kind == U'p' || kind == U'P') {
    CharacterSet property = read_property(scanner, start);
    const bool negated = kind == U'P';
    return {negated ? complement(property) : std::move(property), negated, false, {}};
  }
  if (const auto set = named_class(kind)) return {*set, false, false, {}};
  if (is_ascii_letter(kind))
    if (const auto set = named_class(kind | 0x20)) return {complement(*set), true, false, {}};
  if (is_ascii_letter(kind) || is_digit(kind)) refuse_escape(scanner, start, kind);
  return single_character(kind, start);
}

CharacterSet in_either_case(const CharacterSet& characters) {
  const std::unique_ptr<USet, CloseSet> set(uset_openEmpty());
  for (const CodePointRange& range : characters)
    uset_addRange(set.get(), static_cast<UChar32>(range.first), static_cast<UChar32>(range.last));
  uset_closeOver(set.get(), USET_CASE_INSENSITIVE);
  return characters_of(set.get());
}

RegexClass read_regex_class(RegexScanner& scanner, bool ignores_case) {
  const std::size_t start = scanner.position();
  scanner.take();
  RegexClass result;
  const bool negated = scanner.take_if(U'^');
  std::vector<CodePointRange> ranges, written;  // those of classes inside, and those written out
  while (!scanner.take_if(U']')) {
    if (scanner.at_end()) scanner.fail(start, "this [ is not closed; write \\[ for the character");
    const std::size_t member_start = scanner.position();
    const RegexClass member = read_class_member(scanner);
    result.negated = result.negated || member.negated;
    if (const auto last = read_range_end(scanner, member, member_start)) {
      written.push_back({member.characters.front().first, *last});
      continue;
    }
    std::vector<CodePointRange>& to = member.single ? written : ranges;
    to.insert(to.end(), member.characters.begin(), member.characters.end());
    result.named.insert(result.named.end(), member.named.begin(), member.named.end());
  }
  if (ignores_case) {
    written = in_either_case(normalised(std::move(written)));
    result.named.clear();  // one case of each will do
  }
  ranges.insert(ranges.end(), written.begin(), written.end());
  result.characters = normalised(std::move(ranges));
  if (negated) result.characters = complement(result.characters);
  result.negated = result.negated || negated;
  return result;
}

}  // namespace krohn
