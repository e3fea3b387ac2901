// The parser: operator precedence with explicit stacks, so that nesting costs memory in the heap only.
//   union |  <  intersection &  <  concatenation  <  complement ~ (prefix)  <  quantifiers (postfix)
#include "krohn/automata/regex/regex_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "krohn/automata/dfa/utf8.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/regex/regex_scanner.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {

namespace {

/// Operators in the order of their strength; an open group is the weakest, so that nothing reduces past it.
enum class Operator : std::uint8_t { kGroup, kUnion, kIntersection, kConcatenation, kComplement };

struct Pending {
  Operator op;
  std::size_t position;
};

struct Bounds {
  std::uint32_t least, most;
};

/// What (?i) and (?m) say.
struct Flags {
  bool ignores_case = false, multiline = false;
};

/// What \w stands for.
const CharacterSet& word_characters() {
  static const CharacterSet characters{{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}};
  return characters;
}

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
    if (!is_start && !is_end) number_of_set(word_characters(), false);
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
  bool was_empty_ = false;          ///< what finish_operand ended was nothing
};

}  // namespace

RegexNeighbour neighbour(const Symbol& symbol) {
  if (symbol.characters.empty()) return RegexNeighbour::kOther;
  const char32_t first = symbol.characters.front().first;
  if (first == U'\n') return RegexNeighbour::kLineBreak;
  return contains(word_characters(), first) ? RegexNeighbour::kWord : RegexNeighbour::kOther;
}

RegexTree parse_regex_syntax(std::string_view expression, const std::optional<Alphabet>& alphabet,
                             std::uint64_t max_size, bool search) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 31;
  return Parser(expression, alphabet, std::min(max_size, kLargest), search).parse();
}

}  // namespace krohn
