#include "krohn/simulate/run/monoid_automaton.h"

#include <utility>
#include <vector>

namespace krohn {

std::optional<MonoidGraph> monoid_graph(const Dfa& dfa, std::uint64_t max_elements) {
  constexpr std::uint64_t kLargestDegree = 65'536;
  if (max_elements < 2 || dfa.states() > kLargestDegree) return std::nullopt;
  std::vector<Transformation> generators;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) generators.push_back(dfa.letter_map(letter));
  TransformationMonoid::Options options;
  options.max_elements = max_elements;
  TransformationMonoid monoid = TransformationMonoid::enumerate(generators, dfa.states(), options);
  if (!monoid.complete()) return std::nullopt;
  std::vector<State> table;
  for (State element = 0; element < monoid.size(); ++element)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) table.push_back(monoid.right(element, letter));
  Dfa graph = Dfa::acceptor(dfa.alphabet(), std::move(table), 0, std::vector<bool>(monoid.size(), true));
  return MonoidGraph{std::move(monoid), std::move(graph)};
}

}  // namespace krohn
