#include "krohn/automata/syntax/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/automata/operations/questions.h"
#include "krohn/automata/syntax/language_options.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

// The syntax tree of an expression over languages.

enum class ExpressionOperator : std::uint8_t {
  kLanguage,  ///< text
  kUnion,
  kIntersection,
  kDifference,
  kSymmetricDifference,
  kConcatenation,
  kComplement,
  kStar,
  kPlus,
  kOptional,
  kReverse,
  kShuffle,
  kPrefixes,
  kSuffixes,
  kFactors,
  kSubwords,
  kLeftQuotient,
  kRightQuotient,
  kProject,   ///< text: the letters to keep
  kErase,     ///< text: the letters to strike out
  kOver,      ///< text: letters to add to the alphabet
  kImage,     ///< text: a=xy,b=
  kPreimage,  ///< text: x=ab,y=
};

struct ExpressionNode {
  ExpressionOperator op = ExpressionOperator::kLanguage;
  std::size_t left = 0, right = 0;  ///< operands, which stand before it
  std::string text;
  std::size_t column = 0;  ///< of its first character, from 1
};

/// True for operators with two languages; those with a text beside one language.
bool takes_two_languages(ExpressionOperator op);
bool takes_text(ExpressionOperator op);

[[noreturn]] void fail_in_expression(std::size_t column, std::string_view message);

/// The column in characters, from 1, of a byte of the expression.
std::size_t column_of(std::string_view expression, std::size_t byte);

// The parser: recursive descent, to a stated depth.
//   union |  <  symmetric difference ^  <  difference -  <  intersection &  <  concatenation .  <  ~ (prefix)  <  * + ?

namespace {

using Op = ExpressionOperator;

struct Function {
  std::string_view name, arguments, meaning;
  Op op;
  bool any_number;  ///< of languages, from two on
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all{
      {"union", "A, B, …", "words of any", Op::kUnion, true},
      {"intersection", "A, B, …", "words of all", Op::kIntersection, true},
      {"concatenation", "A, B, …", "a word of A, then one of B, …", Op::kConcatenation, true},
      {"shuffle", "A, B, …", "their words interleaved in every way", Op::kShuffle, true},
      {"difference", "A, B", "words of A that are not in B", Op::kDifference, false},
      {"symmetric-difference", "A, B", "words of exactly one", Op::kSymmetricDifference, false},
      {"left-quotient", "A, B", "what is left of words of A behind a word of B", Op::kLeftQuotient, false},
      {"right-quotient", "A, B", "what is left of words of A before a word of B", Op::kRightQuotient, false},
      {"complement", "A", "all other words", Op::kComplement, false},
      {"star", "A", "words of A in a row, also none", Op::kStar, false},
      {"plus", "A", "words of A in a row, at least one", Op::kPlus, false},
      {"optional", "A", "A and the empty word", Op::kOptional, false},
      {"reverse", "A", "the words backwards", Op::kReverse, false},
      {"prefixes", "A", "beginnings of words", Op::kPrefixes, false},
      {"suffixes", "A", "ends of words", Op::kSuffixes, false},
      {"factors", "A", "what stands somewhere in a word", Op::kFactors, false},
      {"subwords", "A", "words with any letters struck out", Op::kSubwords, false},
      {"project", "A, LETTERS", "words with all other letters struck out", Op::kProject, false},
      {"erase", "A, LETTERS", "words with these letters struck out", Op::kErase, false},
      {"over", "A, LETTERS", "the same words over more letters", Op::kOver, false},
      {"image", "A, MAP", "every letter replaced, as a=xy,b= says", Op::kImage, false},
      {"preimage", "A, MAP", "words over x, y whose images under x=ab,y= are in A", Op::kPreimage, false},
  };
  return all;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_name_character(char c) { return (c >= 'a' && c <= 'z') || c == '-'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<ExpressionNode> parse() {
    read_infix(0);
    skip_blanks();
    if (!at_end()) refuse_rest();
    return std::move(nodes_);
  }

 private:
  struct Infix {
    char sign;
    Op op;
    bool between_blanks;  ///< elsewhere the sign is a part of a name
  };
  /// From what binds most loosely.
  static constexpr std::array kInfix{Infix{'|', Op::kUnion, false}, Infix{'^', Op::kSymmetricDifference, false},
                                     Infix{'-', Op::kDifference, true}, Infix{'&', Op::kIntersection, false},
                                     Infix{'.', Op::kConcatenation, true}};
  static constexpr int kMaxDepth = 500;

  bool at_end() const { return next_ >= text_.size(); }  // past it after a backslash that ends the text
  char peek() const { return at_end() ? '\0' : text_[next_]; }
  void skip_blanks() {
    while (!at_end() && is_blank(peek())) ++next_;
  }
  [[noreturn]] void fail(std::size_t byte, std::string_view message) const {
    fail_in_expression(column_of(text_, byte), message);
  }

  [[noreturn]] void refuse_rest() const {
    if (peek() == ')') fail(next_, "this ) closes nothing");
    if (peek() == ',') fail(next_, "a comma stands between the arguments of a function only");
    fail(next_,
         "two languages stand side by side; write |, &, -, ^ or . between them, with blanks around, and put a "
         "name with blanks in quotes");
  }

  /// The sign, where it stands as an operator.
  bool take_infix(const Infix& infix) {
    skip_blanks();
    if (peek() != infix.sign) return false;
    const bool before = next_ == 0 || is_blank(text_[next_ - 1]) || text_[next_ - 1] == ')';
    const bool after = next_ + 1 >= text_.size() || is_blank(text_[next_ + 1]) || text_[next_ + 1] == '(';
    if (infix.between_blanks && !(before && after)) return false;
    ++next_;
    return true;
  }

  /// Returns the node of what it read.
  std::size_t read_infix(std::size_t level) {
    if (level == kInfix.size()) return read_prefix();
    std::size_t left = read_infix(level + 1);
    while (take_infix(kInfix[level])) {
      const std::size_t sign = next_ - 1;
      left = add(kInfix[level].op, left, read_infix(level + 1), sign);
    }
    return left;
  }

  std::size_t read_prefix() {
    const Nesting nesting(*this);
    skip_blanks();
    if (peek() == '~') {
      const std::size_t sign = next_++;
      return add(Op::kComplement, read_prefix(), 0, sign);
    }
    std::size_t node = read_operand();
    for (;; ++next_) {
      const std::size_t sign = next_;
      if (peek() == '*')
        node = add(Op::kStar, node, 0, sign);
      else if (peek() == '+')
        node = add(Op::kPlus, node, 0, sign);
      else if (peek() == '?')
        node = add(Op::kOptional, node, 0, sign);
      else
        return node;
    }
  }

  std::size_t read_operand() {
    const std::size_t start = next_;
    if (at_end()) fail(start, "a language is missing here: a file, regex:…, name:…, or one in brackets");
    if (peek() == '(') {
      ++next_;
      const std::size_t node = read_infix(0);
      close(start);
      return node;
    }
    if (const auto* function = take_function()) return read_call(*function, start);
    const std::string language = peek() == '\'' || peek() == '"' ? read_quoted() : read_bare(/*is_text=*/false);
    if (language == "-" || language == ".")
      fail(start, fmt::format("a language is missing before {}", in_quotes(language)));
    if (language.empty())
      fail(start, fmt::format("a language is missing before {}", in_quotes(std::string(1, peek()))));
    return add(Op::kLanguage, 0, 0, start, language);
  }

  void close(std::size_t opened) {
    skip_blanks();
    if (at_end()) fail(opened, "this ( is not closed");
    if (peek() != ')') refuse_rest();
    ++next_;
  }

  /// The function whose name and bracket stand here, which are taken.
  const Function* take_function() {
    std::size_t end = next_;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    if (end == next_ || end == text_.size() || text_[end] != '(') return nullptr;
    const std::string_view name = text_.substr(next_, end - next_);
    std::vector<std::string> names;
    for (const Function& function : functions()) {
      if (function.name == name) {
        next_ = end + 1;
        return &function;
      }
      names.emplace_back(function.name);
    }
    fail(next_, fmt::format("there is no function {}.{} They are {}", in_quotes(name),
                            did_you_mean(std::string(name), names), fmt::join(names, ", ")));
  }

  std::size_t read_call(const Function& function, std::size_t start) {
    std::size_t node = read_infix(0);
    std::size_t languages = 1;
    std::string text;
    bool has_text = false;
    for (skip_blanks(); peek() == ','; skip_blanks()) {
      ++next_;
      skip_blanks();
      if (takes_text(function.op)) {
        if (has_text) break;
        text = peek() == '\'' || peek() == '"' ? read_quoted() : read_bare(/*is_text=*/true);
        has_text = true;
        continue;
      }
      const std::size_t right = read_infix(0);
      ++languages;
      if (takes_two_languages(function.op) && (languages == 2 || function.any_number))
        node = add(function.op, node, right, start);
    }
    const bool fits = takes_text(function.op)             ? has_text && peek() != ','
                      : !takes_two_languages(function.op) ? languages == 1
                      : function.any_number               ? languages >= 2
                                                          : languages == 2;
    if (!fits) fail(start, fmt::format("it is {}({}): {}", function.name, function.arguments, function.meaning));
    close(start);
    if (takes_two_languages(function.op)) return node;
    return add(function.op, node, 0, start, std::move(text));
  }

  std::string read_quoted() {
    const std::size_t start = next_;
    const char quote = text_[next_++];
    const std::size_t end = text_.find(quote, next_);
    if (end == std::string_view::npos) fail(start, "this quote is not closed");
    std::string content(text_.substr(next_, end - next_));
    next_ = end + 1;
    return content;
  }

  /// A language without quotes. A regex and a formula reach to the first blank, comma or closing bracket outside their
  /// own brackets, classes and quotes; a family to the same, a file's name to the first sign of an operator. A text
  /// (letters, a map) to the bracket that closes its call.
  std::string read_bare(bool is_text) {
    const std::string_view rest = text_.substr(next_);
    const std::string_view prefix = prefix_of_language(rest);
    const bool is_regex = prefix == kRegexPrefix || prefix == kSearchPrefix, is_formula = is_temporal(prefix),
               is_family = prefix == kNamePrefix;
    const std::size_t start = next_;
    int depth = 0;
    for (; !at_end(); ++next_) {
      const char c = peek();
      if (is_regex && c == '\\' && next_ + 1 < text_.size()) {
        ++next_;
      } else if (is_regex && c == '[') {
        skip_class();
      } else if ((is_regex || is_formula) && c == '"') {
        skip_token();
      } else if (depth == 0 && !is_text && (is_blank(c) || (c == ',' && (!is_family || ends_family())))) {
        break;
      } else if (c == ')' && depth == 0) {
        break;
      } else if (!is_regex && !is_formula && !is_text && !is_family && is_sign(c)) {
        break;
      } else if (is_family && depth == 0 && (c == '|' || c == '&' || c == '*' || c == '?')) {
        break;
      } else {
        const bool opens = c == '(' || (is_regex && c == '{'), closes = c == ')' || (is_regex && c == '}');
        depth += opens ? 1 : closes ? -1 : 0;
      }
    }
    if (depth > 0) fail(start, "a bracket in this is not closed; put it in quotes if it is meant so");
    std::string text(text_.substr(start, next_ - start));
    while (is_text && !text.empty() && is_blank(text.back())) text.pop_back();
    return text;
  }

  /// Names of families have commas of their own: `random:m=10,seed=1`.
  bool ends_family() const { return next_ + 1 == text_.size() || is_blank(text_[next_ + 1]); }

  static bool is_sign(char c) { return std::string_view("()|&~^*?,'\"").find(c) != std::string_view::npos; }

  void skip_class() {
    const std::size_t start = next_++;
    if (peek() == '^') ++next_;
    for (; !at_end() && peek() != ']'; ++next_)
      if (peek() == '\\') ++next_;
    if (next_ >= text_.size()) fail(start, "this [ is not closed");
  }

  void skip_token() {
    const std::size_t start = next_++;
    for (; !at_end() && peek() != '"'; ++next_)
      if (peek() == '\\') ++next_;
    if (next_ >= text_.size()) fail(start, "this quote is not closed");
  }

  std::size_t add(Op op, std::size_t left, std::size_t right, std::size_t byte, std::string text = "") {
    nodes_.push_back({op, left, right, std::move(text), column_of(text_, byte)});
    return nodes_.size() - 1;
  }

  /// Brackets recurse.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxDepth)
        parser_.fail(parser_.next_, fmt::format("the expression nests deeper than {}", kMaxDepth));
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  std::string_view text_;
  std::size_t next_ = 0;
  int depth_ = 0;
  std::vector<ExpressionNode> nodes_;
};

}  // namespace

bool takes_two_languages(ExpressionOperator op) {
  switch (op) {
    case Op::kUnion:
    case Op::kIntersection:
    case Op::kDifference:
    case Op::kSymmetricDifference:
    case Op::kConcatenation:
    case Op::kShuffle:
    case Op::kLeftQuotient:
    case Op::kRightQuotient:
      return true;
    default:
      return false;
  }
}

bool takes_text(ExpressionOperator op) {
  return op == Op::kProject || op == Op::kErase || op == Op::kOver || op == Op::kImage || op == Op::kPreimage;
}

/// The nodes, children first; the last one is the whole. Throws InputError "expression:COLUMN: …".
std::vector<ExpressionNode> parse_expression_syntax(std::string_view expression) { return Parser(expression).parse(); }

void fail_in_expression(std::size_t column, std::string_view message) {
  throw InputError(fmt::format("expression:{}", column), message);
}

std::size_t column_of(std::string_view expression, std::size_t byte) {
  const std::string_view before = expression.substr(0, byte);
  return 1 + static_cast<std::size_t>(
                 std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

namespace {

/// "a=xy" of a map.
struct Assignment {
  std::string letter, image;
};

/// The text between commas outside quotes and brackets.
std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted) depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0 && !quoted)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Throws InputError for what is no map.
std::vector<Assignment> read_map(const std::string& text) {
  std::vector<Assignment> map;
  for (const std::string& part : split_at_commas(text)) {
    const std::size_t sign = part.find('=', 1);
    if (sign == std::string::npos)
      throw InputError(fmt::format("{} gives a letter no image; a map is a=xy,b= with = between", in_quotes(part)));
    map.push_back(
        {std::string(trimmed(part.substr(0, sign), " \t")), std::string(trimmed(part.substr(sign + 1), " \t"))});
    if (map.back().letter.size() > 2 && map.back().letter.front() == '"')
      map.back().letter = split_names(map.back().letter, false).at(0).name;
  }
  return map;
}

/// The names in an image: its characters, or, where it has blanks or quotes, the names that these separate.
std::vector<std::string> names_in(const std::string& image) {
  std::vector<std::string> names;
  if (image.find_first_of(" \t\"") == std::string::npos) {
    for (const char32_t c : decode_utf8(image)) names.push_back(character_symbol(c).name);
  } else {
    for (ListedName& listed : split_names(image, has_balanced_brackets(image))) names.push_back(std::move(listed.name));
  }
  return names;
}

Word word_of(const std::vector<std::string>& names, const Alphabet& alphabet) {
  Word word;
  for (const std::string& name : names) {
    const auto letter = alphabet.find(name);
    if (!letter) throw InputError(fmt::format("{} is not in the alphabet {}", in_quotes(name), to_string(alphabet)));
    word.push_back(*letter);
  }
  return word;
}

/// The same language, where every character that is named is a letter of its own, out of the class that holds it.
Nfa with_letters_for(const Nfa& nfa, const std::vector<std::string>& names) {
  std::vector<Symbol> named;
  for (const std::string& name : names) {
    const auto character = named_character(name);
    const auto within = character ? nfa.alphabet().find(*character) : std::nullopt;
    if (within && nfa.alphabet()[*within] != character_symbol(*character) &&
        std::find(named.begin(), named.end(), character_symbol(*character)) == named.end())
      named.push_back(character_symbol(*character));
  }
  if (named.empty()) return nfa;
  const AlphabetRefinement split = refine(nfa.alphabet(), Alphabet::from_symbols(std::move(named)));
  return read_over(nfa, split.merged, split.in_a);
}

/// Letters that the map does not name are their own images.
Nfa image_under(const Nfa& given, const std::vector<Assignment>& map) {
  std::vector<std::string> named;
  for (const Assignment& assignment : map) {
    named.push_back(assignment.letter);
    std::ranges::copy(names_in(assignment.image), std::back_inserter(named));
  }
  const Nfa nfa = with_letters_for(given, named);
  std::vector<std::vector<std::string>> images;
  for (const Symbol& symbol : nfa.alphabet().symbols()) images.push_back({symbol.name});
  std::vector<bool> assigned(images.size(), false);
  for (const Assignment& assignment : map) {
    const Letter letter = word_of({assignment.letter}, nfa.alphabet()).front();
    if (assigned[letter]) throw InputError(fmt::format("{} has two images", in_quotes(assignment.letter)));
    assigned[letter] = true;
    images[letter] = names_in(assignment.image);
  }
  std::vector<Symbol> symbols;
  for (Letter letter = 0; letter < images.size(); ++letter) {
    if (!assigned[letter]) {
      symbols.push_back(nfa.alphabet()[letter]);
      continue;
    }
    for (const std::string& name : images[letter]) {
      const auto known = nfa.alphabet().find(name);
      const auto character = named_character(name);
      symbols.push_back(known ? nfa.alphabet()[*known] : character ? character_symbol(*character) : Symbol{name, {}});
    }
  }
  std::vector<Symbol> distinct;
  for (const Symbol& symbol : symbols)
    if (std::find(distinct.begin(), distinct.end(), symbol) == distinct.end()) distinct.push_back(symbol);
  Homomorphism homomorphism{Alphabet::from_symbols(std::move(distinct)), {}};
  for (const auto& names : images) homomorphism.images.push_back(word_of(names, homomorphism.target));
  return homomorphic_image(nfa, homomorphism);
}

Nfa preimage_under(const Nfa& nfa, const std::vector<Assignment>& map) {
  std::vector<std::string> letters;
  std::vector<Word> images;
  for (const Assignment& assignment : map) {
    letters.push_back(assignment.letter);
    images.push_back(word_of(names_in(assignment.image), nfa.alphabet()));
  }
  return homomorphic_preimage(nfa, Alphabet::from_names(letters), images);
}

/// The letters of the alphabet that the text does not name.
Alphabet others(const Alphabet& alphabet, const Alphabet& erased) {
  const AlphabetRefinement common = refine(alphabet, erased);
  std::vector<Symbol> kept;
  for (Letter letter = 0; letter < common.merged.size(); ++letter) {
    if (!common.in_a[letter])
      throw InputError(fmt::format("the letter {} to strike out is not in the alphabet {}",
                                   in_quotes(common.merged.name(letter)), to_string(alphabet)));
    if (!common.in_b[letter]) kept.push_back(common.merged[letter]);
  }
  return Alphabet::from_symbols(std::move(kept));
}

class Evaluator {
 public:
  Evaluator(const LanguageReader& read, const ExpressionOptions& options) : read_(read), options_(options) {}

  Automaton evaluate(const std::vector<ExpressionNode>& nodes) {
    std::vector<std::optional<Automaton>> values(nodes.size());
    read_languages(nodes, values);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].op == Op::kLanguage) continue;
      TimeLimit::check();
      values[i] = apply(nodes[i], values);
      values[nodes[i].left].reset();
      if (takes_two_languages(nodes[i].op)) values[nodes[i].right].reset();
    }
    return std::move(*values.back());
  }

 private:
  /// Reads every language, over the letters of all.
  void read_languages(const std::vector<ExpressionNode>& nodes, std::vector<std::optional<Automaton>>& values) {
    std::optional<Alphabet> letters = options_.alphabet;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].op != Op::kLanguage) continue;
      values[i] = read_(nodes[i].text);
      if (const auto* dfa = std::get_if<Dfa>(&*values[i]); dfa != nullptr && !dfa->is_acceptor())
        fail_in_expression(nodes[i].column, fmt::format("{} is a machine with outputs; expressions are about languages",
                                                        in_quotes(nodes[i].text)));
      if (letters) require_comparable(*letters, alphabet_of(*values[i]));
      letters = letters ? refine(*letters, alphabet_of(*values[i])).merged : alphabet_of(*values[i]);
    }
    for (std::optional<Automaton>& value : values)
      if (value && !(alphabet_of(*value) == *letters)) value = over(*value, *letters);
  }

  static Automaton over(const Automaton& automaton, const Alphabet& letters) {
    if (const auto* dfa = std::get_if<Dfa>(&automaton)) return extend_alphabet(*dfa, letters);
    const AlphabetRefinement common = refine(alphabet_of(automaton), letters);
    return read_over(std::get<Nfa>(automaton), common.merged, common.in_a);
  }

  Automaton apply(const ExpressionNode& node, const std::vector<std::optional<Automaton>>& values) const {
    try {
      const Automaton& left = *values[node.left];
      return takes_two_languages(node.op) ? combine(node.op, left, *values[node.right]) : change(node, left);
    } catch (const InputError& error) {
      fail_in_expression(node.column, error.what());
    }
  }

  Automaton combine(Op op, const Automaton& a, const Automaton& b) const {
    const Dfa *left = std::get_if<Dfa>(&a), *right = std::get_if<Dfa>(&b);
    const std::uint64_t most = options_.max_states;
    if (op == Op::kSymmetricDifference) return symmetric_difference_of(to_dfa(a, most), to_dfa(b, most), most);
    if (left != nullptr && right != nullptr) {
      if (op == Op::kUnion) return union_of(*left, *right, most);
      if (op == Op::kIntersection) return intersection_of(*left, *right, most);
      if (op == Op::kDifference) return difference_of(*left, *right, most);
    }
    const Nfa in_a = nfa(a);
    if (op == Op::kDifference) {
      const Dfa rest = complement(extend_alphabet(to_dfa(b, most), in_a.alphabet()));
      return settled(intersection_of(in_a, to_nfa(rest), most));
    }
    const Nfa in_b = nfa(b);
    switch (op) {
      case Op::kUnion:
        return settled(union_of(in_a, in_b));
      case Op::kIntersection:
        return settled(intersection_of(in_a, in_b, most));
      case Op::kConcatenation:
        return settled(concatenation(in_a, in_b));
      case Op::kShuffle:
        return settled(shuffle(in_a, in_b, most));
      case Op::kLeftQuotient:
        return settled(left_quotient(in_a, in_b, most));
      case Op::kRightQuotient:
        return settled(right_quotient(in_a, in_b, most));
      default:
        throw Error("internal error: an operator of one language was given two");
    }
  }

  Automaton change(const ExpressionNode& node, const Automaton& a) const {
    if (node.op == Op::kComplement) return complement(to_dfa(a, options_.max_states));
    if (node.op == Op::kOver) return over(a, parse_alphabet(node.text));
    constexpr std::pair<Op, Nfa (*)(const Nfa&)> kOfOneLanguage[] = {
        {Op::kStar, star},       {Op::kPlus, plus},         {Op::kOptional, with_empty_word},
        {Op::kReverse, reverse}, {Op::kPrefixes, prefixes}, {Op::kSuffixes, suffixes},
        {Op::kFactors, factors}, {Op::kSubwords, subwords}};
    const Nfa in = nfa(a);
    for (const auto& [op, changed] : kOfOneLanguage)
      if (node.op == op) return settled(changed(in));
    switch (node.op) {
      case Op::kProject:
        return settled(projection(in, parse_alphabet(node.text)));
      case Op::kErase:
        return settled(projection(in, others(in.alphabet(), parse_alphabet(node.text))));
      case Op::kImage:
        return settled(image_under(in, read_map(node.text)));
      case Op::kPreimage:
        return settled(preimage_under(in, read_map(node.text)));
      default:
        throw Error("internal error: an operator of two languages was given one");
    }
  }

  static Nfa with_empty_word(const Nfa& given) {
    Nfa nfa = given;
    nfa.add_initial(nfa.add_state(true));
    return nfa;
  }

  static Nfa nfa(const Automaton& automaton) { return to_nfa(automaton, "an expression"); }

  const LanguageReader& read_;
  const ExpressionOptions& options_;
};

}  // namespace

Automaton evaluate_expression(std::string_view expression, const LanguageReader& read,
                              const ExpressionOptions& options) {
  return Evaluator(read, options).evaluate(parse_expression_syntax(expression));
}

}  // namespace krohn
