#include "krohn/automata/syntax/temporal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "krohn/automata/dfa/decision_diagrams.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

using Ref = DecisionDiagrams::Ref;

constexpr std::size_t kMaxEntries = std::size_t{1} << 26;

/// The state that answers every word with `accepts`, if a minimal automaton has one.
std::optional<State> sink_of(const ValuedAutomaton& automaton, bool accepts) {
  for (State state = 0; state < automaton.states(); ++state)
    if (automaton.rows[state] == DecisionDiagrams::leaf(state) && automaton.accepting[state] == accepts) return state;
  return std::nullopt;
}

/// From the rows of all states at once to the targets that their leaves are, by one variable after another.
class Columns {
 public:
  using Tuple = std::vector<Ref>;

  /// Past `most` columns it stops.
  Columns(DecisionDiagrams& diagrams, std::size_t most) : diagrams_(diagrams), most_(most) {}

  /// The diagram whose leaf at a valuation is the number of its column.
  Ref split(const Tuple& refs) {
    if (columns_.size() > most_) return DecisionDiagrams::leaf(0);
    if (const auto known = made_.find(refs); known != made_.end()) return known->second;
    if ((made_.size() + 1) * refs.size() > kMaxEntries)
      throw LimitError(
          fmt::format("the formula's automaton has {} states, which tell more than {} classes of valuations apart; its "
                      "table has room for 2^26 entries. Fewer propositions have fewer classes",
                      refs.size(), columns_.size()));
    std::uint32_t first = DecisionDiagrams::kNoVariable;
    for (const Ref ref : refs) first = std::min(first, diagrams_.variable_of(ref));
    if (first == DecisionDiagrams::kNoVariable) {
      const auto made = made_.emplace(refs, DecisionDiagrams::leaf(static_cast<std::uint32_t>(columns_.size()))).first;
      columns_.push_back(&made->first);
      return made->second;
    }
    const auto of = [&](bool is_true) {
      Tuple parts(refs.size());
      for (std::size_t i = 0; i < refs.size(); ++i) parts[i] = diagrams_.child(refs[i], first, is_true);
      return split(parts);
    };
    const Ref where_false = of(false);
    return made_[refs] = diagrams_.make(first, where_false, of(true));
  }

  /// By column, the leaf of every row.
  const std::vector<const Tuple*>& columns() const { return columns_; }

 private:
  struct Hash {
    std::size_t operator()(const Tuple& refs) const { return RecordSet::hash(refs); }
  };

  DecisionDiagrams& diagrams_;
  std::size_t most_;
  std::unordered_map<Tuple, Ref, Hash> made_;
  std::vector<const Tuple*> columns_;
};

std::vector<Ref> distinct_rows(const ValuedAutomaton& automaton) {
  std::vector<Ref> rows = automaton.rows;
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace

ValuedAutomaton combined(DecisionDiagrams& diagrams, const ValuedAutomaton& a, const ValuedAutomaton& b, bool is_union,
                         std::uint64_t max_states) {
  // A verdict that one of the two decides alone is one state.
  const auto first = sink_of(a, is_union), second = sink_of(b, is_union);
  constexpr std::uint64_t kDecided = UINT64_MAX;
  std::unordered_map<std::uint64_t, State> numbers;
  std::vector<std::uint64_t> pairs;
  const auto number = [&](State in_a, State in_b) {
    const std::uint64_t pair = in_a == first || in_b == second ? kDecided : std::uint64_t{in_a} << 32 | in_b;
    const auto [found, is_new] = numbers.try_emplace(pair, static_cast<State>(pairs.size()));
    if (is_new) pairs.push_back(pair);
    if (pairs.size() > max_states)
      throw LimitError(fmt::format("the formula's automaton has more than {} states (--max-states)", max_states));
    return DecisionDiagrams::leaf(found->second);
  };
  const auto decide = [&](const std::vector<Ref>& refs) -> std::optional<Ref> {
    const bool is_first = first && refs[0] == DecisionDiagrams::leaf(*first);
    const bool is_second = second && refs[1] == DecisionDiagrams::leaf(*second);
    if (is_first) return number(*first, 0);
    if (is_second) return number(0, *second);
    if (!DecisionDiagrams::is_leaf(refs[0]) || !DecisionDiagrams::is_leaf(refs[1])) return std::nullopt;
    return number(DecisionDiagrams::number_of(refs[0]), DecisionDiagrams::number_of(refs[1]));
  };
  ValuedAutomaton result;
  DecisionDiagrams::Memo done(2);
  number(0, 0);
  for (State state = 0; state < pairs.size(); ++state) {
    if (pairs[state] == kDecided) {
      result.rows.push_back(DecisionDiagrams::leaf(state));
      result.accepting.push_back(is_union);
      continue;
    }
    const auto in_a = static_cast<State>(pairs[state] >> 32), in_b = static_cast<State>(pairs[state]);
    result.rows.push_back(diagrams.apply({a.rows[in_a], b.rows[in_b]}, done, decide));
    result.accepting.push_back(is_union ? a.accepting[in_a] || b.accepting[in_b]
                                        : a.accepting[in_a] && b.accepting[in_b]);
  }
  return result;
}

ValuedAutomaton complement(ValuedAutomaton automaton) {
  automaton.accepting.flip();
  return automaton;
}

ValuedAutomaton minimised(DecisionDiagrams& diagrams, const ValuedAutomaton& automaton) {
  std::vector<State> class_of(automaton.accepting.begin(), automaton.accepting.end());
  std::vector<Ref> rows(automaton.states());
  for (std::size_t classes = 0;;) {
    DecisionDiagrams::Memo done(1);
    std::map<std::pair<State, Ref>, State> numbers;
    std::vector<State> finer;
    for (State state = 0; state < automaton.states(); ++state) {
      rows[state] = diagrams.with_leaves(automaton.rows[state], done, [&](State target) { return class_of[target]; });
      finer.push_back(
          numbers.try_emplace({class_of[state], rows[state]}, static_cast<State>(numbers.size())).first->second);
    }
    const bool is_settled = numbers.size() == classes;
    classes = numbers.size();
    if (is_settled) break;
    class_of = std::move(finer);
  }
  ValuedAutomaton result;
  for (State state = 0; state < automaton.states(); ++state)
    if (class_of[state] == result.states()) {
      result.rows.push_back(rows[state]);
      result.accepting.push_back(automaton.accepting[state]);
    }
  return result;
}

std::optional<std::string> ValuedGraph::valuation(State from, State to) const {
  std::unordered_set<Ref> entered;  // a node that did not lead there the first time never does
  std::set<std::string> holding;
  const auto walk = [&](const auto& self, Ref ref) -> bool {
    if (DecisionDiagrams::is_leaf(ref)) return ref == DecisionDiagrams::leaf(to);
    if (!entered.insert(ref).second) return false;
    if (self(self, diagrams->low(ref))) return true;
    const auto added = holding.insert(written_proposition(propositions[diagrams->variable_of(ref)])).first;
    if (self(self, diagrams->high(ref))) return true;
    holding.erase(added);
    return false;
  };
  if (!walk(walk, automaton.rows[from])) return std::nullopt;
  return fmt::format("{{{}}}", fmt::join(holding, ","));
}

ValuedGraph graph_of(std::shared_ptr<const DecisionDiagrams> diagrams, ValuedAutomaton automaton,
                     std::vector<std::string> propositions) {
  std::vector<State> entered(diagrams->nodes(), automaton.states()), reached(automaton.states(), automaton.states());
  std::vector<std::vector<State>> targets(automaton.states());
  std::vector<Ref> stack;
  std::size_t most = 0;
  for (State state = 0; state < automaton.states(); ++state) {
    stack.assign(1, automaton.rows[state]);
    while (!stack.empty()) {
      const Ref ref = stack.back();
      stack.pop_back();
      const bool is_leaf = DecisionDiagrams::is_leaf(ref);
      State& last = is_leaf ? reached[DecisionDiagrams::number_of(ref)] : entered[ref];
      if (last == state) continue;
      last = state;
      if (is_leaf)
        targets[state].push_back(DecisionDiagrams::number_of(ref));
      else
        stack.insert(stack.end(), {diagrams->low(ref), diagrams->high(ref)});
    }
    most = std::max(most, targets[state].size());
  }
  if (most * targets.size() > kMaxEntries)
    throw LimitError(
        fmt::format("the formula's automaton has {} states, of which some lead to {} others; its graph has "
                    "room for 2^26 entries",
                    targets.size(), most));
  std::vector<State> table;
  for (const std::vector<State>& row : targets) {
    table.insert(table.end(), row.begin(), row.end());
    table.insert(table.end(), most - row.size(), row.back());
  }
  std::vector<std::string> letters;
  for (std::size_t i = 0; i < most; ++i) letters.push_back(fmt::format("letter {}", i));
  Dfa graph = Dfa::acceptor(Alphabet::from_names(letters), std::move(table), 0, automaton.accepting);
  return {std::move(graph), std::move(diagrams), std::move(automaton), std::move(propositions)};
}

std::optional<Dfa> with_letters(const std::shared_ptr<DecisionDiagrams>& diagrams, const ValuedAutomaton& automaton,
                                const std::vector<std::string>& propositions, std::size_t most) {
  const std::vector<Ref> rows = distinct_rows(automaton);
  constexpr std::ptrdiff_t kSome = 32;  // often tell more classes apart already
  if (most != SIZE_MAX && std::ssize(rows) > kSome) {
    Columns some(*diagrams, most);
    some.split({rows.begin(), rows.begin() + kSome});
    if (some.columns().size() > most) return std::nullopt;
  }
  Columns classes(*diagrams, most);
  const Ref letters = classes.split(rows);
  if (classes.columns().size() > most) return std::nullopt;
  std::vector<std::string> falling = propositions;
  std::ranges::sort(falling, std::greater<>());
  const ValuationClasses named =
      ValuationClasses{diagrams, letters, propositions}.over(ValuationClasses::empty_diagrams(), falling);
  const std::vector<Letter> order = named.in_order();
  const std::vector<std::string> names = named.names(order.size());
  std::vector<std::string> symbols;
  for (const Letter letter : order) symbols.push_back(names[letter]);
  std::vector<State> table;
  for (const Ref row : automaton.rows) {
    const auto place = static_cast<std::size_t>(std::ranges::lower_bound(rows, row) - rows.begin());
    for (const Letter letter : order) table.push_back(DecisionDiagrams::number_of((*classes.columns()[letter])[place]));
  }
  return canonical(Dfa::acceptor(Alphabet::from_names(symbols), std::move(table), 0, automaton.accepting));
}

}  // namespace krohn
