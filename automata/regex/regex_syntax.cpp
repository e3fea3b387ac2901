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
    finish_alternative();
    reduce_down_to(Operator::kUnion);
    if (!pending_.empty()) scanner_.fail(pending_.back().position, "this ( is not closed; write \\( for the character");
    tree_.root = operands_.back();
    if (search_) tree_.ranges_over_letters = tree_.negates_class = true;  // texts have any characters around
    if (tree_.has_boundary) refuse_boundaries_in_parts();
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
        return anchor();
      case U'"':
        return operand(start, token(read_token_name(), start));
      case U'[':
        return operand(start, characters(read_regex_class(scanner_), start));
      case U'\\':
        if (scanner_.peek(1) == U'b' || scanner_.peek(1) == U'B') return operand(start, boundary(start));
        return operand(start, characters(in_case(read_regex_escape(scanner_)), start));
      case U'.':
        scanner_.take();
        tree_.ranges_over_letters = true;
        return operand(start, add({.kind = RegexKind::kAny}, start));
      case U']':
      case U'}':
        scanner_.fail(start, fmt::format("nothing is open here; write \\{} for the character",
                                         static_cast<char>(scanner_.peek())));
      default: {
        const char32_t c = scanner_.take();
        return operand(start, characters(in_case({{{c, c}}, false, true, {{c, start}}}), start));
      }
    }
  }

  /// After (?i) in either case; classes such as \w and \p{Lu} say what they mean already.
  RegexClass in_case(RegexClass read) const {
    if (!scanner_.ignores_case() || !read.single) return read;
    read.characters = in_either_case(read.characters);
    read.named.clear();
    return read;
  }

  RegexNodeId boundary(std::size_t start) {
    scanner_.take();
    const bool negated = scanner_.take() == U'B';
    if (!tree_.has_boundary) {
      const auto number = static_cast<std::uint32_t>(tree_.sets.size());
      if (set_ids_.emplace(word_characters(), number).second) {
        tree_.sets.push_back(word_characters());
        tree_.unnamed_set = number;
      }
    }
    tree_.has_boundary = true;
    first_boundary_ = std::min(first_boundary_, start);
    return add({.kind = RegexKind::kBoundary, .left = negated ? 1U : 0U}, start);
  }

  /// The automaton of an operand of & or ~ is finished by itself, without what stands around it.
  void refuse_boundaries_in_parts() const {
    std::vector<bool> has(tree_.nodes.size(), false);
    for (RegexNodeId id = 0; id < tree_.nodes.size(); ++id) {
      const RegexNode& node = tree_.nodes[id];
      const bool binary = node.kind == RegexKind::kConcatenation || node.kind == RegexKind::kUnion ||
                          node.kind == RegexKind::kIntersection;
      const bool unary = node.kind == RegexKind::kComplement || node.kind == RegexKind::kRepeat;
      has[id] =
          node.kind == RegexKind::kBoundary || ((binary || unary) && has[node.left]) || (binary && has[node.right]);
      if (has[id] && (node.kind == RegexKind::kIntersection || node.kind == RegexKind::kComplement))
        scanner_.fail(first_boundary_,
                      "\\b and \\B are not supported inside & and ~, whose operands stand for themselves");
    }
  }

  // Operands and operators -----------------------------------------------------------------------------------------

  /// Appends to what stands before it. `node` is evaluated first, which only adds it to the tree.
  void operand(std::size_t start, RegexNodeId node) {
    concatenate(start);
    operands_.push_back(node);
    after_operand_ = true;
    quantified_ = false;
  }

  void concatenate(std::size_t position) {
    if (!after_operand_) return;
    reduce_down_to(Operator::kConcatenation);
    pending_.push_back({Operator::kConcatenation, position});
    after_operand_ = false;
  }

  void infix(Operator op) {
    finish_operand();
    if (op == Operator::kUnion) finish_alternative();
    if (op == Operator::kIntersection) refuse_anchored_operand(scanner_.position());
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
    after_operand_ = true;
    quantified_ = false;
  }

  /// Where an alternative outside groups ends: a search puts any letters before and behind it, but for its anchors.
  void finish_alternative() {
    if (!search_ || depth_ > 0) return;
    const bool starts = starts_, ends = ends_;
    starts_ = ends_ = false;
    reduce_down_to(Operator::kIntersection);
    const std::size_t position = scanner_.position();
    const auto anything = [&] {
      return add({RegexKind::kRepeat, add({.kind = RegexKind::kAny}, position), 0, 0, kUnbounded}, position);
    };
    if (!starts) {
      const RegexNodeId before = anything();
      operands_.back() = add({RegexKind::kConcatenation, before, operands_.back()}, position);
    }
    if (!ends) {
      const RegexNodeId behind = anything();
      operands_.back() = add({RegexKind::kConcatenation, operands_.back(), behind}, position);
    }
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
    cases_.push_back(scanner_.ignores_case());
    ++depth_;
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
        scanner_.ignore_case(on);
      else if (flag != U's' && flag != U'u')  // . is any letter already, and characters are Unicode's
        scanner_.fail(start,
                      fmt::format("the flag {} is not supported; i ignores case, s and u are understood and change "
                                  "nothing",
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
    if (depth_ == 0) scanner_.fail(scanner_.position(), "this ) closes nothing; write \\) for the character");
    finish_operand();
    reduce_down_to(Operator::kUnion);
    pending_.pop_back();
    scanner_.ignore_case(cases_.back());
    cases_.pop_back();
    --depth_;
    scanner_.take();
    quantified_ = false;
  }

  void refuse_anchored_operand(std::size_t position) const {
    if (search_ && depth_ == 0 && (starts_ || ends_))
      scanner_.fail(position, "a search has ^ and $ at the ends of whole alternatives, not at the operands of &");
  }

  /// Words are matched whole, so ^ and $ say nothing at the ends of an alternative outside groups.
  void anchor() {
    const std::size_t start = scanner_.position();
    const bool at_start = !after_operand_ && (pending_.empty() || pending_.back().op != Operator::kComplement);
    const char32_t c = scanner_.take();
    const bool at_end = scanner_.at_end() || scanner_.peek() == U'|' || scanner_.peek() == U'&';
    if (depth_ > 0 || !(c == U'^' ? at_start : at_end))
      scanner_.fail(start, fmt::format("{} is only allowed where it says nothing, at the {} of an alternative outside "
                                       "groups; write \\{} for the character",
                                       static_cast<char>(c), c == U'^' ? "start" : "end", static_cast<char>(c)));
    (c == U'^' ? starts_ : ends_) = true;
    if (!pending_.empty() && pending_.back().op == Operator::kIntersection) refuse_anchored_operand(start);
  }

  // Quantifiers ----------------------------------------------------------------------------------------------------

  void quantify() {
    const std::size_t start = scanner_.position();
    if (!after_operand_) scanner_.fail(start, "there is nothing to repeat; write a backslash for the character");
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

  /// Reads {m}, {m,} or {m,n} behind the brace.
  Bounds read_braces() {
    const std::size_t start = scanner_.position() - 1;
    const auto least = read_count();
    std::optional<std::uint32_t> most = least;
    if (least && scanner_.take_if(U',')) {
      most = read_count();
      if (!most) most = kUnbounded;
    }
    if (!least || !scanner_.take_if(U'}'))
      scanner_.fail(start, "a repetition is {m}, {m,} or {m,n}; write \\{ for the character");
    if (*least > *most) scanner_.fail(start, fmt::format("the repetition {{{},{}}} is reversed", *least, *most));
    return {*least, *most};
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

  RegexNodeId repeat(RegexNodeId node, Bounds bounds, std::size_t position) {
    const RegexNode& child = tree_.nodes[node];
    const bool is_star = bounds.least == 0 && bounds.most == kUnbounded;
    if (is_star && child.kind == RegexKind::kRepeat && child.least == 0 && child.most == kUnbounded) return node;
    return add({RegexKind::kRepeat, node, 0, bounds.least, bounds.most}, position);
  }

  // Atoms ----------------------------------------------------------------------------------------------------------

  RegexNodeId characters(const RegexClass& read, std::size_t start) {
    for (const auto& [character, position] : read.named)
      if (alphabet_ && !alphabet_->find(character)) refuse_symbol(position, character_symbol(character).name);
    if (alphabet_ && !read.negated && !read.characters.empty() && intersection(read.characters, known_).empty())
      scanner_.fail(start, fmt::format("no character of {} is in the alphabet {}", class_name(read.characters),
                                       to_string(*alphabet_)));
    tree_.negates_class = tree_.negates_class || read.negated;
    const auto [found, added] = set_ids_.emplace(read.characters, static_cast<std::uint32_t>(tree_.sets.size()));
    if (added) tree_.sets.push_back(read.characters);
    if (tree_.unnamed_set == found->second) tree_.unnamed_set.reset();
    return add({.kind = RegexKind::kCharacters, .left = found->second}, start);
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
    return name;
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
          fmt::format("regex:{}: the expression has more than {} parts once its repetitions are written out "
                      "(max_expression_size); repeat less",
                      position + 1, max_size_));
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
  std::vector<RegexNodeId> operands_;
  std::vector<Pending> pending_;
  std::vector<bool> cases_;  ///< by open group: whether case was ignored before it
  std::size_t first_boundary_ = SIZE_MAX;
  std::size_t depth_ = 0;
  bool starts_ = false, ends_ = false;  ///< the alternative has an anchor at its start, at its end
  bool after_operand_ = false;          ///< an expression is complete just before the position
  bool quantified_ = false;             ///< it ends in a quantifier
  bool was_empty_ = false;              ///< what finish_operand ended was nothing
};

}  // namespace

const CharacterSet& word_characters() {
  static const CharacterSet characters{{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}};
  return characters;
}

RegexTree parse_regex_syntax(std::string_view expression, const std::optional<Alphabet>& alphabet,
                             std::uint64_t max_size, bool search) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 31;
  return Parser(expression, alphabet, std::min(max_size, kLargest), search).parse();
}

}  // namespace krohn
