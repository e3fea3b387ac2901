#include "krohn/automata/temporal/temporal_formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

using Operator = TemporalOperator;
using Index = std::uint32_t;

class Parser {
 public:
  Parser(std::string_view text, std::string_view what) : text_(text), what_(what) { advance(); }

  TemporalFormula parse() {
    const Index root = equivalence();
    if (!token_.empty()) fail(fmt::format("nothing can follow here, and \"{}\" does", visible(std::string(token_))));
    formula_.root = root;
    constexpr std::size_t kMost = 10'000;  // also the depth of the recursions through decision diagrams
    const auto is_boolean = [](const TemporalFormula::Node& node) {
      return node.operation <= Operator::kOr && node.operation != Operator::kProposition;
    };
    if (formula_.nodes.size() - static_cast<std::size_t>(std::ranges::count_if(formula_.nodes, is_boolean)) > kMost)
      throw LimitError(fmt::format("{}: formulas may have {} propositions and temporal operators", what_, kMost));
    return std::move(formula_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(fmt::format("{}:{}", what_, begin_ + 1), why);
  }

  /// The next token: a name, a quoted name, or an operator; empty at the end.
  void advance() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
    begin_ = at_;
    is_quoted_ = false;
    if (at_ == text_.size()) {
      token_ = {};
      return;
    }
    if (text_[at_] == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) fail("this \" is not closed");
      token_ = text_.substr(at_ + 1, end - at_ - 1);
      if (token_.empty()) fail("a proposition has a name");
      is_quoted_ = true;
      at_ = end + 1;
      return;
    }
    for (const std::string_view operation : {"<->", "->", "&&", "||", "!", "~", "&", "|", "(", ")"})
      if (text_.substr(at_).starts_with(operation)) {
        token_ = operation;
        at_ += operation.size();
        return;
      }
    while (at_ < text_.size() && is_of_name(text_[at_])) ++at_;
    if (at_ == begin_)
      fail(fmt::format("\"{}\" means nothing here; a proposition that is no plain name stands in quotes",
                       visible(std::string(text_.substr(at_, 1)))));
    token_ = text_.substr(begin_, at_ - begin_);
  }

  /// Letters, digits, _ and whatever is not ASCII.
  static bool is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  }

  bool is(std::string_view token) const { return !is_quoted_ && token_ == token; }
  bool take(std::string_view token) {
    if (!is(token)) return false;
    advance();
    return true;
  }

  Index add(Operator operation, Index first = 0, Index second = 0) {
    const auto key = std::tuple(operation, first, second);
    const auto [found, is_new] = known_.try_emplace(key, static_cast<Index>(formula_.nodes.size()));
    if (!is_new) return found->second;
    TemporalFormula::Node node{operation, first, second};
    const auto inherit = [&](Index part) {
      node.has_future = node.has_future || formula_.nodes[part].has_future;
      node.has_past = node.has_past || formula_.nodes[part].has_past;
    };
    if (operation != Operator::kTrue && operation != Operator::kProposition) inherit(first);
    if (takes_two(operation)) inherit(second);
    if (operation == Operator::kNext || operation == Operator::kUntil) node.has_future = true;
    const bool is_past =
        operation == Operator::kYesterday || operation == Operator::kOnce || operation == Operator::kSince;
    if (is_past && node.has_future)
      fail("a past operator (Y, Z, O, H, S) stands over a future one, which is not supported");
    node.has_past = node.has_past || is_past;
    formula_.nodes.push_back(node);
    return found->second;
  }

  Index truth() { return add(Operator::kTrue); }
  Index negation(Index part) {
    const TemporalFormula::Node& node = formula_.nodes[part];
    return node.operation == Operator::kNot ? node.first : add(Operator::kNot, part);
  }
  Index either(Index a, Index b) { return add(Operator::kOr, a, b); }
  Index both(Index a, Index b) { return add(Operator::kAnd, a, b); }
  Index until(Index a, Index b) { return add(Operator::kUntil, a, b); }

  Index equivalence() {
    const Index first = implication();
    if (!take("<->")) return first;
    const Index second = equivalence();
    return either(both(first, second), both(negation(first), negation(second)));
  }
  Index implication() {
    const Index first = disjunction();
    if (!take("->")) return first;
    return either(negation(first), implication());
  }
  Index disjunction() {
    Index first = conjunction();
    while (take("|") || take("||")) first = either(first, conjunction());
    return first;
  }
  Index conjunction() {
    Index first = binary();
    while (take("&") || take("&&")) first = both(first, binary());
    return first;
  }
  Index binary() {
    const Index first = unary();
    if (take("U")) return until(first, binary());
    if (take("R")) return negation(until(negation(first), negation(binary())));
    if (take("W")) {  // g R (f | g)
      const Index second = binary();
      return negation(until(negation(second), negation(either(first, second))));
    }
    if (take("M")) {
      const Index second = binary();
      return until(second, both(first, second));
    }
    if (take("S")) return add(Operator::kSince, first, binary());
    return first;
  }
  Index unary() {
    constexpr int kDeepest = 1'000;
    if (++depth_ > kDeepest) fail(fmt::format("formulas may be nested {} deep", kDeepest));
    const Index found = unary_inside();
    --depth_;
    return found;
  }
  Index unary_inside() {
    if (take("!") || take("~")) return negation(unary());
    if (take("X")) return add(Operator::kNext, unary());
    if (take("N")) return negation(add(Operator::kNext, negation(unary())));
    if (take("F")) return until(truth(), unary());
    if (take("G")) return negation(until(truth(), negation(unary())));
    if (take("Y")) return add(Operator::kYesterday, unary());
    if (take("Z")) return negation(add(Operator::kYesterday, negation(unary())));
    if (take("O")) return add(Operator::kOnce, unary());
    if (take("H")) return negation(add(Operator::kOnce, negation(unary())));
    if (take("true")) return truth();
    if (take("false")) return negation(truth());
    if (take("(")) {
      const std::size_t opened = begin_;
      const Index inside = equivalence();
      if (!take(")")) fail(fmt::format("the ( before column {} is not closed", opened + 1));
      return inside;
    }
    return proposition();
  }
  Index proposition() {
    static constexpr std::string_view kReserved[] = {"U", "R", "W", "M", "S"};
    if (token_.empty() && !is_quoted_) fail("a formula is missing here, at the end");
    const bool is_operator =
        !is_quoted_ && (!is_of_name(token_[0]) || std::ranges::find(kReserved, token_) != std::end(kReserved));
    if (is_operator) fail(fmt::format("a formula is missing here, before \"{}\"", token_));
    const std::string name(token_);
    if (!is_quoted_ && is_operators_and_name(name))
      fail(fmt::format("\"{}\" is one name here: write blanks, {} {}, or quotes where the proposition is called so",
                       name, name.substr(0, 1), name.substr(1)));
    advance();
    auto& names = formula_.propositions;
    const auto found = std::find(names.begin(), names.end(), name);
    const auto number = static_cast<Index>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    return add(Operator::kProposition, number);
  }

  /// "GFa", "Xp1": elsewhere these are operators before a proposition.
  static bool is_operators_and_name(std::string_view name) {
    const std::size_t end = name.find_first_not_of("FGXNYZOH");
    return end != 0 && end != std::string_view::npos && name[end] >= 'a' && name[end] <= 'z' &&
           name.find_first_not_of("0123456789", end + 1) == std::string_view::npos;
  }

  std::string_view text_, what_, token_;
  std::size_t at_ = 0, begin_ = 0;
  int depth_ = 0;
  bool is_quoted_ = false;
  TemporalFormula formula_;
  std::map<std::tuple<Operator, Index, Index>, Index> known_;
};

}  // namespace

bool takes_two(TemporalOperator operation) {
  return operation == Operator::kAnd || operation == Operator::kOr || operation == Operator::kUntil ||
         operation == Operator::kSince;
}

TemporalFormula parse_temporal(std::string_view text, std::string_view what) { return Parser(text, what).parse(); }

}  // namespace krohn
