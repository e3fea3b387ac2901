#include <fmt/format.h>

#include "krohn/automata/operations/emptiness.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/nfa_parts.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/error.h"

namespace krohn {
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
