#include "krohn/simulate/run/letter_reader.h"

#include <algorithm>

namespace krohn {

Word random_tracked_word(const TrackedAutomaton& tracked, std::uint64_t length, Random& random) {
  constexpr int kTries = 256;
  const Dfa& automaton = tracked.automaton;
  Word word;
  State state = automaton.initial();
  while (automaton.letters() > 0 && word.size() < length) {
    Letter letter = 0;
    int tries = 0;
    do letter = static_cast<Letter>(random.below(automaton.letters()));
    while (tracked.wanted[automaton.next(state, letter)] == TrackedAutomaton::kNoSuchWord && ++tries < kTries);
    if (tries == kTries) break;
    state = automaton.next(state, letter);
    word.push_back(letter);
  }
  return word;
}

WordsOfMoves words_of_moves(const Dfa& automaton) {
  constexpr std::uint64_t kLeastWords = 1000, kMaxWords = 20'000, kVisitsOfMove = 30;
  WordsOfMoves result;
  const std::uint64_t moves = std::uint64_t{automaton.states()} * automaton.letters();
  result.words = std::clamp(kVisitsOfMove * moves / result.length, kLeastWords, kMaxWords);
  return result;
}

}  // namespace krohn
