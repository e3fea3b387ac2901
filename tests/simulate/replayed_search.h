// tests/simulate/replayed_search.h — the closed reachable set by the plainest means: every word is read from its start
// by the reference evaluator, and pairs are kept in a map.
#pragma once

#include <deque>
#include <map>

#include "krohn/simulate/evaluate/evaluate.h"
#include "tests/simulate/reference_evaluator.h"

namespace krohn {

struct ReplayedSearch {
  bool ended = false;  ///< no pair is left to expand
  std::uint64_t pairs = 0;
  std::optional<Word> failing_word;  ///< a shortest one
};

/// Breadth-first over pairs of an automaton state and all numbers, for networks whose numbers determine their labels.
inline ReplayedSearch replayed_search(const Network& network, ArithmeticName arithmetic, Form form,
                                      std::uint64_t max_pairs) {
  const auto evaluator = reference_evaluator(network, arithmetic, form);
  using Pair = std::pair<State, std::vector<double>>;
  std::map<Pair, Word> seen{{{network.automaton.initial(), evaluator->numbers()}, {}}};
  std::deque<Word> waiting{Word{}};
  if (evaluator->current() != network.automaton.initial()) return {false, 0, Word{}};
  for (; !waiting.empty() && seen.size() <= max_pairs; waiting.pop_front())
    for (Letter letter = 0; letter < network.automaton.letters(); ++letter) {
      Word word = waiting.front();
      word.push_back(letter);
      evaluator->reset();
      std::optional<State> answer;
      for (const Letter read : word) answer = evaluator->step(read);
      const State right = network.automaton.run(word);
      if (answer != right) return {false, seen.size(), word};
      std::vector<double> numbers = evaluator->numbers();
      for (double& number : numbers) number += 0.0;  // −0 counts as +0
      if (seen.try_emplace({right, std::move(numbers)}, word).second) waiting.push_back(word);
    }
  return {waiting.empty(), seen.size(), std::nullopt};
}

}  // namespace krohn
