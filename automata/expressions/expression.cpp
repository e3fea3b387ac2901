#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/dfa/symbol_names.h"
#include "krohn/automata/dfa/utf8.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/expressions/expression.h"
#include "krohn/automata/expressions/expression_syntax.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/questions/questions.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

using Op = ExpressionOperator;

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

std::string without_blanks(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), blank));
  return text;
}

/// Throws InputError for what is no map.
std::vector<Assignment> read_map(const std::string& text) {
  std::vector<Assignment> map;
  for (const std::string& part : split_at_commas(text)) {
    const std::size_t sign = part.find('=', 1);
    if (sign == std::string::npos)
      throw InputError(fmt::format("{} gives a letter no image; a map is a=xy,b= with = between", in_quotes(part)));
    map.push_back({without_blanks(part.substr(0, sign)), without_blanks(part.substr(sign + 1))});
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
    const Nfa in = nfa(a);
    switch (node.op) {
      case Op::kStar:
        return settled(star(in));
      case Op::kPlus:
        return settled(plus(in));
      case Op::kOptional:
        return settled(with_empty_word(in));
      case Op::kReverse:
        return settled(reverse(in));
      case Op::kPrefixes:
        return settled(prefixes(in));
      case Op::kSuffixes:
        return settled(suffixes(in));
      case Op::kFactors:
        return settled(factors(in));
      case Op::kSubwords:
        return settled(subwords(in));
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

  static Nfa with_empty_word(Nfa nfa) {
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
