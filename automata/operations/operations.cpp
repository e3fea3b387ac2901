#include "krohn/automata/operations/operations.h"

#include <fmt/format.h>

#include <array>

#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/groups/base/error.h"

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
    PairSearch search(fold({a_.automaton.initial(), b_.automaton.initial()}), function_.name, max_states);
    std::vector<State> table;
    std::vector<bool> accepting;
    for (PairSearch::Index i = 0; i < search.size(); ++i) {
      const StatePair pair = search[i];
      accepting.push_back(function_.value[a_.automaton.accepts(pair.a)][b_.automaton.accepts(pair.b)]);
      for (Letter letter = 0; letter < alphabet_.size(); ++letter)
        table.push_back(
            search.visit(fold({a_.automaton.next(pair.a, letter), b_.automaton.next(pair.b, letter)}), i, letter));
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

namespace {

Nfa plus_nfa(const Dfa& dfa, const char* operation) {
  require_acceptor(dfa, operation);
  Nfa nfa(dfa.alphabet());
  add_copy(nfa, dfa, refine(dfa.alphabet(), dfa.alphabet()).in_a);
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.accepts(state)) nfa.add_epsilon(state, dfa.initial());
  nfa.add_initial(dfa.initial());
  return nfa;
}

}  // namespace

Dfa concatenation(const Dfa& a, const Dfa& b, std::uint64_t max_states) {
  require_acceptor(a, "concatenation");
  require_acceptor(b, "concatenation");
  const AlphabetRefinement common = refine(a.alphabet(), b.alphabet());
  Nfa nfa(common.merged);
  const State first_a = add_copy(nfa, a, common.in_a), first_b = add_copy(nfa, b, common.in_b);
  for (State state = 0; state < a.states(); ++state)
    if (a.accepts(state)) {
      nfa.set_accepting(first_a + state, false);
      nfa.add_epsilon(first_a + state, first_b + b.initial());
    }
  nfa.add_initial(first_a + a.initial());
  return minimal_of(nfa, max_states);
}

Dfa star(const Dfa& dfa, std::uint64_t max_states) {
  Nfa nfa = plus_nfa(dfa, "star");
  nfa.add_initial(nfa.add_state(true));  // the empty word, without accepting where `dfa` comes back to its start
  return minimal_of(nfa, max_states);
}

Dfa plus(const Dfa& dfa, std::uint64_t max_states) { return minimal_of(plus_nfa(dfa, "plus"), max_states); }

Nfa reverse_nfa(const Dfa& dfa) {
  require_acceptor(dfa, "reversal");
  Nfa nfa(dfa.alphabet());
  for (State state = 0; state < dfa.states(); ++state) nfa.add_state(state == dfa.initial());
  const State start = nfa.add_state();
  nfa.add_initial(start);
  for (State state = 0; state < dfa.states(); ++state) {
    for (Letter letter = 0; letter < dfa.letters(); ++letter) nfa.add_arc(dfa.next(state, letter), letter, state);
    if (dfa.accepts(state)) nfa.add_epsilon(start, state);
  }
  return nfa;
}

Dfa reverse(const Dfa& dfa, std::uint64_t max_states) { return minimal_of(reverse_nfa(canonical(dfa)), max_states); }

namespace {

void require_letters(const Dfa& dfa, std::span<const Letter> word) {
  for (std::size_t i = 0; i < word.size(); ++i)
    if (word[i] >= dfa.letters())
      throw InputError(fmt::format("position {} of the word is letter {}, but the alphabet is {}", i + 1, word[i],
                                   to_string(dfa.alphabet())));
}

/// The same transitions with another start or other accepting states, minimised.
Dfa with_ends(const Dfa& dfa, State initial, const std::vector<bool>& accepting) {
  return minimise(Dfa::acceptor(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, initial, accepting));
}

/// The automaton over the refined alphabet, state for state; the sink comes last and is there only if the automaton
/// lacks a letter.
Dfa read_over(const Dfa& dfa, const Alphabet& alphabet, const std::vector<std::optional<Letter>>& letters) {
  const ReadOver automaton(dfa, letters);
  bool lacks_a_letter = false;
  for (const std::optional<Letter>& letter : letters) lacks_a_letter |= !letter;
  std::vector<State> table;
  std::vector<bool> accepting;
  for (State state = 0; state < dfa.states() + State{lacks_a_letter}; ++state) {
    accepting.push_back(automaton.accepts(state));
    for (Letter letter = 0; letter < alphabet.size(); ++letter) table.push_back(automaton.next(state, letter));
  }
  return Dfa::acceptor(alphabet, std::move(table), dfa.initial(), accepting);
}

/// Per state p of `language`: some word of `suffixes` leads from p to acceptance. Both are over one alphabet.
std::vector<bool> accepts_after(const Dfa& language, const Dfa& suffixes, std::uint64_t max_states) {
  PairSearch search({0, suffixes.initial()}, "the right quotient", max_states);
  for (State state = 1; state < language.states(); ++state) search.visit({state, suffixes.initial()}, 0, 0);
  std::vector<State> table;
  std::vector<bool> accepting;
  for (PairSearch::Index i = 0; i < search.size(); ++i) {
    const StatePair pair = search[i];
    accepting.push_back(language.accepts(pair.a) && suffixes.accepts(pair.b));
    for (Letter letter = 0; letter < language.letters(); ++letter)
      table.push_back(search.visit({language.next(pair.a, letter), suffixes.next(pair.b, letter)}, i, letter));
  }
  std::vector<bool> result = coaccessible_states(Dfa::acceptor(language.alphabet(), std::move(table), 0, accepting));
  result.resize(language.states());  // pair number p is (p, initial)
  return result;
}

}  // namespace

Dfa extend_alphabet(const Dfa& dfa, const Alphabet& alphabet) {
  require_acceptor(dfa, "extending the alphabet");
  const AlphabetRefinement common = refine(dfa.alphabet(), alphabet);
  return minimise(read_over(dfa, common.merged, common.in_a));
}

Dfa left_quotient(const Dfa& dfa, std::span<const Letter> prefix) {
  require_acceptor(dfa, "the left quotient");
  require_letters(dfa, prefix);
  return with_ends(dfa, dfa.run(prefix), std::vector<bool>(dfa.outputs().begin(), dfa.outputs().end()));
}

Dfa right_quotient(const Dfa& dfa, std::span<const Letter> suffix) {
  require_acceptor(dfa, "the right quotient");
  require_letters(dfa, suffix);
  std::vector<bool> accepting(dfa.states());
  for (State state = 0; state < dfa.states(); ++state) accepting[state] = dfa.accepts(dfa.run(suffix, state));
  return with_ends(dfa, dfa.initial(), accepting);
}

Dfa left_quotient(const Dfa& dfa, const Dfa& prefixes, std::uint64_t max_states) {
  require_acceptor(dfa, "the left quotient");
  require_acceptor(prefixes, "the left quotient");
  const AlphabetRefinement common = refine(dfa.alphabet(), prefixes.alphabet());
  const ReadOver language(dfa, common.in_a), prefix(prefixes, common.in_b);
  Nfa nfa(common.merged);
  add_copy(nfa, dfa, common.in_a);
  const State start = nfa.add_state();
  nfa.add_initial(start);
  PairSearch search({language.initial(), prefix.initial()}, "the left quotient", max_states);
  for (PairSearch::Index i = 0; i < search.size(); ++i) {
    const StatePair pair = search[i];
    if (pair.a == language.sink()) continue;
    if (prefix.accepts(pair.b)) nfa.add_epsilon(start, pair.a);
    for (Letter letter = 0; letter < common.merged.size(); ++letter)
      search.visit({language.next(pair.a, letter), prefix.next(pair.b, letter)}, i, letter);
  }
  return minimal_of(nfa, max_states);
}

Dfa right_quotient(const Dfa& dfa, const Dfa& suffixes, std::uint64_t max_states) {
  require_acceptor(dfa, "the right quotient");
  require_acceptor(suffixes, "the right quotient");
  const AlphabetRefinement common = refine(dfa.alphabet(), suffixes.alphabet());
  const Dfa language = read_over(dfa, common.merged, common.in_a);
  const Dfa suffix = read_over(suffixes, common.merged, common.in_b);
  return with_ends(language, language.initial(), accepts_after(language, suffix, max_states));
}

}  // namespace krohn
