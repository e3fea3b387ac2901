#include "krohn/automata/formats/format_mata_formula.h"

#include <cassert>

namespace krohn {

namespace {

/// Dijkstra's shunting yard: operators wait on a stack until their right operand is complete.
class FormulaParser {
 public:
  FormulaParser(std::span<const MataToken> tokens, bool is_list,
                const std::function<std::uint32_t(const MataToken&)>& number_of,
                const std::function<void(std::size_t, const std::string&)>& fail)
      : tokens_(tokens), is_list_(is_list), number_of_(number_of), fail_(fail) {}

  MataFormula run() {
    for (const MataToken& token : tokens_) expects_operand_ ? operand(token) : after_operand(token);
    if (expects_operand_) fail_(tokens_.back().offset, "the formula ends where a name is expected");
    while (!waiting_.empty()) {
      if (waiting_.back()->kind == MataToken::kOpen) fail_(waiting_.back()->offset, "this bracket is not closed");
      emit_waiting();
    }
    return std::move(formula_);
  }

 private:
  void operand(const MataToken& token) {
    switch (token.kind) {
      case MataToken::kNot:
      case MataToken::kOpen:
        waiting_.push_back(&token);
        return;
      case MataToken::kName:
        formula_.steps.push_back(step_of(token));
        expects_operand_ = false;
        return;
      default:
        fail_(token.offset, "a name, \\true, \\false, ! or ( is expected here");
    }
  }

  void after_operand(const MataToken& token) {
    switch (token.kind) {
      case MataToken::kAnd:
      case MataToken::kOr:
        binary(token);
        return;
      case MataToken::kClose:
        while (!waiting_.empty() && waiting_.back()->kind != MataToken::kOpen) emit_waiting();
        if (waiting_.empty()) fail_(token.offset, "this bracket was not opened");
        waiting_.pop_back();
        return;
      default:
        if (!is_list_) fail_(token.offset, "an operator & or | is expected here");
        static const MataToken kListOr{MataToken::kOr, false, "", 0};
        binary(kListOr);
        operand(token);
    }
  }

  void binary(const MataToken& token) {
    while (!waiting_.empty() && binding(waiting_.back()->kind) >= binding(token.kind)) emit_waiting();
    waiting_.push_back(&token);
    expects_operand_ = true;
  }

  static int binding(MataToken::Kind kind) {
    if (kind == MataToken::kNot) return 3;
    if (kind == MataToken::kAnd) return 2;
    return kind == MataToken::kOr ? 1 : 0;
  }

  MataFormula::Step step_of(const MataToken& token) const {
    if (!token.is_quoted && token.name == "\\true") return {MataFormula::kTrue, 0};
    if (!token.is_quoted && token.name == "\\false") return {MataFormula::kFalse, 0};
    return {MataFormula::kName, number_of_(token)};
  }

  void emit_waiting() {
    const MataToken::Kind kind = waiting_.back()->kind;
    formula_.steps.push_back({kind == MataToken::kNot   ? MataFormula::kNot
                              : kind == MataToken::kAnd ? MataFormula::kAnd
                                                        : MataFormula::kOr,
                              0});
    waiting_.pop_back();
  }

  std::span<const MataToken> tokens_;
  bool is_list_;
  const std::function<std::uint32_t(const MataToken&)>& number_of_;
  const std::function<void(std::size_t, const std::string&)>& fail_;
  std::vector<const MataToken*> waiting_;
  MataFormula formula_;
  bool expects_operand_ = true;
};

/// Always walks the smaller set, so that a chain of n conjunctions costs O(n log n) and not O(n²).
MataSet intersect(MataSet a, MataSet b) {
  if (a.members.size() < b.members.size()) std::swap(a, b);  // b is the smaller
  if (a.is_complement && b.is_complement) {
    a.members.insert(b.members.begin(), b.members.end());
    return a;
  }
  if (!a.is_complement && b.is_complement) {
    for (const std::uint32_t number : b.members) a.members.erase(number);
    return a;
  }
  std::erase_if(b.members, [&](std::uint32_t number) { return !a.contains(number); });
  return b;
}

MataSet all_others(MataSet set) {
  set.is_complement = !set.is_complement;
  return set;
}

}  // namespace

MataFormula parse_mata_formula(std::span<const MataToken> tokens, bool is_list,
                               const std::function<std::uint32_t(const MataToken&)>& number_of,
                               const std::function<void(std::size_t, const std::string&)>& fail) {
  assert(!tokens.empty());
  return FormulaParser(tokens, is_list, number_of, fail).run();
}

MataSet numbers_satisfying(const MataFormula& formula) {
  std::vector<MataSet> stack;
  const auto pop = [&] {
    MataSet top = std::move(stack.back());
    stack.pop_back();
    return top;
  };
  for (const MataFormula::Step& step : formula.steps) switch (step.kind) {
      case MataFormula::kName:
        stack.push_back({{step.name}, false});
        break;
      case MataFormula::kTrue:
      case MataFormula::kFalse:
        stack.push_back({{}, step.kind == MataFormula::kTrue});
        break;
      case MataFormula::kNot:
        stack.back().is_complement = !stack.back().is_complement;
        break;
      case MataFormula::kAnd: {
        MataSet right = pop(), left = pop();
        stack.push_back(intersect(std::move(left), std::move(right)));
        break;
      }
      case MataFormula::kOr: {
        MataSet right = pop(), left = pop();
        stack.push_back(all_others(intersect(all_others(std::move(left)), all_others(std::move(right)))));
        break;
      }
    }
  return pop();
}

}  // namespace krohn
