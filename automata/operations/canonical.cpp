#include <limits>

#include "krohn/automata/dfa/breadth_first.h"
#include "krohn/automata/operations/minimise.h"

namespace krohn {

BreadthFirst breadth_first(const Dfa& dfa) {
  constexpr State kUnseen = std::numeric_limits<State>::max();
  const std::size_t letters = dfa.letters();
  std::vector<State> number(dfa.states(), kUnseen);
  BreadthFirst result;
  result.order.reserve(dfa.states());
  result.outputs.reserve(dfa.states());
  result.table.reserve(dfa.table().size());
  number[dfa.initial()] = 0;
  result.order.push_back(dfa.initial());
  for (std::size_t i = 0; i < result.order.size(); ++i) {
    result.outputs.push_back(dfa.output(result.order[i]));
    result.table.resize(result.table.size() + letters);
    State* const row = result.table.data() + i * letters;
    std::size_t letter = 0;
    for (const State target : dfa.row(result.order[i])) {
      if (number[target] == kUnseen) {
        number[target] = static_cast<State>(result.order.size());
        result.order.push_back(target);
      }
      row[letter++] = number[target];
    }
  }
  return result;
}

std::vector<std::string> names_in_order(const Dfa& dfa, const std::vector<State>& order) {
  std::vector<std::string> names;
  if (dfa.state_names().empty()) return names;
  names.reserve(order.size());
  for (const State state : order) names.push_back(dfa.state_names()[state]);
  return names;
}

Dfa canonical(const Dfa& dfa) {
  BreadthFirst reachable = breadth_first(dfa);
  reachable.table.shrink_to_fit();
  reachable.outputs.shrink_to_fit();
  return Dfa::moore(dfa.alphabet(), std::move(reachable.table), 0, std::move(reachable.outputs),
                    {dfa.output_names().begin(), dfa.output_names().end()})
      .with_state_names(names_in_order(dfa, reachable.order));
}

}  // namespace krohn
