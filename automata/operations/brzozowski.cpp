#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/messages.h"

namespace krohn {
namespace {

using Subset = std::vector<State>;  ///< sorted

/// An acceptor read backwards: predecessors per letter. Its initial states are the accepting ones, and conversely.
struct Reverse {
  std::vector<std::vector<Subset>> sources;  ///< letter, state ↦ sorted sources
  Subset initial;
  State accepting = 0;
};

Reverse reverse_of(const Dfa& dfa) {
  Reverse reverse;
  reverse.sources.assign(dfa.letters(), std::vector<Subset>(dfa.states()));
  for (State state = 0; state < dfa.states(); ++state) {
    if (dfa.accepts(state)) reverse.initial.push_back(state);
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      reverse.sources[letter][dfa.next(state, letter)].push_back(state);
  }
  reverse.accepting = dfa.initial();
  return reverse;
}

Subset step(const std::vector<Subset>& sources, const Subset& subset) {
  std::vector<State> result;
  for (const State state : subset) result.insert(result.end(), sources[state].begin(), sources[state].end());
  std::sort(result.begin(), result.end());  // a letter has one target, so the stretches are disjoint
  return result;
}

/// The deterministic automaton of the reversed language, of reachable subsets only: minimal when all states of `dfa`
/// are reachable (Brzozowski 1962).
Dfa determinised_reverse(const Dfa& dfa, std::uint64_t max_states) {
  const Reverse reverse = reverse_of(dfa);
  std::map<Subset, State> numbers{{reverse.initial, 0}};
  std::vector<Subset> subsets{reverse.initial};
  std::vector<State> table;
  std::vector<bool> accepting;
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    accepting.push_back(std::binary_search(subsets[i].begin(), subsets[i].end(), reverse.accepting));
    for (const std::vector<Subset>& sources : reverse.sources) {
      const auto [place, fresh] = numbers.emplace(step(sources, subsets[i]), static_cast<State>(subsets.size()));
      if (fresh) subsets.push_back(place->first);
      if (subsets.size() > max_states)
        throw LimitError(fmt::format("Brzozowski's minimiser passed {} of {}; raise --max-states",
                                     counted(max_states, "subset"), counted(dfa.states(), "state")));
      table.push_back(place->second);
    }
  }
  return Dfa::acceptor(dfa.alphabet(), std::move(table), 0, accepting);
}

}  // namespace

Dfa minimise_brzozowski(const Dfa& dfa, std::uint64_t max_states) {
  if (!dfa.is_acceptor())
    throw InputError("Brzozowski's minimiser takes acceptors; this automaton has other outputs than reject and accept");
  return canonical(determinised_reverse(determinised_reverse(dfa, max_states), max_states));
}

}  // namespace krohn
