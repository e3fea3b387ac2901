#include "krohn/automata/classes/reduced_automaton.h"

#include <map>

namespace krohn {
namespace {

Dfa restricted_to(const Dfa& dfa, const std::vector<Letter>& letters) {
  std::vector<Symbol> symbols;
  for (const Letter letter : letters) symbols.push_back(dfa.alphabet()[letter]);
  std::vector<State> table;
  for (State state = 0; state < dfa.states(); ++state)
    for (const Letter letter : letters) table.push_back(dfa.next(state, letter));
  std::vector<bool> accepting;
  for (State state = 0; state < dfa.states(); ++state) accepting.push_back(dfa.accepts(state));
  return Dfa::acceptor(Alphabet::from_symbols(std::move(symbols)), std::move(table), dfa.initial(), accepting);
}

}  // namespace

ReducedAutomaton reduce(const Dfa& dfa) {
  std::map<std::vector<State>, std::size_t> number;
  std::vector<Letter> kept;
  std::vector<std::vector<Letter>> alike;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    std::vector<State> column;
    for (State state = 0; state < dfa.states(); ++state) column.push_back(dfa.next(state, letter));
    const auto [found, fresh] = number.emplace(std::move(column), kept.size());
    if (fresh) {
      kept.push_back(letter);
      alike.emplace_back();
    }
    alike[found->second].push_back(letter);
  }
  return {restricted_to(dfa, kept), std::move(alike)};
}

ReducedAutomaton on_tier(const ReducedAutomaton& reduced) {
  std::vector<Letter> moving;
  std::vector<std::vector<Letter>> alike;
  for (Letter letter = 0; letter < reduced.dfa.letters(); ++letter) {
    if (reduced.dfa.letter_map(letter).is_identity()) continue;
    moving.push_back(letter);
    alike.push_back(reduced.alike[letter]);
  }
  return {restricted_to(reduced.dfa, moving), std::move(alike)};
}

}  // namespace krohn
