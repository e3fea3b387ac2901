#include "krohn/automata/syntax/temporal.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

// The syntax of temporal formulas.

enum class TemporalOperator : std::uint8_t {
  kTrue,
  kProposition,
  kNot,
  kAnd,
  kOr,
  kNext,
  kUntil,
  kYesterday,
  kOnce,
  kSince,
};

/// True for operators over two formulas.
bool takes_two(TemporalOperator operation);

/// Every formula in these operators: the others are the duals of these, or short for them.
struct TemporalFormula {
  struct Node {
    TemporalOperator operation;
    std::uint32_t first = 0, second = 0;  ///< nodes; of a proposition `first` is its number
    bool has_future = false, has_past = false;
  };
  std::vector<Node> nodes;  ///< parts before what they are parts of; equal ones are one
  std::uint32_t root = 0;
  std::vector<std::string> propositions;  ///< in the order in which they are named
};

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
    constexpr std::size_t kMax = 10'000;  // also the depth of the recursions through decision diagrams
    const auto is_boolean = [](const TemporalFormula::Node& node) {
      return node.operation <= Operator::kOr && node.operation != Operator::kProposition;
    };
    if (formula_.nodes.size() - static_cast<std::size_t>(std::ranges::count_if(formula_.nodes, is_boolean)) > kMax)
      throw LimitError(fmt::format("{}: formulas may have {} propositions and temporal operators", what_, kMax));
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
      fail(fmt::format(
          "\"{}\" is one name here: write blanks behind its operators, or quotes where the proposition is called so",
          name));
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

/// Throws InputError with the column; `what` is "ltlf" or "pltl". Throws LimitError past 10,000 different propositions
/// and temporal operators.
TemporalFormula parse_temporal(std::string_view text, std::string_view what) { return Parser(text, what).parse(); }

// A formula that holds now asks something of the rest of the word: a Boolean function of parts that have to hold at a
// next position. That function, a decision diagram and so unique up to propositional equivalence, is the state; the
// propositions stand above in the diagrams of what comes next, so that a step is one substitution for all valuations.

namespace {

using Bits = std::vector<bool>;
using Ref = DecisionDiagrams::Ref;

constexpr Ref kFalse = DecisionDiagrams::leaf(0), kTrue = DecisionDiagrams::leaf(1);
constexpr Ref truth(bool value) { return value ? kTrue : kFalse; }

/// The parts that hold of the empty word.
Bits without_positions(const TemporalFormula& formula) {
  Bits holds;
  for (const TemporalFormula::Node& node : formula.nodes) switch (node.operation) {
      case Operator::kTrue:
        holds.push_back(true);
        break;
      case Operator::kNot:
        holds.push_back(!holds[node.first]);
        break;
      case Operator::kAnd:
        holds.push_back(holds[node.first] && holds[node.second]);
        break;
      case Operator::kOr:
        holds.push_back(holds[node.first] || holds[node.second]);
        break;
      default:
        holds.push_back(false);
    }
  return holds;
}

/// The steps of one part of a formula. The variables of diagrams are first the propositions, then what is remembered of
/// the position before, then the parts of which it is asked that there is a next position where they hold.
class Steps {
 public:
  /// With `at_the_end` a word is accepted when the part holds at its last position and otherwise at its first.
  Steps(const TemporalFormula& formula, Index root, bool at_the_end, DecisionDiagrams& diagrams)
      : formula_(formula),
        root_(root),
        at_the_end_(at_the_end),
        diagrams_(diagrams),
        propositions_(static_cast<Index>(formula.propositions.size())),
        nodes_(static_cast<Index>(formula.nodes.size())),
        needed_(nodes_, false),
        without_positions_(without_positions(formula)) {
    needed_[root] = true;
    for (Index i = root + 1; i-- > 0;)
      if (needed_[i]) need_parts(formula.nodes[i]);
    for (Index i = 0; i <= root; ++i)
      if (needed_[i] && remembers(formula.nodes[i])) remembered_.push_back(i);
    if (at_the_end) remembered_.push_back(nodes_);
    Bits memory(remembered_.size(), false);
    if (at_the_end) memory.back() = without_positions_[root];
    start_ = with_memory(memory, at_the_end ? kTrue : diagrams.variable(later(nodes_)));
  }

  Ref start() const { return start_; }

  bool accepts(Ref state) const {
    if (state == start_) return without_positions_[root_];
    if (at_the_end_) return memory_of(state).second.back();
    Ref asked = memory_of(state).first;
    while (!DecisionDiagrams::is_leaf(asked)) asked = diagrams_.low(asked);  // nothing comes later
    return asked == kTrue;
  }

  /// The diagram whose parts below the propositions are the next states; `holds` gives the propositions, by number,
  /// their values or variables, and is the same for the same `letter`.
  Ref step(Ref state, Letter letter, const std::vector<Ref>& holds) {
    TimeLimit::check();
    const auto [asked, memory] = memory_of(state);
    auto found = moments_.find({letter, memory});
    if (found == moments_.end())
      found = moments_.emplace(std::pair(letter, memory), Moment{values(memory, holds)}).first;
    Moment& moment = found->second;
    Ref next = substituted(asked, moment);
    for (std::size_t i = remembered_.size(); i-- > 0;) {
      const Ref kept = diagrams_.variable(bit(i));
      next = diagrams_.choose(kept_value(remembered_[i], moment), diagrams_.conjunction(kept, next),
                              diagrams_.choose(kept, kFalse, next));
    }
    return next;
  }

  bool is_state(Ref ref) const { return diagrams_.variable_of(ref) >= propositions_; }

 private:
  /// At a position with some memory: the value of every part, as far as what is asked of the next one.
  struct Moment {
    std::vector<Ref> values;
    DecisionDiagrams::Memo substituted{1};
  };

  static bool remembers(const TemporalFormula::Node& node) {
    return node.operation == Operator::kYesterday || node.operation == Operator::kOnce ||
           node.operation == Operator::kSince;
  }

  void need_parts(const TemporalFormula::Node& node) {
    if (node.operation == Operator::kTrue || node.operation == Operator::kProposition) return;
    needed_[node.first] = true;
    if (takes_two(node.operation)) needed_[node.second] = true;
  }

  std::uint32_t bit(std::size_t i) const { return propositions_ + static_cast<std::uint32_t>(i); }
  std::uint32_t later(Index part) const { return propositions_ + nodes_ + 1 + part; }

  Ref with_memory(const Bits& memory, Ref asked) {
    for (std::size_t i = memory.size(); i-- > 0;)
      asked = diagrams_.make(bit(i), memory[i] ? kFalse : asked, memory[i] ? asked : kFalse);
    return asked;
  }

  /// The obligations of a state, and its memory; where nothing can help, that is forgotten.
  std::pair<Ref, Bits> memory_of(Ref state) const {
    Bits memory(remembered_.size(), false);
    for (std::size_t i = 0; i < memory.size() && state != kFalse; ++i) {
      memory[i] = diagrams_.low(state) == kFalse;
      state = memory[i] ? diagrams_.high(state) : diagrams_.low(state);
    }
    return {state, state == kFalse ? Bits(remembered_.size(), false) : memory};
  }

  std::vector<Ref> values(const Bits& memory, const std::vector<Ref>& holds) {
    std::vector<Ref> before(nodes_ + 1, kFalse), values(nodes_, kFalse);
    for (std::size_t i = 0; i < memory.size(); ++i) before[remembered_[i]] = truth(memory[i]);
    for (Index i = 0; i <= root_; ++i)
      if (needed_[i]) values[i] = value(formula_.nodes[i], i, values, before, holds);
    return values;
  }

  Ref value(const TemporalFormula::Node& node, Index i, const std::vector<Ref>& values, const std::vector<Ref>& before,
            const std::vector<Ref>& holds) {
    switch (node.operation) {
      case Operator::kTrue:
        return kTrue;
      case Operator::kProposition:
        return holds[node.first];
      case Operator::kNot:
        return diagrams_.negation(values[node.first]);
      case Operator::kAnd:
        return diagrams_.conjunction(values[node.first], values[node.second]);
      case Operator::kOr:
        return diagrams_.disjunction(values[node.first], values[node.second]);
      case Operator::kNext:
        return diagrams_.variable(later(node.first));
      case Operator::kUntil:
        return until(values[node.first], values[node.second], diagrams_.variable(later(i)));
      case Operator::kYesterday:
        return before[i];
      case Operator::kOnce:
        return diagrams_.disjunction(values[node.first], before[i]);
      default:  // kSince
        return until(values[node.first], values[node.second], before[i]);
    }
  }

  Ref until(Ref first, Ref second, Ref beyond) {
    return diagrams_.disjunction(second, diagrams_.conjunction(first, beyond));
  }

  Ref kept_value(Index part, const Moment& moment) const {
    if (part == nodes_) return moment.values[root_];
    const TemporalFormula::Node& node = formula_.nodes[part];
    return moment.values[node.operation == Operator::kYesterday ? node.first : part];
  }

  /// The obligations left by the previous position.
  Ref substituted(Ref asked, Moment& moment) {
    if (DecisionDiagrams::is_leaf(asked)) return asked;
    if (const auto known = moment.substituted.find({&asked, 1})) return *known;
    const Index part = diagrams_.variable_of(asked) - later(0);
    const Ref otherwise = substituted(diagrams_.low(asked), moment), then = substituted(diagrams_.high(asked), moment);
    return moment.substituted.add({&asked, 1},
                                  diagrams_.choose(moment.values[part == nodes_ ? root_ : part], then, otherwise));
  }

  const TemporalFormula& formula_;
  Index root_;
  bool at_the_end_;
  DecisionDiagrams& diagrams_;
  Index propositions_, nodes_;
  Bits needed_, without_positions_;
  Ref start_ = kFalse;
  std::vector<Index> remembered_;  ///< the parts of which something is; `nodes_` is whether the root holds
  std::map<std::pair<Letter, Bits>, Moment> moments_;
};

/// Numbers for states in the order of their arrival.
class Arrivals {
 public:
  explicit Arrivals(std::uint64_t max_states) : max_states_(max_states) {}

  State number(Ref state) {
    const auto [found, is_new] = numbers_.try_emplace(state, static_cast<State>(states_.size()));
    if (is_new) states_.push_back(state);
    if (states_.size() > max_states_)
      throw LimitError(fmt::format("the formula's automaton has more than {} states (--max-states)", max_states_));
    return found->second;
  }
  const std::vector<Ref>& states() const { return states_; }

 private:
  std::uint64_t max_states_;
  std::unordered_map<Ref, State> numbers_;
  std::vector<Ref> states_;
};

/// Words of letters of which each makes one proposition true.
Dfa over_letters(const TemporalFormula& formula, bool at_the_end, const TemporalOptions& options,
                 std::string_view what) {
  const Alphabet named = Alphabet::from_names(formula.propositions);
  Alphabet alphabet = options.alphabet ? *options.alphabet : named;
  if (alphabet.size() == 0)
    throw InputError(std::string(what), "the formula names no letter; --alphabet says which there are");
  for (const std::string& name : formula.propositions)
    if (!alphabet.find(name))
      throw InputError(std::string(what), fmt::format("\"{}\" is no letter of the alphabet", name));
  // A character that is named is a letter of its own, out of the class that holds it.
  alphabet = refine(alphabet, named).merged;
  std::vector<std::vector<Ref>> holds(alphabet.size(), std::vector<Ref>(formula.propositions.size(), kFalse));
  for (std::size_t i = 0; i < formula.propositions.size(); ++i)
    holds[*alphabet.find(formula.propositions[i])][i] = kTrue;

  const auto diagrams = ValuationClasses::empty_diagrams();
  Steps steps(formula, formula.root, at_the_end, *diagrams);
  Arrivals arrivals(options.max_states);
  arrivals.number(steps.start());
  std::vector<State> table;
  std::vector<bool> accepting;
  for (State state = 0; state < arrivals.states().size(); ++state) {
    const Ref here = arrivals.states()[state];
    accepting.push_back(steps.accepts(here));
    for (Letter letter = 0; letter < alphabet.size(); ++letter)
      table.push_back(arrivals.number(steps.step(here, letter, holds[letter])));
  }
  return minimise(Dfa::acceptor(alphabet, std::move(table), 0, accepting));
}

/// Words of valuations of the formula's propositions. Boolean combinations at the top are combinations of minimal
/// automata, the smallest first; what temporal operators stand over is gone through by steps.
class OverValuations {
 public:
  OverValuations(const TemporalFormula& formula, const TemporalOptions& options)
      : formula_(formula), options_(options), propositions_(formula.propositions) {
    // Older obligations are looked at first, the next position's last: the states of one moment share the rest.
    const std::vector<int> delays = delays_of_propositions();
    std::vector<std::size_t> order(delays.size()), place(delays.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-delays[i], formula.propositions[i]); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      propositions_[i] = formula.propositions[order[i]];
      place[order[i]] = i;
    }
    for (const std::size_t i : place) holds_.push_back(diagrams_->variable(static_cast<std::uint32_t>(i)));
  }

  std::variant<Dfa, ValuedGraph> automaton(bool at_the_end, std::size_t max_letters) {
    ValuedAutomaton automaton = valued(at_the_end);
    if (auto dfa = with_letters(diagrams_, automaton, propositions_, max_letters)) return *std::move(dfa);
    return graph_of(diagrams_, std::move(automaton), propositions_);
  }

 private:
  ValuedAutomaton valued(bool at_the_end) { return at_the_end ? by_steps(formula_.root, true) : of(formula_.root); }

  /// Over how many X, less Y, each proposition stands at most.
  std::vector<int> delays_of_propositions() const {
    constexpr int kNone = std::numeric_limits<int>::min();
    std::vector<int> of_node(formula_.nodes.size(), kNone), of_proposition(formula_.propositions.size(), 0);
    of_node[formula_.root] = 0;
    for (Index i = formula_.root + 1; i-- > 0;) {
      const TemporalFormula::Node& node = formula_.nodes[i];
      if (of_node[i] == kNone || node.operation == Operator::kTrue) continue;
      if (node.operation == Operator::kProposition) {
        of_proposition[node.first] = of_node[i];
        continue;
      }
      const int delay = node.operation == Operator::kNext ? 1 : node.operation == Operator::kYesterday ? -1 : 0;
      of_node[node.first] = std::max(of_node[node.first], of_node[i] + delay);
      if (takes_two(node.operation)) of_node[node.second] = std::max(of_node[node.second], of_node[i]);
    }
    return of_proposition;
  }

  ValuedAutomaton of(Index i) {
    const TemporalFormula::Node& node = formula_.nodes[i];
    const bool is_pair = node.operation == Operator::kAnd || node.operation == Operator::kOr;
    if (!node.has_future || (!is_pair && node.operation != Operator::kNot)) return by_steps(i, false);
    if (const auto known = known_.find(i); known != known_.end()) return known->second;
    if (node.operation == Operator::kNot) return known_.emplace(i, complement(of(node.first))).first->second;
    std::vector<Index> parts{i};
    std::multimap<State, ValuedAutomaton> automata;  // by size
    while (!parts.empty()) {
      const Index part = parts.back();
      parts.pop_back();
      const TemporalFormula::Node& inner = formula_.nodes[part];
      if (inner.operation == node.operation) {
        parts.insert(parts.end(), {inner.second, inner.first});
      } else {
        ValuedAutomaton automaton = of(part);
        automata.emplace(automaton.states(), std::move(automaton));
      }
    }
    while (automata.size() > 1) {
      const auto first = automata.extract(automata.begin()), second = automata.extract(automata.begin());
      ValuedAutomaton both = minimised(*diagrams_, combined(*diagrams_, first.mapped(), second.mapped(),
                                                            node.operation == Operator::kOr, options_.max_states));
      automata.emplace(both.states(), std::move(both));
    }
    return known_.emplace(i, std::move(automata.begin()->second)).first->second;
  }

  ValuedAutomaton by_steps(Index root, bool at_the_end) {
    Steps steps(formula_, root, at_the_end, *diagrams_);
    Arrivals arrivals(options_.max_states);
    arrivals.number(steps.start());
    ValuedAutomaton result;
    DecisionDiagrams::Memo done(1);
    const auto to_numbers = [&](const auto& self, Ref ref) -> Ref {
      if (steps.is_state(ref)) return DecisionDiagrams::leaf(arrivals.number(ref));
      if (const auto known = done.find({&ref, 1})) return *known;
      const Ref where_false = self(self, diagrams_->low(ref)), where_true = self(self, diagrams_->high(ref));
      return done.add({&ref, 1}, diagrams_->make(diagrams_->variable_of(ref), where_false, where_true));
    };
    for (State state = 0; state < arrivals.states().size(); ++state) {
      const Ref here = arrivals.states()[state];
      result.accepting.push_back(steps.accepts(here));
      result.rows.push_back(to_numbers(to_numbers, steps.step(here, 0, holds_)));
    }
    return minimised(*diagrams_, result);
  }

  const TemporalFormula& formula_;
  const TemporalOptions& options_;
  std::shared_ptr<DecisionDiagrams> diagrams_ = ValuationClasses::empty_diagrams();
  std::vector<std::string> propositions_;  ///< by variable
  std::vector<Ref> holds_;                 ///< by proposition of the formula
  std::map<Index, ValuedAutomaton> known_;
};

Dfa automaton_of(const TemporalFormula& formula, bool at_the_end, const TemporalOptions& options,
                 std::string_view what) {
  if (options.propositions == Propositions::kLetters) return over_letters(formula, at_the_end, options, what);
  return std::get<Dfa>(OverValuations(formula, options).automaton(at_the_end, SIZE_MAX));
}

TemporalFormula parse_past(std::string_view text) {
  TemporalFormula formula = parse_temporal(text, "pltl");
  if (formula.nodes[formula.root].has_future)
    throw InputError("pltl", "a formula of the past has no X, N, F, G, U, R, W, M; ltlf: takes them");
  return formula;
}

}  // namespace

Dfa ltlf_automaton(std::string_view text, const TemporalOptions& options) {
  return automaton_of(parse_temporal(text, "ltlf"), false, options, "ltlf");
}

Dfa past_ltl_automaton(std::string_view text, const TemporalOptions& options) {
  return automaton_of(parse_past(text), true, options, "pltl");
}

std::variant<Dfa, ValuedGraph> automaton_over_valuations(std::string_view text, bool is_past, std::size_t max_letters,
                                                         const TemporalOptions& options) {
  const TemporalFormula formula = is_past ? parse_past(text) : parse_temporal(text, "ltlf");
  return OverValuations(formula, options).automaton(is_past, max_letters);
}

}  // namespace krohn
