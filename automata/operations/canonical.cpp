#include <limits>

#include "krohn/automata/dfa/breadth_first.h"
#include "krohn/automata/operations/minimise.h"

namespace krohn {

namespace {

/// The names that belong to `order`, or none when the automaton has none.
std::vector<std::string> names_in_order(const Dfa& dfa, const std::vector<State>& order) {
  std::vector<std::string> names;
  if (dfa.state_names().empty()) return names;
  names.reserve(order.size());
  for (const State state : order) names.push_back(dfa.state_names()[state]);
  return names;
}

}  // namespace

BreadthFirst breadth_first(const Dfa& dfa) {
  constexpr State kUnseen = std::numeric_limits<State>::max();
  const std::size_t letters = dfa.letters();
  std::vector<State> number(dfa.states(), kUnseen);
  BreadthFirst result;
  result.order.reserve(dfa.states());
  result.outputs.reserve(dfa.states());
  result.table.reserve(dfa.table().size());
  const auto reach = [&](State state) {
    if (number[state] != kUnseen) return;
    number[state] = static_cast<State>(result.order.size());
    result.order.push_back(state);
  };
  if (dfa.has_start()) reach(dfa.initial());
  for (State state = 0; !dfa.has_start() && state < dfa.states(); ++state) reach(state);
  for (std::size_t i = 0; i < result.order.size(); ++i) {
    result.outputs.push_back(dfa.output(result.order[i]));
    result.table.resize(result.table.size() + letters);
    State* const row = result.table.data() + i * letters;
    std::size_t letter = 0;
    for (const State target : dfa.row(result.order[i])) {
      reach(target);
      row[letter++] = number[target];
    }
  }
  return result;
}

Dfa canonical(const Dfa& dfa) { return with_table(dfa, breadth_first(dfa)); }

Dfa with_table(const Dfa& dfa, BreadthFirst tables) {
  tables.table.shrink_to_fit();
  tables.outputs.shrink_to_fit();
  Dfa result = Dfa::moore(dfa.alphabet(), std::move(tables.table), 0, std::move(tables.outputs),
                          {dfa.output_names().begin(), dfa.output_names().end()})
                   .with_state_names(names_in_order(dfa, tables.order));
  return dfa.has_start() ? std::move(result) : std::move(result).without_start();
}

}  // namespace krohn
