#include "krohn/automata/formats/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <unordered_map>

#include "krohn/automata/dfa/decision_diagrams.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/base/error.h"

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

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// Cuts the text into lines of tokens. Lines that end in a backslash continue; # begins a comment.
class MataLexer {
 public:
  MataLexer(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  /// The next line with a token in it; false at the end.
  bool next(std::vector<MataToken>& line) {
    line.clear();
    int depth = 0;
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') {
        ++at_;
        if (!line.empty()) return true;
      } else if (is_blank(text_[at_])) {
        ++at_;
      } else if (const std::size_t continued = continuation(); continued != 0) {
        at_ += continued;
      } else if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        line.push_back(token());
        depth += (line.back().kind == MataToken::kOpen) - (line.back().kind == MataToken::kClose);
        if (depth > kDeepest) fail(line.back().offset, fmt::format("brackets nested deeper than {} levels", kDeepest));
      }
    }
    return !line.empty();
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& message) const {
    throw InputError(position_in(text_, offset, where_), message);
  }

 private:
  /// The length of a backslash and line end here, or 0.
  std::size_t continuation() const {
    const std::string_view rest = text_.substr(at_, 3);
    if (rest.starts_with("\\\n")) return 2;
    return rest.starts_with("\\\r\n") ? 3 : 0;
  }

  MataToken token() {
    static constexpr std::string_view kOperators = "&|!()";
    static constexpr MataToken::Kind kKinds[] = {MataToken::kAnd, MataToken::kOr, MataToken::kNot, MataToken::kOpen,
                                                 MataToken::kClose};
    if (text_[at_] == '"') return string();
    const std::size_t start = at_;
    if (const std::size_t kind = kOperators.find(text_[at_]); kind != std::string_view::npos) {
      ++at_;
      return {kKinds[kind], false, std::string(1, text_[start]), start};
    }
    while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '\n' && text_[at_] != '"' &&
           kOperators.find(text_[at_]) == std::string_view::npos && continuation() == 0)
      ++at_;
    return {MataToken::kName, false, std::string(text_.substr(start, at_ - start)), start};
  }

  MataToken string() {
    const std::size_t start = at_++;
    std::string name;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      name += text_[at_++];
    }
    if (at_ == text_.size()) fail(start, "this string is not closed");
    ++at_;
    if (name.empty()) fail(start, "an empty name");
    return {MataToken::kName, true, std::move(name), start};
  }

  static constexpr int kDeepest = 10'000;

  std::string_view text_, where_;
  std::size_t at_ = 0;
};

bool is_key(const MataToken& token, char mark) {
  return token.kind == MataToken::kName && !token.is_quoted && token.name.front() == mark;
}

class MataReader {
 public:
  MataReader(std::string_view text, std::string_view where, const LanguageOptions& options)
      : where_(where), lexer_(text, where), epsilons_(options, where) {}

  Draft run() {
    std::vector<MataToken> line;
    if (!lexer_.next(line)) throw InputError(where_, "nothing but comments; an automaton is expected");
    read_section(line);
    while (lexer_.next(line)) {
      if (is_key(line.front(), '@')) fail(line.front(), "a second section; one automaton per file");
      is_key(line.front(), '%') ? read_key(line) : read_transition(line);
    }
    return finish();
  }

 private:
  struct Transition {
    State source, target;
    MataFormula label;
  };

  [[noreturn]] void fail(const MataToken& token, const std::string& message) const {
    lexer_.fail(token.offset, message);
  }

  void read_section(std::span<const MataToken> line) {
    const std::string& section = line.front().name;
    bits_ = section == "@NFA-bits";
    if (line.size() == 1 && (bits_ || section == "@NFA-explicit")) return;
    if (section.starts_with("@AFA")) fail(line.front(), "an alternating automaton; only @NFA-… can be read");
    fail(line.front(), fmt::format("{} is not a section that can be read; the file must begin with @NFA-explicit or "
                                   "@NFA-bits",
                                   in_quotes(section)));
  }

  // --- Keys

  void read_key(std::span<const MataToken> line) {
    const std::string& key = line.front().name;
    const std::span<const MataToken> values = line.subspan(1);
    if (key == "%Initial") {
      read_states(values, initial_);
    } else if (key == "%Final") {
      read_states(values, final_);
    } else if (key == "%States-enum") {
      declare(values, states_);
      states_declared_ = true;
    } else if (key == "%Alphabet-enum") {
      declare(values, symbols_);
      symbols_declared_ = true;
      alphabet_line_.assign(values.begin(), values.end());
    } else if (key == "%Epsilon") {
      if (!draft_.arcs.empty() || !transitions_.empty())
        fail(line.front(), "%Epsilon comes before the transitions, which it is about");
      std::vector<std::string> names;
      for (const MataToken& value : values) names.push_back(require_name(value));
      epsilons_.declare(names);
    } else if (!is_ignored(key)) {
      fail(line.front(), fmt::format("the key {} is not known", in_quotes(key)));
    }
  }

  /// Typing schemes that positions make superfluous in an NFA.
  static bool is_ignored(std::string_view key) {
    for (const std::string_view thing : {"%Alphabet-", "%States-", "%Nodes-"})
      for (const std::string_view scheme : {"auto", "marked", "markers", "utf", "ascii", "numbers"})
        if (key.starts_with(thing) && key.substr(thing.size()) == scheme) return true;
    return false;
  }

  void read_states(std::span<const MataToken> values, std::vector<MataFormula>& formulas) {
    if (values.empty()) return;
    formulas.push_back(parse_mata_formula(
        values, true, [this](const MataToken& token) { return state(token); },
        [this](std::size_t offset, const std::string& message) { lexer_.fail(offset, message); }));
  }

  void declare(std::span<const MataToken> values, NameTable& names) {
    for (const MataToken& value : values) {
      if (names.find(require_name(value))) fail(value, in_quotes(value.name) + " is declared twice, or used before");
      names.intern(value.name);
    }
  }

  // --- Names

  const std::string& require_name(const MataToken& token) const {
    if (token.kind != MataToken::kName) fail(token, fmt::format("a name is expected, not {}", in_quotes(token.name)));
    return token.name;
  }

  std::uint32_t known(const MataToken& token, NameTable& names, bool declared, const char* what) const {
    if (!declared) return names.intern(require_name(token));
    const auto found = names.find(require_name(token));
    if (!found) fail(token, fmt::format("the {} {} is not declared", what, in_quotes(token.name)));
    return *found;
  }
  State state(const MataToken& token) { return known(token, states_, states_declared_, "state"); }
  bool is_epsilon(const MataToken& token) {
    return epsilons_.contains(token.name, [&](const std::string& message) { fail(token, message); });
  }
  std::uint32_t symbol(const MataToken& token) {
    if (is_epsilon(token)) fail(token, "the empty word is no part of a formula; give it a transition of its own");
    return known(token, symbols_, symbols_declared_, bits_ ? "bit" : "symbol");
  }

  // --- Transitions

  void read_transition(std::span<const MataToken> line) {
    if (line.size() < 3) fail(line.back(), "a transition is: state formula state");
    const State source = state(line.front()), target = state(line.back());
    const std::span<const MataToken> label = line.subspan(1, line.size() - 2);
    if (label.size() == 1 && label.front().kind == MataToken::kName && is_epsilon(label.front())) {
      draft_.arcs.push_back({source, kEpsilon, target});
      return;
    }
    transitions_.push_back(
        {source, target,
         parse_mata_formula(
             label, false, [this](const MataToken& token) { return symbol(token); },
             [this](std::size_t offset, const std::string& message) { lexer_.fail(offset, message); })});
  }

  // --- From formulas to arcs, when every name is known

  /// Whoever declares a name of the empty word as a symbol means one or the other.
  void refuse_declared_epsilon() {
    for (const MataToken& token : alphabet_line_)
      if (is_epsilon(token))
        fail(token,
             fmt::format("{} is declared as a symbol, and is a name of the empty word: add a line %Epsilon before "
                         "the transitions, with its names or none",
                         in_quotes(token.name)));
  }

  Draft finish() {
    refuse_declared_epsilon();
    epsilons_.check_letters(symbols_.names());
    draft_.outputs.resize(states_.size());
    draft_.state_names = states_.names();
    for_each_state(final_, [this](State state) { draft_.outputs[state] = 1; });
    std::vector<bool> is_initial(states_.size());
    for_each_state(initial_, [&](State state) { is_initial[state] = true; });
    for (State state = 0; state < states_.size(); ++state)
      if (is_initial[state]) draft_.initial.push_back(state);
    if (draft_.initial.empty()) throw InputError(where_, "no initial state; add a line  %Initial STATE");
    bits_ ? finish_bits() : finish_explicit();
    return std::move(draft_);
  }

  template <class Visit>
  void for_each_state(const std::vector<MataFormula>& formulas, Visit visit) const {
    std::size_t visits = 0;  // many lines of "all but one" would be quadratic
    for (const MataFormula& formula : formulas)
      for_each_number(formula, states_.size(), [&](State state) {
        if (++visits > kMaxArcs)
          throw LimitError(
              fmt::format("{}: the formulas of %Initial or %Final stand for more than {} states, counted "
                          "for each line; write them in one",
                          where_, kMaxArcs));
        visit(state);
      });
  }

  template <class Visit>
  static void for_each_number(const MataFormula& formula, std::uint32_t count, Visit visit) {
    if (formula.steps.size() == 1 && formula.steps.front().kind == MataFormula::kName)
      return visit(formula.steps.front().name);
    const MataSet set = numbers_satisfying(formula);
    if (!set.is_complement) {
      std::vector<std::uint32_t> members(set.members.begin(), set.members.end());
      std::sort(members.begin(), members.end());
      for (const std::uint32_t number : members) visit(number);
      return;
    }
    for (std::uint32_t number = 0; number < count; ++number)
      if (set.contains(number)) visit(number);
  }

  void finish_explicit() {
    draft_.alphabet = alphabet_of_names(symbols_.names(), where_);
    for (const Transition& transition : transitions_)
      for_each_number(transition.label, symbols_.size(), [&](Letter letter) {
        add_arc({transition.source, letter, transition.target});
      });
  }

  void finish_bits() {
    const std::vector<std::uint32_t> position = bit_positions();
    std::vector<MataFormula> labels;
    for (Transition& transition : transitions_) {
      for (MataFormula::Step& step : transition.label.steps)
        if (step.kind == MataFormula::kName) step.name = position[step.name];
      labels.push_back(std::move(transition.label));
    }
    const MataClasses classes = distinguish(labels, symbols_.size(), where_);
    draft_.alphabet = alphabet_of_names(classes.names, where_);
    for (std::size_t i = 0; i < transitions_.size(); ++i)
      for (const Letter letter : classes.classes_of[i])
        add_arc({transitions_[i].source, letter, transitions_[i].target});
  }

  void add_arc(const Draft::Arc& arc) {
    if (draft_.arcs.size() >= kMaxArcs)
      throw LimitError(
          fmt::format("{}: the formulas stand for more than {} arcs; the limit protects the memory", where_, kMaxArcs));
    draft_.arcs.push_back(arc);
  }

  /// Most significant bit first: a15 before a2 before a0, so that a valuation reads as a binary number.
  std::vector<std::uint32_t> bit_positions() const {
    std::vector<std::uint32_t> order(symbols_.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [this](std::uint32_t bit) {
      return std::pair(symbols_.names()[bit].size(), symbols_.names()[bit]);
    };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
    std::vector<std::uint32_t> position(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    return position;
  }

  static constexpr std::size_t kMaxArcs = 50'000'000;

  std::string_view where_;
  MataLexer lexer_;
  bool bits_ = false, states_declared_ = false, symbols_declared_ = false;
  NameTable states_, symbols_;
  EpsilonNames epsilons_;
  std::vector<MataToken> alphabet_line_;
  std::vector<MataFormula> initial_, final_;
  std::vector<Transition> transitions_;
  Draft draft_;
};

}  // namespace

Draft read_mata(std::string_view text, std::string_view where, const LanguageOptions& options) {
  return MataReader(checked_text(text, where), where, options).run();
}

// The classes of valuations, by decision diagrams.

namespace {

constexpr std::uint32_t kMaxVariables = 512;  // also the depth of the recursions
constexpr std::size_t kMaxNodes = std::size_t{1} << 22;

using Ref = DecisionDiagrams::Ref;
constexpr Ref leaf(std::uint32_t number) { return DecisionDiagrams::leaf(number); }
constexpr bool is_leaf(Ref ref) { return DecisionDiagrams::is_leaf(ref); }
constexpr std::uint32_t number_of(Ref ref) { return DecisionDiagrams::number_of(ref); }
constexpr std::uint64_t key_of(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

/// The diagram, with leaves 0 and 1, of a formula.
Ref diagram_of(const MataFormula& formula, DecisionDiagrams& diagrams) {
  std::vector<Ref> stack;
  for (const MataFormula::Step& step : formula.steps) {
    if (step.kind == MataFormula::kName) {
      stack.push_back(diagrams.variable(step.name));
    } else if (step.kind == MataFormula::kTrue || step.kind == MataFormula::kFalse) {
      stack.push_back(leaf(step.kind == MataFormula::kTrue ? 1 : 0));
    } else if (step.kind == MataFormula::kNot) {
      stack.back() = diagrams.negation(stack.back());
    } else {
      const Ref right = stack.back();
      stack.pop_back();
      stack.back() = step.kind == MataFormula::kAnd ? diagrams.conjunction(stack.back(), right)
                                                    : diagrams.disjunction(stack.back(), right);
    }
  }
  return stack.back();
}

/// A product of diagrams. Leaf 0 means that every factor is 0 there; leaf i > 0 remembers the leaves of its two halves.
struct Product {
  Ref root = leaf(0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> halves;  ///< empty for a single formula
  std::size_t left = 0, right = 0;                              ///< indices of the halves
};

class ProductTree {
 public:
  ProductTree(DecisionDiagrams& diagrams, std::vector<Ref> factors) : diagrams_(diagrams), factors_(factors.size()) {
    for (const Ref factor : factors) products_.push_back({factor, {}, 0, 0});
    // Pairs, then pairs of pairs: the factors of a level are multiplied once each, log(factors) levels in all.
    for (std::size_t done = 0; products_.size() - done > 1; done += 2) multiply(done, done + 1);
  }

  Ref root() const { return products_.back().root; }

  /// Calls `visit(factor, class)` for all classes of every factor; `class_of_leaf` numbers the leaves of the root.
  template <class Visit>
  void for_each_class(const std::vector<Letter>& class_of_leaf, Visit visit) const {
    using Holder = std::pair<Letter, std::uint32_t>;  // a class and the leaf that it has in some product
    std::vector<std::vector<Holder>> holders(products_.size());
    for (std::uint32_t number = 1; number < class_of_leaf.size(); ++number)
      holders.back().emplace_back(class_of_leaf[number], number);
    for (std::size_t i = products_.size(); i-- > 0;) {
      for (const auto& [letter, number] : holders[i])
        if (i < factors_) {
          visit(i, letter);
        } else {
          const auto& [left, right] = products_[i].halves[number];
          if (left != 0) holders[products_[i].left].emplace_back(letter, left);
          if (right != 0) holders[products_[i].right].emplace_back(letter, right);
        }
      holders[i] = {};
    }
  }

 private:
  void multiply(std::size_t left, std::size_t right) {
    Product product{leaf(0), {{0, 0}}, left, right};
    std::unordered_map<std::uint64_t, std::uint32_t> numbers{{key_of(0, 0), 0}};
    const auto decide = [&](const std::vector<Ref>& refs) -> std::optional<Ref> {
      if (!is_leaf(refs[0]) || !is_leaf(refs[1])) return std::nullopt;
      const std::uint32_t a = number_of(refs[0]), b = number_of(refs[1]);
      const auto [entry, is_new] = numbers.try_emplace(key_of(a, b), static_cast<std::uint32_t>(product.halves.size()));
      if (is_new) product.halves.emplace_back(a, b);
      return leaf(entry->second);
    };
    DecisionDiagrams::Memo done(2);
    product.root = diagrams_.apply({products_[left].root, products_[right].root}, done, decide);
    products_.push_back(std::move(product));
  }

  DecisionDiagrams& diagrams_;
  std::size_t factors_;
  std::vector<Product> products_;
};

/// Walks a diagram once, 0 before 1, and names every leaf but 0 by the least path to it. A path that was walked before
/// cannot lead to a new leaf, so each node is entered once.
class LeafNamer {
 public:
  LeafNamer(const DecisionDiagrams& diagrams, std::uint32_t variables) : diagrams_(diagrams), path_(variables, '-') {}

  void walk(Ref ref) {
    if (is_leaf(ref)) {
      if (number_of(ref) != 0 && names_.try_emplace(number_of(ref), path_).second) order_.push_back(number_of(ref));
      return;
    }
    if (!entered_.emplace(ref, true).second) return;
    char& sign = path_[diagrams_.variable_of(ref)];
    sign = '0';
    walk(diagrams_.low(ref));
    sign = '1';
    walk(diagrams_.high(ref));
    sign = '-';
    finished_.push_back(ref);
  }

  /// Leaves in the order of their names.
  const std::vector<std::uint32_t>& order() const { return order_; }

  std::string name(std::uint32_t number) const {
    if (path_.empty()) return "true";
    return names_.at(number) + (paths_.at(number) > 1 ? "|…" : "");
  }

  /// How many paths lead to each leaf, saturating at 2.
  void count_paths(Ref root) {
    std::unordered_map<Ref, int> count{{root, 1}};
    for (auto ref = finished_.rbegin(); ref != finished_.rend(); ++ref)  // parents before children
      for (const Ref child : {diagrams_.low(*ref), diagrams_.high(*ref)})
        count[child] = std::min(count[child] + count.at(*ref), 2);
    for (const std::uint32_t number : order_) paths_[number] = count.at(leaf(number));
  }

 private:
  const DecisionDiagrams& diagrams_;
  std::string path_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::unordered_map<std::uint32_t, int> paths_;
  std::unordered_map<Ref, bool> entered_;
  std::vector<Ref> finished_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

MataClasses distinguish(std::span<const MataFormula> formulas, std::uint32_t variables, std::string_view where) {
  if (variables > kMaxVariables)
    throw LimitError(
        fmt::format("{}: {} in the formulas; the limit is {}", where, counted(variables, "bit"), kMaxVariables));
  MataClasses result;
  result.classes_of.resize(formulas.size());
  DecisionDiagrams diagrams(
      kMaxNodes,
      fmt::format("{}: the bit formulas need a decision diagram of more than {} nodes; the limit protects the "
                  "memory. Split the file or use @NFA-explicit",
                  where, kMaxNodes));
  std::vector<Ref> factors;  // distinct and not false
  std::unordered_map<Ref, std::vector<std::size_t>> formulas_of;
  for (std::size_t i = 0; i < formulas.size(); ++i) {
    const Ref ref = diagram_of(formulas[i], diagrams);
    if (ref == leaf(0)) continue;
    std::vector<std::size_t>& same = formulas_of[ref];
    if (same.empty()) factors.push_back(ref);
    same.push_back(i);
  }
  if (factors.empty()) return result;
  const ProductTree tree(diagrams, factors);
  LeafNamer namer(diagrams, variables);
  namer.walk(tree.root());
  namer.count_paths(tree.root());
  std::vector<Letter> class_of_leaf(namer.order().size() + 1);
  for (const std::uint32_t number : namer.order()) {
    class_of_leaf[number] = static_cast<Letter>(result.names.size());
    result.names.push_back(namer.name(number));
  }
  tree.for_each_class(class_of_leaf, [&](std::size_t factor, Letter letter) {
    for (const std::size_t formula : formulas_of[factors[factor]]) result.classes_of[formula].push_back(letter);
  });
  for (std::vector<Letter>& classes : result.classes_of) std::sort(classes.begin(), classes.end());
  return result;
}

namespace {

/// The name as the format has it: in quotes unless it is a plain word.
std::string mata_name(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return plain ? name : in_escaped_quotes(name);
}

}  // namespace

std::string write_mata(const Dfa& dfa) {
  require_acceptor(dfa, "mata");
  std::vector<std::string> letters;
  for (const Symbol& symbol : dfa.alphabet().symbols()) letters.push_back(mata_name(symbol.name));
  // Where a letter is called as the empty word elsewhere, the file says that none of its names is that.
  const bool doubtful = std::ranges::any_of(dfa.alphabet().symbols(), EpsilonNames::may_be_no_letter, &Symbol::name);
  std::string text = fmt::format("@NFA-explicit\n{}%Alphabet-enum {}\n%States-enum", doubtful ? "%Epsilon\n" : "",
                                 fmt::join(letters, " "));
  for (State state = 0; state < dfa.states(); ++state) fmt::format_to(std::back_inserter(text), " q{}", state);
  fmt::format_to(std::back_inserter(text), "\n%Initial q{}\n%Final", dfa.initial());
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.accepts(state)) fmt::format_to(std::back_inserter(text), " q{}", state);
  text += '\n';
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      fmt::format_to(std::back_inserter(text), "q{} {} q{}\n", state, letters[letter], dfa.next(state, letter));
  return text;
}

}  // namespace krohn
