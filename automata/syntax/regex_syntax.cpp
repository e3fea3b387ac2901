#include "krohn/automata/syntax/regex_syntax.h"

#include <fmt/format.h>
#include <unicode/uset.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

std::u32string decode_expression(std::string_view expression) {
  try {
    return decode_utf8(expression);
  } catch (const InputError& error) {
    throw InputError("regex", error.what());
  }
}

// The text of a regular expression with a reading position, and errors that name a
// column.

/// Reads an expression character by character. Columns count code points from 1.
class RegexScanner {
 public:
  /// Throws InputError with the byte that is not UTF-8.
  explicit RegexScanner(std::string_view expression) : text_(decode_expression(expression)) {}

  bool at_end() const { return next_ == text_.size(); }
  std::size_t position() const { return next_; }
  void go_to(std::size_t position) { next_ = position; }
  /// The next character; U+0000 at the end, where `at_end` tells it from a real one.
  char32_t peek(std::size_t ahead = 0) const { return next_ + ahead < text_.size() ? text_[next_ + ahead] : U'\0'; }
  char32_t take() { return text_[next_++]; }
  /// Takes the character if it is next.
  bool take_if(char32_t character) {
    if (at_end() || peek() != character) return false;
    ++next_;
    return true;
  }

  /// Takes the text if it is next.
  bool take_if(std::u32string_view text) {
    if (std::u32string_view(text_).substr(next_, text.size()) != text) return false;
    next_ += text.size();
    return true;
  }

  /// Throws InputError "regex:COLUMN: message".
  [[noreturn]] void fail(std::size_t position, std::string_view message) const {
    throw InputError(fmt::format("regex:{}", position + 1), message);
  }

 private:
  std::u32string text_;
  std::size_t next_ = 0;
};

/// The characters of a backslash or a class.
struct RegexClass {
  CharacterSet characters;
  bool negated = false;  ///< written as a complement: the expression speaks of all of Unicode
  bool single = false;   ///< one character, written as itself
  /// Characters written one by one, with their positions: an explicit alphabet must have them.
  std::vector<std::pair<char32_t, std::size_t>> named;
};

/// Reads an escape from the backslash on. Throws InputError on anchors, back-references and unknown escapes.
RegexClass read_regex_escape(RegexScanner& scanner);

// Escapes and classes of regular expressions. \d \w \s are ASCII, as in ECMAScript; \p{…} comes from ICU.

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
  constexpr std::u32string_view kKinds = U"ntrfvae0";
  constexpr char32_t kCharacters[] = {U'\n', U'\t', U'\r', U'\f', U'\v', U'\a', U'\x1B', U'\0'};
  const std::size_t at = kKinds.find(kind);
  return at == std::u32string_view::npos ? std::nullopt : std::optional(kCharacters[at]);
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

/// The characters that differ from these in case only, with them: Unicode's simple case folding, by ICU.
CharacterSet in_either_case(const CharacterSet& characters) {
  const std::unique_ptr<USet, CloseSet> set(uset_openEmpty());
  for (const CodePointRange& range : characters)
    uset_addRange(set.get(), static_cast<UChar32>(range.first), static_cast<UChar32>(range.last));
  uset_closeOver(set.get(), USET_CASE_INSENSITIVE);
  return characters_of(set.get());
}

/// Reads a class from its `[` to its `]`.
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

// The parser: operator precedence with explicit stacks, so that nesting costs memory in the heap only.
//   union |  <  intersection &  <  concatenation  <  complement ~ (prefix)  <  quantifiers (postfix)

/// Operators in the order of their strength; an open group is the weakest, so that nothing reduces past it.
enum class Operator : std::uint8_t { kGroup, kUnion, kIntersection, kConcatenation, kComplement };

struct Pending {
  Operator op;
  std::size_t position;
};

struct Bounds {
  std::uint32_t least, most;
};

/// The flags (?i) and (?m).
struct Flags {
  bool ignores_case = false, multiline = false;
};

class Parser {
 public:
  Parser(std::string_view expression, const std::optional<Alphabet>& alphabet, std::uint64_t max_size, bool search)
      : scanner_(expression), alphabet_(alphabet), max_size_(max_size), search_(search) {
    if (!alphabet) return;
    for (const Symbol& symbol : alphabet->symbols())
      known_.insert(known_.end(), symbol.characters.begin(), symbol.characters.end());
    known_ = normalised(std::move(known_));
  }

  RegexTree parse() {
    while (!scanner_.at_end()) read_item();
    finish_operand();
    reduce_down_to(Operator::kUnion);
    if (!pending_.empty()) scanner_.fail(pending_.back().position, "this ( is not closed; write \\( for the character");
    tree_.root = operands_.back();
    if (search_) surround_with_anything();
    return std::move(tree_);
  }

 private:
  void read_item() {
    const std::size_t start = scanner_.position();
    switch (scanner_.peek()) {
      case U'(':
        return open_group();
      case U')':
        return close_group();
      case U'|':
        return infix(Operator::kUnion);
      case U'&':
        return infix(Operator::kIntersection);
      case U'~':
        return open_complement();
      case U'*':
      case U'+':
      case U'?':
      case U'{':
        return quantify();
      case U'^':
      case U'$':
        operand(start, assertion(start, scanner_.take()));
        is_anchor_ = true;
        return;
      case U'"':
        return operand(start, token(read_token_name(), start));
      case U'[':
        return operand(start, characters(read_regex_class(scanner_, flags_.ignores_case), start));
      case U'\\':
        if (std::u32string_view(U"bBAz").find(scanner_.peek(1)) != std::u32string_view::npos) {
          scanner_.take();
          return operand(start, assertion(start, scanner_.take()));
        }
        return operand(start, characters(in_case(read_regex_escape(scanner_)), start));
      case U'.':
        scanner_.take();
        tree_.ranges_over_letters = true;
        return operand(start, add({.kind = RegexKind::kAny}, start));
      case U']':
      case U'}':
        scanner_.fail(start, fmt::format("nothing is open here; write \\{} for the character{}",
                                         static_cast<char>(scanner_.peek()), remark_on_quotes()));
      default: {
        const char32_t c = scanner_.take();
        return operand(start, characters(in_case({{{c, c}}, false, true, {{c, start}}}), start));
      }
    }
  }

  /// After (?i) in either case; classes such as \w and \p{Lu} say what they mean already.
  RegexClass in_case(RegexClass read) const {
    if (!flags_.ignores_case || !read.single) return read;
    read.characters = in_either_case(read.characters);
    read.named.clear();
    return read;
  }

  /// A search puts any letters before and behind the expression.
  void surround_with_anything() {
    const std::size_t end = scanner_.position();
    tree_.ranges_over_letters = tree_.negates_class = true;  // texts have any characters around
    const RegexNodeId any = add({.kind = RegexKind::kAny}, end);
    const RegexNodeId anything = add({RegexKind::kRepeat, any, 0, 0, kUnbounded}, end);
    const RegexNodeId begun = add({RegexKind::kConcatenation, anything, tree_.root}, end);
    tree_.root = add({RegexKind::kConcatenation, begun, anything}, end);
  }

  RegexNodeId assertion(std::size_t start, char32_t sign) {
    using enum RegexNeighbour;
    const bool is_line = flags_.multiline && (sign == U'^' || sign == U'$');
    const bool is_start = sign == U'^' || sign == U'A', is_end = sign == U'$' || sign == U'z';
    if (is_line) number_of_set({{U'\n', U'\n'}}, false);
    if (!is_start && !is_end) number_of_set(*named_class(U'w'), false);
    RegexContexts contexts = 0;
    for (const RegexNeighbour before : {kEnd, kLineBreak, kWord, kOther})
      for (const RegexNeighbour behind : {kEnd, kLineBreak, kWord, kOther}) {
        const RegexNeighbour side = is_start ? before : behind;
        const bool holds = is_start || is_end ? side == kEnd || (is_line && side == kLineBreak)
                                              : ((before == kWord) != (behind == kWord)) == (sign == U'b');
        if (holds) contexts |= context(before, behind);
      }
    return add({.kind = RegexKind::kAssertion, .left = contexts}, start);
  }

  // Operands and operators -----------------------------------------------------------------------------------------

  /// Appends to what stands before it. `node` is evaluated first, which only adds it to the tree.
  void operand(std::size_t start, RegexNodeId node) {
    concatenate(start);
    operands_.push_back(node);
    end_operand();
  }

  void end_operand() {
    after_operand_ = true;
    quantified_ = is_anchor_ = false;
  }

  void concatenate(std::size_t position) {
    if (!after_operand_) return;
    reduce_down_to(Operator::kConcatenation);
    pending_.push_back({Operator::kConcatenation, position});
    after_operand_ = false;
  }

  void infix(Operator op) {
    finish_operand();
    if (op == Operator::kIntersection && was_empty_)
      scanner_.fail(scanner_.position(), "& needs an expression on its left; write () for the empty word");
    reduce_down_to(op);
    pending_.push_back({op, scanner_.position()});
    scanner_.take();
    after_operand_ = false;
  }

  void open_complement() {
    concatenate(scanner_.position());
    pending_.push_back({Operator::kComplement, scanner_.position()});
    scanner_.take();
    tree_.ranges_over_letters = true;
  }

  /// Where an alternative ends: nothing at all is the empty word, but not as the operand of & or ~.
  void finish_operand() {
    was_empty_ = !after_operand_;
    if (after_operand_) return;
    if (!pending_.empty() && pending_.back().op == Operator::kIntersection)
      scanner_.fail(pending_.back().position, "& needs an expression on its right; write () for the empty word");
    if (!pending_.empty() && pending_.back().op == Operator::kComplement)
      scanner_.fail(pending_.back().position, "~ needs an expression on its right; write () for the empty word");
    operands_.push_back(add({.kind = RegexKind::kEmptyWord}, scanner_.position()));
    end_operand();
  }

  /// Applies the pending operators that bind at least as strongly as `op`.
  void reduce_down_to(Operator op) {
    while (!pending_.empty() && pending_.back().op >= op) {
      const Pending top = pending_.back();
      pending_.pop_back();
      if (top.op == Operator::kComplement) {
        operands_.back() = complement_of(operands_.back(), top.position);
        continue;
      }
      const RegexNodeId right = operands_.back();
      operands_.pop_back();
      operands_.back() = add({kind_of(top.op), operands_.back(), right}, top.position);
    }
  }

  static RegexKind kind_of(Operator op) {
    if (op == Operator::kUnion) return RegexKind::kUnion;
    return op == Operator::kIntersection ? RegexKind::kIntersection : RegexKind::kConcatenation;
  }

  /// ~~e is e, which also keeps a million tildes from costing a million automata.
  RegexNodeId complement_of(RegexNodeId node, std::size_t position) {
    if (tree_.nodes[node].kind == RegexKind::kComplement) return tree_.nodes[node].left;
    return add({.kind = RegexKind::kComplement, .left = node}, position);
  }

  // Groups ---------------------------------------------------------------------------------------------------------

  void open_group() {
    if (read_flags_alone()) return;
    concatenate(scanner_.position());
    pending_.push_back({Operator::kGroup, scanner_.position()});
    outer_flags_.push_back(flags_);
    scanner_.take();
    if (scanner_.peek() == U'?') read_group_kind();
  }

  static bool is_flag(char32_t c) { return c == U'-' || (c < 0x80 && std::isalpha(static_cast<int>(c)) != 0); }

  /// (?i) and the like, which hold to the end of the group around them. False, and nothing is taken, for anything else.
  bool read_flags_alone() {
    const std::size_t start = scanner_.position();
    if (scanner_.peek(1) != U'?') return false;
    std::size_t ahead = 2;
    while (is_flag(scanner_.peek(ahead))) ++ahead;
    if (ahead == 2 || scanner_.peek(ahead) != U')') return false;
    scanner_.take();
    scanner_.take();
    read_flags(start);
    scanner_.take();
    return true;
  }

  /// Letters up to a `:` or `)`, which is left.
  void read_flags(std::size_t start) {
    bool on = true;
    while (is_flag(scanner_.peek())) {
      const char32_t flag = scanner_.take();
      if (flag == U'-')
        on = false;
      else if (flag == U'i')
        flags_.ignores_case = on;
      else if (flag == U'm')
        flags_.multiline = on;
      else if (flag != U's' && flag != U'u')  // . is any letter already, and characters are Unicode's
        scanner_.fail(start,
                      fmt::format("the flag {} is not supported; i ignores case, m lets ^ and $ hold at line breaks, "
                                  "s and u are understood and change nothing",
                                  static_cast<char>(flag)));
    }
  }

  void read_group_kind() {
    const std::size_t start = scanner_.position() - 1;
    scanner_.take();
    if (scanner_.take_if(U':')) return;
    if (scanner_.take_if(U'=') || scanner_.take_if(U'!') || scanner_.take_if(U"<=") || scanner_.take_if(U"<!"))
      scanner_.fail(start, "look-around is not supported; intersect with &, or exclude with &~");
    if (scanner_.take_if(U"P=")) scanner_.fail(start, "back-references are not regular and not supported");
    if (scanner_.take_if(U"P<") || scanner_.take_if(U'<')) return read_group_name(start);
    if (is_flag(scanner_.peek())) {
      read_flags(start);
      if (scanner_.take_if(U':')) return;
    }
    scanner_.fail(start,
                  "groups are (…), (?:…), (?i:…), (?<name>…) and (?P<name>…); comments, atomic and conditional groups "
                  "are not supported");
  }

  void read_group_name(std::size_t start) {
    std::size_t length = 0;
    for (; !scanner_.at_end() && scanner_.peek() != U'>'; ++length) {
      const char32_t c = scanner_.take();
      if (length == 0 && c >= U'0' && c <= U'9')
        scanner_.fail(scanner_.position() - 1, "a group name begins with a letter or _");
      const bool letter = c == U'_' || (c < 0x80 && std::isalnum(static_cast<int>(c)) != 0) || c >= 0x80;
      if (!letter) scanner_.fail(scanner_.position() - 1, "a group name has letters, digits and _");
    }
    if (length == 0 || !scanner_.take_if(U'>')) scanner_.fail(start, "the name of this group is missing or not closed");
  }

  void close_group() {
    if (outer_flags_.empty()) scanner_.fail(scanner_.position(), "this ) closes nothing; write \\) for the character");
    finish_operand();
    reduce_down_to(Operator::kUnion);
    pending_.pop_back();
    flags_ = outer_flags_.back();
    outer_flags_.pop_back();
    scanner_.take();
    end_operand();
  }

  // Quantifiers ----------------------------------------------------------------------------------------------------

  void quantify() {
    const std::size_t start = scanner_.position();
    if (!after_operand_ || is_anchor_)
      scanner_.fail(start, "there is nothing to repeat; write a backslash for the character");
    if (quantified_) scanner_.fail(start, "a quantifier cannot follow a quantifier; put the first into a group");
    const Bounds bounds = read_bounds();
    if (scanner_.peek() == U'+')
      scanner_.fail(scanner_.position(),
                    "possessive quantifiers change the language with the matcher's order; put the first into a group "
                    "to repeat it");
    scanner_.take_if(U'?');  // lazy: another order of trying, the same language
    operands_.back() = repeat(operands_.back(), bounds, start);
    quantified_ = true;
  }

  Bounds read_bounds() {
    switch (scanner_.take()) {
      case U'*':
        return {0, kUnbounded};
      case U'+':
        return {1, kUnbounded};
      case U'?':
        return {0, 1};
      default:
        return read_braces();
    }
  }

  /// Reads {m}, {m,}, {,n} or {m,n} behind the brace.
  Bounds read_braces() {
    const std::size_t start = scanner_.position() - 1;
    const auto least = read_count();
    const auto most = scanner_.take_if(U',') ? read_count() : least;
    if ((!least && !most) || !scanner_.take_if(U'}'))
      scanner_.fail(start, "a repetition is {m}, {m,}, {,n} or {m,n}; write \\{ for the character");
    const Bounds bounds{least.value_or(0), most.value_or(kUnbounded)};
    if (bounds.least > bounds.most)
      scanner_.fail(start, fmt::format("the repetition {{{},{}}} is reversed", bounds.least, bounds.most));
    return bounds;
  }

  /// A decimal number, saturated far above every limit.
  std::optional<std::uint32_t> read_count() {
    constexpr std::uint64_t kSaturated = kUnbounded - 1;
    if (!is_digit(scanner_.peek())) return std::nullopt;
    std::uint64_t count = 0;
    while (is_digit(scanner_.peek())) count = std::min(kSaturated, count * 10 + (scanner_.take() - U'0'));
    return static_cast<std::uint32_t>(count);
  }

  static bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

  /// (x{i,j}){k,l} is x{ik,jl} where no number between is left out: from kj, the most of k times, to (k + 1)i.
  RegexNodeId repeat(RegexNodeId node, Bounds bounds, std::size_t position) {
    const RegexNode& child = tree_.nodes[node];
    const auto [least, most] = bounds;
    const auto times = [](std::uint32_t a, std::uint32_t b) {
      const bool is_unbounded = (a == kUnbounded && b != 0) || (b == kUnbounded && a != 0);
      constexpr std::uint64_t kSaturated = kUnbounded - 1;
      return is_unbounded ? kUnbounded : static_cast<std::uint32_t>(std::min(kSaturated, std::uint64_t{a} * b));
    };
    const bool is_nested = child.kind == RegexKind::kRepeat;
    if (is_nested && (least == most || times(least + 1, child.least) <= std::uint64_t{times(least, child.most)} + 1))
      return add({RegexKind::kRepeat, child.left, 0, times(child.least, least), times(child.most, most)}, position);
    return add({RegexKind::kRepeat, node, 0, least, most}, position);
  }

  // Atoms ----------------------------------------------------------------------------------------------------------

  RegexNodeId characters(const RegexClass& read, std::size_t start) {
    for (const auto& [character, position] : read.named)
      if (alphabet_ && !alphabet_->find(character)) refuse_symbol(position, character_symbol(character).name);
    if (alphabet_ && !read.negated && !read.characters.empty() && intersection(read.characters, known_).empty())
      scanner_.fail(start, fmt::format("no character of {} is in the alphabet {}", class_name(read.characters),
                                       to_string(*alphabet_)));
    tree_.negates_class = tree_.negates_class || read.negated;
    return add({.kind = RegexKind::kCharacters, .left = number_of_set(read.characters, true)}, start);
  }

  std::uint32_t number_of_set(const CharacterSet& set, bool is_named) {
    const auto [found, added] = set_ids_.emplace(set, static_cast<std::uint32_t>(tree_.sets.size()));
    if (added) tree_.sets.push_back(set);
    tree_.is_named.resize(tree_.sets.size(), false);
    tree_.is_named[found->second] = tree_.is_named[found->second] || is_named;
    return found->second;
  }

  /// A quoted name of one character is that character.
  RegexNodeId token(const std::string& name, std::size_t start) {
    if (const auto c = single_code_point(name)) return characters({{{*c, *c}}, false, true, {{*c, start}}}, start);
    if (alphabet_ && !alphabet_->find(name)) refuse_symbol(start, name);
    const auto [found, added] = token_ids_.emplace(name, static_cast<std::uint32_t>(tree_.tokens.size()));
    if (added) tree_.tokens.push_back(name);
    return add({.kind = RegexKind::kToken, .left = found->second}, start);
  }

  std::string read_token_name() {
    const std::size_t start = scanner_.position();
    scanner_.take();
    std::string name;
    while (!scanner_.take_if(U'"')) {
      if (scanner_.at_end()) scanner_.fail(start, "this quote is not closed; write \\\" for the character");
      char32_t c = scanner_.take();
      if (c == U'\\' && (scanner_.peek() == U'"' || scanner_.peek() == U'\\')) c = scanner_.take();
      append_utf8(name, c);
    }
    if (name.empty()) scanner_.fail(start, "a symbol needs a name; write () for the empty word");
    last_token_ = name;
    return name;
  }

  /// Where characters were meant, whatever stands between quotes is missed behind them.
  std::string remark_on_quotes() const {
    if (last_token_.empty()) return "";
    return fmt::format(" (and \\\" for a quote: {} was read as one letter)", in_quotes(last_token_));
  }

  [[noreturn]] void refuse_symbol(std::size_t position, const std::string& name) const {
    const bool has_tokens = !alphabet_->is_characterwise();
    scanner_.fail(position,
                  fmt::format("the symbol {} is not in the alphabet {}{}", in_quotes(name), to_string(*alphabet_),
                              has_tokens ? "; names of several characters are written in quotes" : ""));
  }

  RegexNodeId add(RegexNode node, std::size_t position) {
    node.unfolded = unfolded_size(node);
    if (node.unfolded > max_size_ || tree_.nodes.size() >= max_size_)
      throw InputError(
          fmt::format("regex:{}: the expression has more than {} once its repetitions are written out "
                      "(max_expression_size); repeat less",
                      position + 1, counted(max_size_, "part")));
    tree_.nodes.push_back(node);
    return static_cast<RegexNodeId>(tree_.nodes.size() - 1);
  }

  /// Saturates: every child is within the limit, and limits are far below 2^31.
  std::uint64_t unfolded_size(const RegexNode& node) const {
    const auto of = [&](RegexNodeId child) { return tree_.nodes[child].unfolded; };
    switch (node.kind) {
      case RegexKind::kConcatenation:
      case RegexKind::kUnion:
      case RegexKind::kIntersection:
        return 1 + of(node.left) + of(node.right);
      case RegexKind::kComplement:
        return 1 + of(node.left);
      case RegexKind::kRepeat: {
        const std::uint64_t copies = std::max({node.most == kUnbounded ? 0 : node.most, node.least, 1U});
        return 1 + of(node.left) * copies;
      }
      default:
        return 1;
    }
  }

  RegexScanner scanner_;
  const std::optional<Alphabet>& alphabet_;
  CharacterSet known_;  ///< the characters of the alphabet
  std::uint64_t max_size_;
  bool search_;
  RegexTree tree_;
  std::map<CharacterSet, std::uint32_t> set_ids_;
  std::map<std::string, std::uint32_t> token_ids_;
  std::string last_token_;
  std::vector<RegexNodeId> operands_;
  std::vector<Pending> pending_;
  Flags flags_;
  std::vector<Flags> outer_flags_;  ///< by open group: those before it
  bool after_operand_ = false;      ///< an expression is complete just before the position
  bool quantified_ = false;         ///< it ends in a quantifier
  bool is_anchor_ = false;          ///< it is ^ or $
  bool was_empty_ = false;          ///< finish_operand ended an empty operand
};

}  // namespace

RegexNeighbour neighbour(const Symbol& symbol) {
  if (symbol.characters.empty()) return RegexNeighbour::kOther;
  const char32_t first = symbol.characters.front().first;
  if (first == U'\n') return RegexNeighbour::kLineBreak;
  static const CharacterSet word = *named_class(U'w');
  return contains(word, first) ? RegexNeighbour::kWord : RegexNeighbour::kOther;
}

RegexTree parse_regex_syntax(std::string_view expression, const std::optional<Alphabet>& alphabet,
                             std::uint64_t max_size, bool search) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 31;
  return Parser(expression, alphabet, std::min(max_size, kLargest), search).parse();
}

}  // namespace krohn
