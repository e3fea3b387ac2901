#include "krohn/automata/syntax/regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "krohn/automata/syntax/regex_syntax.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

using Id = std::uint32_t;

/// Expressions, each kept once. Unions and intersections are sorted lists without repetition.
class Expressions {
 public:
  static constexpr Id kNothing = 0, kEmptyWord = 1;

  Expressions() {
    number({Kind::kNothing, {}, 0, 0});
    number({Kind::kEmptyWord, {}, 0, 0});
  }

  Id letters(const std::vector<Letter>& letters) {
    return letters.empty() ? kNothing : number({Kind::kLetters, {letters.begin(), letters.end()}, 0, 0});
  }

  Id concatenation(Id left, Id right) {
    if (left == kNothing || right == kNothing) return kNothing;
    if (left == kEmptyWord) return right;
    if (right == kEmptyWord) return left;
    if (const Node node = nodes_[left]; node.kind == Kind::kConcatenation)
      return concatenation(node.parts[0], concatenation(node.parts[1], right));
    return number({Kind::kConcatenation, {left, right}, 0, 0});
  }

  Id combination(bool is_union, Id a, Id b) {
    const Kind kind = is_union ? Kind::kUnion : Kind::kIntersection;
    const Id neutral = is_union ? kNothing : complement(kNothing), zero = is_union ? complement(kNothing) : kNothing;
    std::vector<Id> parts;
    for (const Id part : {a, b}) {
      if (part == zero) return zero;
      if (part == neutral) continue;
      if (nodes_[part].kind == kind)
        parts.insert(parts.end(), nodes_[part].parts.begin(), nodes_[part].parts.end());
      else
        parts.push_back(part);
    }
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    if (parts.size() <= 1) return parts.empty() ? neutral : parts[0];
    return number({kind, std::move(parts), 0, 0});
  }

  Id complement(Id part) {
    if (const Node& node = nodes_[part]; node.kind == Kind::kComplement) return node.parts[0];
    return number({Kind::kComplement, {part}, 0, 0});
  }

  Id repeat(Id part, std::uint32_t least, std::uint32_t most) {
    if (most == 0 || part == kEmptyWord || (part == kNothing && least == 0)) return kEmptyWord;
    if (part == kNothing) return kNothing;
    if (least == 1 && most == 1) return part;
    return number({Kind::kRepeat, {part}, least, most});
  }

  Id assertion(RegexContexts contexts) {
    return contexts == 0 ? kNothing : number({Kind::kAssertion, {contexts}, 0, 0});
  }

  /// True if the empty word is one at a place with these neighbours.
  bool accepts_empty(Id id, RegexContexts place) {
    const Node node = nodes_[id];
    const auto accepts = [&](Id part) { return accepts_empty(part, place); };
    switch (node.kind) {
      case Kind::kNothing:
      case Kind::kLetters:
        return false;
      case Kind::kEmptyWord:
        return true;
      case Kind::kConcatenation:
      case Kind::kIntersection:
        return std::ranges::all_of(node.parts, accepts);
      case Kind::kUnion:
        return std::ranges::any_of(node.parts, accepts);
      case Kind::kComplement:
        return !accepts(node.parts[0]);
      case Kind::kRepeat:
        return node.least == 0 || accepts(node.parts[0]);
      case Kind::kAssertion:
        return (node.parts[0] & place) != 0;
    }
    return false;
  }

  /// By a letter behind a place with these neighbours, of which the letter is one.
  Id derivative(Id id, Letter letter, RegexContexts place) {
    const std::tuple key(id, letter, place);
    if (const auto known = derivatives_.find(key); known != derivatives_.end()) return known->second;
    const Id result = derive(nodes_[id], letter, place);
    derivatives_.emplace(key, result);
    return result;
  }

 private:
  enum class Kind : std::uint8_t {
    kNothing,
    kEmptyWord,
    kLetters,
    kConcatenation,
    kUnion,
    kIntersection,
    kComplement,
    kRepeat,
    kAssertion,
  };
  struct Node {
    Kind kind;
    std::vector<std::uint32_t> parts;  ///< or letters, or contexts
    std::uint32_t least, most;
    auto operator<=>(const Node&) const = default;
  };

  Id derive(const Node node, Letter letter, RegexContexts place) {  // a copy: new nodes may move the list
    const auto of = [&](Id part) { return derivative(part, letter, place); };
    switch (node.kind) {
      case Kind::kNothing:
      case Kind::kEmptyWord:
      case Kind::kAssertion:
        return kNothing;
      case Kind::kLetters:
        return std::binary_search(node.parts.begin(), node.parts.end(), letter) ? kEmptyWord : kNothing;
      case Kind::kConcatenation: {
        const Id first = concatenation(of(node.parts[0]), node.parts[1]);
        return accepts_empty(node.parts[0], place) ? combination(true, first, of(node.parts[1])) : first;
      }
      case Kind::kUnion:
      case Kind::kIntersection: {
        Id result = of(node.parts[0]);
        for (std::size_t i = 1; i < node.parts.size(); ++i)
          result = combination(node.kind == Kind::kUnion, result, of(node.parts[i]));
        return result;
      }
      case Kind::kComplement:
        return complement(of(node.parts[0]));
      case Kind::kRepeat: {
        // Where a repeated part accepts the empty word, those that are needed may all have read nothing before this.
        const bool is_skipped = node.least == 0 || accepts_empty(node.parts[0], place);
        const std::uint32_t least = is_skipped ? 0 : node.least - 1;
        const std::uint32_t most = node.most == kUnbounded ? kUnbounded : node.most - 1;
        return concatenation(of(node.parts[0]), repeat(node.parts[0], least, most));
      }
    }
    return kNothing;
  }

  Id number(Node node) {
    const auto [known, fresh] = known_.try_emplace(std::move(node), static_cast<Id>(nodes_.size()));
    if (fresh) nodes_.push_back(known->first);
    return known->second;
  }

  std::vector<Node> nodes_;
  std::map<Node, Id> known_;
  std::map<std::tuple<Id, Letter, RegexContexts>, Id> derivatives_;
};

Id expression_of(const RegexTree& tree, const RegexLetters& letters, Expressions& expressions) {
  std::vector<Letter> any(letters.alphabet.size());
  for (Letter letter = 0; letter < any.size(); ++letter) any[letter] = letter;
  std::vector<Id> ids;
  for (const RegexNode& node : tree.nodes) {
    const auto made = [&]() -> Id {
      switch (node.kind) {
        case RegexKind::kEmptyWord:
          return Expressions::kEmptyWord;
        case RegexKind::kCharacters:
          return expressions.letters(letters.of_set[node.left]);
        case RegexKind::kToken:
          return expressions.letters({letters.of_token[node.left]});
        case RegexKind::kAny:
          return expressions.letters(any);
        case RegexKind::kAssertion:
          return expressions.assertion(static_cast<RegexContexts>(node.left));
        case RegexKind::kConcatenation:
          return expressions.concatenation(ids[node.left], ids[node.right]);
        case RegexKind::kUnion:
          return expressions.combination(true, ids[node.left], ids[node.right]);
        case RegexKind::kIntersection:
          return expressions.combination(false, ids[node.left], ids[node.right]);
        case RegexKind::kComplement:
          return expressions.complement(ids[node.left]);
        case RegexKind::kRepeat:
          return expressions.repeat(ids[node.left], node.least, node.most);
      }
      return Expressions::kNothing;
    };
    ids.push_back(made());
  }
  return ids[tree.root];
}

struct Pair {
  std::optional<State> state;  ///< none: a letter came that the automaton lacks, and all is rejected
  std::optional<Id> expression;
  RegexNeighbour before = RegexNeighbour::kEnd;  ///< the letters read so far last, where the expression has anchors
  auto operator<=>(const Pair&) const = default;
};

struct Met {
  Pair pair;
  std::size_t from = 0;
  Letter letter = 0;
};

}  // namespace

std::optional<Word> word_against_regex(const Dfa& automaton, std::string_view expression, std::uint64_t max_pairs) {
  if (!automaton.is_acceptor())
    throw InputError("a regular expression is compared with an acceptor, and this automaton has other outputs");
  constexpr std::uint64_t kMaxNodes = 20'000;  // derivatives recurse as deep as the expression
  const RegexTree tree = parse_regex_syntax(expression, std::nullopt, kMaxNodes);
  const RegexLetters letters = letters_of(tree, std::nullopt);
  const bool has_anchors = std::ranges::count(tree.nodes, RegexKind::kAssertion, &RegexNode::kind) > 0;
  Expressions expressions;
  const AlphabetRefinement common = refine(automaton.alphabet(), letters.alphabet);
  std::map<Pair, bool> seen;
  std::vector<Met> met{{{automaton.initial(), expression_of(tree, letters, expressions)}}};
  seen.emplace(met[0].pair, true);
  for (std::size_t at = 0; at < met.size(); ++at) {
    const Pair pair = met[at].pair;
    const bool ours = pair.state && automaton.accepts(*pair.state);
    const bool theirs =
        pair.expression && expressions.accepts_empty(*pair.expression, context(pair.before, RegexNeighbour::kEnd));
    if (ours != theirs) {
      Word word;
      for (std::size_t i = at; i != 0; i = met[i].from) word.push_back(met[i].letter);
      std::reverse(word.begin(), word.end());
      return word;
    }
    if (met.size() > max_pairs) throw LimitError(fmt::format("more than {} derivatives", max_pairs));
    for (Letter letter = 0; letter < common.merged.size(); ++letter) {
      const auto &own = common.in_a[letter], &its = common.in_b[letter];
      Pair next;
      if (pair.state && own) next.state = automaton.next(*pair.state, *own);
      if (pair.expression && its) {
        const RegexNeighbour behind = has_anchors ? neighbour(letters.alphabet[*its]) : RegexNeighbour::kEnd;
        next.expression = expressions.derivative(*pair.expression, *its, context(pair.before, behind));
        next.before = behind;
      }
      if (seen.emplace(next, true).second) met.push_back({next, at, letter});
    }
  }
  return std::nullopt;
}

}  // namespace krohn
