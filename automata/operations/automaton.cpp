#include "krohn/automata/operations/automaton.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/product.h"
#include "krohn/groups/base/error.h"

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

}  // namespace krohn
