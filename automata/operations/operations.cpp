#include "krohn/automata/operations/operations.h"

#include <algorithm>
#include <array>

#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/operations/minimise.h"

namespace krohn {
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
