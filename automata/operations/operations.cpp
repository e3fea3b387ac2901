#include "krohn/automata/operations/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/base/union_find.h"

namespace krohn {

const Alphabet& alphabet_of(const Automaton& automaton) {
  return std::visit([](const auto& a) -> const Alphabet& { return a.alphabet(); }, automaton);
}

Alphabet common_alphabet(const Automaton& a, const Automaton& b) {
  return refine(alphabet_of(a), alphabet_of(b)).merged;
}

Nfa to_nfa(const Automaton& automaton, const char* operation) {
  constexpr std::size_t kMaxArcs = std::size_t{1} << 27;
  if (const auto* nfa = std::get_if<Nfa>(&automaton)) return *nfa;
  const Dfa& dfa = std::get<Dfa>(automaton);
  require_acceptor(dfa, operation);
  if (dfa.table().size() > kMaxArcs)
    throw LimitError(fmt::format("{}: {} of {} letters are more than 2^27 arcs; minimise it first", operation,
                                 counted(dfa.states(), "state"), dfa.letters()));
  return to_nfa(dfa);
}

Dfa to_dfa(const Automaton& automaton, std::uint64_t max_states) {
  if (const auto* dfa = std::get_if<Dfa>(&automaton)) return *dfa;
  return determinise(std::get<Nfa>(automaton), {max_states});
}

Automaton settled(Nfa nfa) {
  const std::uint64_t enough = std::max<std::uint64_t>(4096, 4 * std::uint64_t{nfa.states()});
  try {
    return minimise(determinise(nfa, {enough}));
  } catch (const LimitError&) {
    return nfa;
  }
}

void require_acceptor(const Dfa& dfa, const char* operation) {
  if (!dfa.is_acceptor())
    throw InputError(
        fmt::format("{} takes acceptors; this automaton has {}, and they are not \"reject\" and \"accept\"", operation,
                    counted(dfa.output_names().size(), "output")));
}

PairSearch::Index PairSearch::visit(StatePair pair) {
  const RecordSet::Insertion insertion = pairs_.insert(std::array<std::uint32_t, 2>{pair.a, pair.b});
  if (!insertion.fresh) return insertion.index;
  if (pairs_.size() % 4096 == 0) TimeLimit::check();
  if (pairs_.size() > max_pairs_)
    throw LimitError(fmt::format("{} passed {} of states; minimise the operands or raise --max-states", operation_,
                                 counted(max_pairs_, "pair")));
  return insertion.index;
}

std::vector<bool> coaccessible_states(const Dfa& dfa) {
  require_acceptor(dfa, "coaccessibility");
  // Arcs backwards, letters forgotten: the sources of q are sources[first[q]] … sources[first[q + 1] − 1].
  std::vector<std::size_t> first(std::size_t{dfa.states()} + 1, 0);
  for (const State target : dfa.table()) ++first[target];
  std::size_t end = 0;
  for (std::size_t& offset : first) offset = end += offset;
  std::vector<State> sources(dfa.table().size());
  for (State state = 0; state < dfa.states(); ++state)
    for (const State target : dfa.row(state)) sources[--first[target]] = state;

  std::vector<bool> coaccessible(dfa.states(), false);
  std::vector<State> queue;
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.accepts(state)) {
      coaccessible[state] = true;
      queue.push_back(state);
    }
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::size_t j = first[queue[i]]; j < first[queue[i] + 1]; ++j)
      if (!coaccessible[sources[j]]) {
        coaccessible[sources[j]] = true;
        queue.push_back(sources[j]);
      }
  return coaccessible;
}

std::optional<Word> shortest_accepted_word(const Dfa& dfa) {
  require_acceptor(dfa, "the shortest accepted word");
  const ShortestWords words(dfa);
  for (const State state : words.states())
    if (dfa.accepts(state)) return words.to(state);
  return std::nullopt;
}

bool is_empty(const Dfa& dfa) { return !shortest_accepted_word(dfa); }

bool is_universal(const Dfa& dfa) {
  require_acceptor(dfa, "universality");
  const std::vector<bool> reachable = reachable_states(dfa);
  for (State state = 0; state < dfa.states(); ++state)
    if (reachable[state] && !dfa.accepts(state)) return false;
  return true;
}

bool is_finite(const Dfa& dfa) {
  const std::vector<bool> coaccessible = coaccessible_states(dfa);
  const Components components = strongly_connected_components(dfa);
  const std::vector<bool> reachable = reachable_states(dfa);
  for (State state = 0; state < dfa.states(); ++state) {
    if (!reachable[state] || !coaccessible[state]) continue;
    for (const State target : dfa.row(state))
      if (components.of[target] == components.of[state]) return false;
  }
  return true;
}

namespace {

/// Both automata over the common alphabet, outputs as numbers that are equal exactly when the names are.
class Comparison {
 public:
  Comparison(const Dfa& a, const Dfa& b) : Comparison(a, b, refine(a.alphabet(), b.alphabet())) {}

  std::size_t states_of_a() const { return kinds_a_.size(); }
  std::size_t states_of_b() const { return kinds_b_.size(); }
  Letter letters() const { return letters_; }
  bool differ(StatePair pair) const { return kinds_a_[pair.a] != kinds_b_[pair.b]; }
  StatePair start() const { return {a_.initial(), b_.initial()}; }
  StatePair next(StatePair pair, Letter letter) const { return {a_.next(pair.a, letter), b_.next(pair.b, letter)}; }

 private:
  Comparison(const Dfa& a, const Dfa& b, AlphabetRefinement common)
      : a_(a, std::move(common.in_a)), b_(b, std::move(common.in_b)), letters_(common.merged.size()) {
    const bool same_letters = a.letters() == letters_ && b.letters() == letters_;  // perhaps in another order
    if (!same_letters && !(a.is_acceptor() && b.is_acceptor()))
      throw InputError(fmt::format(
          "machines with outputs are compared over the same letters, and these have {} and {}, {} together; a group's "
          "letters are chosen by --generators",
          a.letters(), b.letters(), letters_));
    std::map<std::string, std::size_t> kinds;
    kinds_a_ = kinds_of(a, kinds);
    kinds_b_ = kinds_of(b, kinds);
  }

  /// By state, the sink last.
  static std::vector<std::size_t> kinds_of(const Dfa& dfa, std::map<std::string, std::size_t>& kinds) {
    std::vector<std::size_t> of_output, of_state;
    for (const std::string& name : dfa.output_names())
      of_output.push_back(kinds.emplace(name, kinds.size()).first->second);
    for (const Output output : dfa.outputs()) of_state.push_back(of_output[output]);
    of_state.push_back(of_output[0]);  // reject, where the sink is reachable at all
    return of_state;
  }

  ReadOver a_, b_;
  Letter letters_;
  std::vector<std::size_t> kinds_a_, kinds_b_;
};

}  // namespace

std::optional<Word> distinguishing_word(const Dfa& a, const Dfa& b) {
  const Comparison comparison(a, b);
  if (comparison.differ(comparison.start())) return Word{};
  struct Entry {
    StatePair pair;
    std::size_t parent;
    Letter letter;
  };
  const std::size_t offset = comparison.states_of_a();
  UnionFind<std::size_t> assumed_equal(offset + comparison.states_of_b());
  std::vector<Entry> queue{{comparison.start(), 0, 0}};
  assumed_equal.unite(comparison.start().a, offset + comparison.start().b);
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (Letter letter = 0; letter < comparison.letters(); ++letter) {
      const StatePair pair = comparison.next(queue[i].pair, letter);
      if (comparison.differ(pair)) {
        Word word{letter};
        for (std::size_t j = i; j != 0; j = queue[j].parent) word.push_back(queue[j].letter);
        std::reverse(word.begin(), word.end());
        return word;
      }
      if (assumed_equal.unite(pair.a, offset + pair.b)) queue.push_back({pair, i, letter});
    }
  return std::nullopt;
}

bool equivalent(const Dfa& a, const Dfa& b) { return !distinguishing_word(a, b); }

namespace {

/// A Boolean function of two: value[x][y].
struct BooleanFunction {
  const char* name;
  std::array<std::array<bool, 2>, 2> value;
};

/// One operand of a product, with the states from which it can only reject folded into its sink where that decides.
struct Factor {
  ReadOver automaton;
  std::vector<bool> useful;  ///< coaccessible, by state; the sink last

  Factor(const Dfa& dfa, std::vector<std::optional<Letter>> letters)
      : automaton(dfa, std::move(letters)), useful(coaccessible_states(dfa)) {
    useful.push_back(false);
  }
};

class Product {
 public:
  Product(const Dfa& a, const Dfa& b, const BooleanFunction& function, AlphabetRefinement common)
      : function_(function),
        a_(a, std::move(common.in_a)),
        b_(b, std::move(common.in_b)),
        alphabet_(std::move(common.merged)),
        a_decides_(!function.value[0][0] && !function.value[0][1]),
        b_decides_(!function.value[0][0] && !function.value[1][0]) {}

  Dfa reachable(std::uint64_t max_states) const {
    PairSearch search(function_.name, max_states);
    search.visit(fold({a_.automaton.initial(), b_.automaton.initial()}));
    std::vector<State> table;
    std::vector<bool> accepting;
    for (PairSearch::Index i = 0; i < search.size(); ++i) {
      const StatePair pair = search[i];
      accepting.push_back(function_.value[a_.automaton.accepts(pair.a)][b_.automaton.accepts(pair.b)]);
      for (Letter letter = 0; letter < alphabet_.size(); ++letter)
        table.push_back(search.visit(fold({a_.automaton.next(pair.a, letter), b_.automaton.next(pair.b, letter)})));
    }
    return Dfa::acceptor(alphabet_, std::move(table), 0, accepting);
  }

 private:
  /// All pairs from which the result can only reject because one side does are one pair.
  StatePair fold(StatePair pair) const {
    if ((a_decides_ && !a_.useful[pair.a]) || (b_decides_ && !b_.useful[pair.b]))
      return {a_.automaton.sink(), b_.automaton.sink()};
    return pair;
  }

  const BooleanFunction& function_;
  Factor a_, b_;
  Alphabet alphabet_;
  bool a_decides_, b_decides_;  ///< rejection by that side alone makes the result reject
};

Dfa combine(const Dfa& a, const Dfa& b, const BooleanFunction& function, std::uint64_t max_states) {
  require_acceptor(a, function.name);
  require_acceptor(b, function.name);
  return minimise(Product(a, b, function, refine(a.alphabet(), b.alphabet())).reachable(max_states));
}

}  // namespace

Dfa union_of(const Dfa& a, const Dfa& b, std::uint64_t max_states) {
  return combine(a, b, {"union", {{{false, true}, {true, true}}}}, max_states);
}

Dfa intersection_of(const Dfa& a, const Dfa& b, std::uint64_t max_states) {
  return combine(a, b, {"intersection", {{{false, false}, {false, true}}}}, max_states);
}

Dfa difference_of(const Dfa& a, const Dfa& b, std::uint64_t max_states) {
  return combine(a, b, {"difference", {{{false, false}, {true, false}}}}, max_states);
}

Dfa symmetric_difference_of(const Dfa& a, const Dfa& b, std::uint64_t max_states) {
  return combine(a, b, {"symmetric difference", {{{false, true}, {true, false}}}}, max_states);
}

Dfa with_other_answer(const Dfa& dfa) {
  std::vector<bool> accepting;
  for (State state = 0; state < dfa.states(); ++state) accepting.push_back(!dfa.accepts(state));
  return Dfa::acceptor(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, dfa.initial(), accepting);
}

Dfa complement(const Dfa& dfa) {
  require_acceptor(dfa, "complement");
  return minimise(with_other_answer(dfa));
}

Dfa extend_alphabet(const Dfa& dfa, const Alphabet& alphabet) {
  require_acceptor(dfa, "extending the alphabet");
  const AlphabetRefinement common = refine(dfa.alphabet(), alphabet);
  const ReadOver automaton(dfa, common.in_a);
  const bool lacks_a_letter = std::ranges::count(common.in_a, std::optional<Letter>()) > 0;
  std::vector<State> table;
  std::vector<bool> accepting;
  for (State state = 0; state < dfa.states() + State{lacks_a_letter}; ++state) {
    accepting.push_back(automaton.accepts(state));
    for (Letter letter = 0; letter < common.merged.size(); ++letter) table.push_back(automaton.next(state, letter));
  }
  return minimise(Dfa::acceptor(common.merged, std::move(table), dfa.initial(), accepting));
}

}  // namespace krohn
