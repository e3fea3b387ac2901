#include "krohn/constructions/checkpoints/state_walk.h"

#include <optional>

namespace krohn {

std::vector<Letter> state_walk(const Dfa& automaton) {
  const Letter letters = automaton.letters();
  std::vector<Letter> walk(automaton.states(), 0);
  std::vector<bool> is_met(automaton.states(), false), has_letter(automaton.states(), false);
  const auto ways_on = [&](State state) {
    Letter ways = 0;
    for (Letter letter = 0; letter < letters; ++letter) ways += is_met[automaton.next(state, letter)] ? 0u : 1u;
    return ways;
  };
  // From `state` on until no new state follows; there any letter that leads elsewhere has to do.
  const auto go_from = [&](State state) {
    while (!has_letter[state]) {
      has_letter[state] = is_met[state] = true;
      std::optional<Letter> best, moving;
      for (Letter letter = 0; letter < letters; ++letter) {
        const State next = automaton.next(state, letter);
        if (next != state && !moving) moving = letter;
        if (is_met[next]) continue;
        if (!best || ways_on(next) < ways_on(automaton.next(state, *best))) best = letter;
      }
      walk[state] = best ? *best : moving.value_or(0);
      state = automaton.next(state, walk[state]);
    }
  };
  if (letters == 0) return walk;
  go_from(automaton.initial());
  for (State state = 0; state < automaton.states(); ++state) go_from(state);
  return walk;
}

}  // namespace krohn
